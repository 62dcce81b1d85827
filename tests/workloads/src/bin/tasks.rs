//! Known truth of asynchronous code: an executor written by hand polls tasks that await each other. Their innermost
//! function, `parse`, takes nearly all of the CPU time; three quarters of it for `serve`, a quarter for `refresh`.
//!
//! Usage: `tasks [SECONDS OF CPU TIME, default 2]`

use std::collections::VecDeque;
use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use traceview_workloads::arg_or;
use traceview_workloads::clock::thread_cpu_ns;
use traceview_workloads::truth::Truth;
use traceview_workloads::work::{churn_for, seconds};

/// CPU time of one call of [`parse`].
const PIECE_NS: u64 = 1_000_000;

type Task = Pin<Box<dyn Future<Output = ()>>>;

/// Lets other tasks go on once.
struct Yield(bool);

impl Future for Yield {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

/// What libraries put around futures to watch them.
struct Watched<F>(Pin<Box<F>>);

impl<F: Future> Future for Watched<F> {
    type Output = F::Output;

    #[inline(never)]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        self.0.as_mut().poll(context)
    }
}

#[inline(never)]
fn parse(seed: u64) {
    churn_for(black_box(seed), PIECE_NS);
}

async fn read(pieces: u64) {
    for seed in 0..pieces {
        Yield(false).await;
        parse(seed);
    }
}

async fn serve(requests: u64) {
    for _ in 0..requests {
        Watched(Box::pin(read(3))).await;
    }
}

async fn refresh(times: u64) {
    for _ in 0..times {
        read(1).await;
    }
}

#[inline(never)]
fn run(mut tasks: VecDeque<Task>) {
    let mut context = Context::from_waker(Waker::noop());
    while let Some(mut task) = tasks.pop_front() {
        if task.as_mut().poll(&mut context).is_pending() {
            tasks.push_back(task);
        }
    }
}

fn main() {
    let rounds = seconds(arg_or(1, 2.0)) / (4 * PIECE_NS);
    let start = thread_cpu_ns();
    run(VecDeque::from([Box::pin(serve(rounds)) as Task, Box::pin(refresh(rounds)) as Task]));
    Truth::new().number("total", thread_cpu_ns() - start).print();
}
