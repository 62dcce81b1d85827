//! Work that takes longer than a frame: it runs in the background, says how far it is, and can be cancelled.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

/// Starts jobs. Cheap to clone.
#[derive(Clone)]
pub struct Jobs {
    running: Arc<AtomicUsize>,
    /// What to call when a job has ended; `None`: jobs run where they are started.
    wake: Option<Arc<dyn Fn() + Send + Sync>>,
}

/// A job that was started. Dropping it cancels it.
#[derive(Debug)]
pub struct Job<T> {
    result: Receiver<T>,
    progress: Arc<Progress>,
    started: Instant,
}

/// How far a job is, and whether anyone still wants its result.
#[derive(Debug, Default)]
pub struct Progress {
    done: AtomicU64,
    total: AtomicU64,
    cancelled: AtomicBool,
}

/// What asking a [`Job`] for its result gives.
#[derive(Debug)]
pub enum Poll<T> {
    /// It is still at work.
    Pending,
    /// Its result, once.
    Ready(T),
    /// It ended without a result: it was cancelled, or it panicked.
    Lost,
}

impl Jobs {
    /// Jobs run in threads of their own, and `wake` is called when one has ended.
    pub fn in_background(wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self { running: Arc::default(), wake: Some(Arc::new(wake)) }
    }

    /// Jobs are done when [`start`](Self::start) returns: for pictures and tests, where nobody waits at a window.
    pub fn immediate() -> Self {
        Self { running: Arc::default(), wake: None }
    }

    /// How many are at work.
    pub fn running(&self) -> usize {
        self.running.load(Ordering::Acquire)
    }

    /// Starts `work`. It should look at [`Progress::is_cancelled`] now and then.
    pub fn start<T: Send + 'static>(&self, name: &str, work: impl FnOnce(&Progress) -> T + Send + 'static) -> Job<T> {
        self.start_stoppable(name, |progress| Some(work(progress)))
    }

    /// Starts `work`, which gives nothing when it stops because it is cancelled: nobody asks for its result any more.
    pub fn start_stoppable<T: Send + 'static>(
        &self,
        name: &str,
        work: impl FnOnce(&Progress) -> Option<T> + Send + 'static,
    ) -> Job<T> {
        let started = Instant::now();
        let progress = Arc::new(Progress::default());
        let (sender, result) = mpsc::sync_channel(1);
        let Some(wake) = self.wake.clone() else {
            // The receiver is right here.
            work(&progress).into_iter().for_each(|value| _ = sender.send(value));
            return Job { result, progress, started };
        };
        let its_progress = Arc::clone(&progress);
        let counted = Counted::new(Arc::clone(&self.running), wake);
        let run = move || {
            // Nobody may be left to receive it.
            work(&its_progress).into_iter().for_each(|value| _ = sender.send(value));
            drop(sender);
            drop(counted);
        };
        // Where no thread can be started the job is lost, which its owner will say.
        let _started = thread::Builder::new().name(name.to_owned()).spawn(run);
        Job { result, progress, started }
    }
}

/// Quicker ones are waited for: while somebody drags, each result is shown.
const SLOW: Duration = Duration::from_millis(250);

/// Counts a running job, however it ends.
struct Counted {
    running: Arc<AtomicUsize>,
    wake: Arc<dyn Fn() + Send + Sync>,
}

impl Counted {
    fn new(running: Arc<AtomicUsize>, wake: Arc<dyn Fn() + Send + Sync>) -> Self {
        running.fetch_add(1, Ordering::AcqRel);
        Self { running, wake }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.running.fetch_sub(1, Ordering::AcqRel);
        (self.wake)();
    }
}

impl<T> Job<T> {
    /// Its result, if it has one by now.
    pub fn poll(&self) -> Poll<T> {
        match self.result.try_recv() {
            Ok(value) => Poll::Ready(value),
            Err(TryRecvError::Empty) => Poll::Pending,
            Err(TryRecvError::Disconnected) => Poll::Lost,
        }
    }

    /// Whether it takes so long that it is better given up when something else is asked for: what it finds would be old.
    pub fn is_slow(&self) -> bool {
        self.started.elapsed() > SLOW
    }

    /// How far it is.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }
}

impl<T> Drop for Job<T> {
    fn drop(&mut self) {
        self.progress.cancel();
    }
}

impl Progress {
    /// Says how much there is to do, in any unit.
    pub fn set_total(&self, total: u64) {
        self.total.store(total, Ordering::Relaxed);
    }

    /// Says how much is done, in the same unit.
    pub fn set_done(&self, done: u64) {
        self.done.store(done, Ordering::Relaxed);
    }

    /// How much is done, from 0 to 1; `None` while that is not known.
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a progress bar needs few digits")]
    pub fn fraction(&self) -> Option<f32> {
        let total = self.total.load(Ordering::Relaxed);
        (total > 0).then(|| (self.done.load(Ordering::Relaxed) as f64 / total as f64).min(1.0) as f32)
    }

    /// Says that the result is not wanted any more.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// `Some`, as long as the result is wanted: for `?` between the steps of a job.
    pub fn go_on(&self) -> Option<()> {
        (!self.is_cancelled()).then_some(())
    }

    /// Whether the result is not wanted any more.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait<T>(job: &Job<T>, woken: &Receiver<()>) -> Poll<T> {
        woken.recv().expect("a job that ends wakes");
        job.poll()
    }

    fn background() -> (Jobs, Receiver<()>) {
        let (sender, woken) = mpsc::channel();
        let wake = move || sender.send(()).expect("the test waits");
        (Jobs::in_background(wake), woken)
    }

    #[test]
    fn a_job_gives_its_result_once() {
        let (jobs, woken) = background();
        let job = jobs.start("sum", |progress| {
            progress.set_total(4);
            progress.set_done(1);
            2 + 3
        });
        assert!(matches!(wait(&job, &woken), Poll::Ready(5)));
        assert!(matches!(job.poll(), Poll::Lost));
        assert_eq!(job.progress().fraction(), Some(0.25));
        assert_eq!(jobs.running(), 0);
    }

    #[test]
    fn dropping_a_job_cancels_it() {
        let (jobs, woken) = background();
        let job = jobs.start("endless", |progress| {
            while !progress.is_cancelled() {
                thread::yield_now();
            }
        });
        assert_eq!(jobs.running(), 1);
        drop(job);
        woken.recv().expect("it ends");
        assert_eq!(jobs.running(), 0);
    }

    #[test]
    fn a_job_that_stops_has_no_result() {
        let (jobs, woken) = background();
        let job = jobs.start_stoppable("steps", |progress| {
            progress.cancel();
            progress.go_on()?;
            Some(1)
        });
        assert!(matches!(wait(&job, &woken), Poll::Lost));
        assert!(matches!(Jobs::immediate().start_stoppable("none", |_| None::<u8>).poll(), Poll::Lost));
    }

    #[test]
    fn a_panic_is_a_lost_result_and_not_the_end_of_the_window() {
        let (jobs, woken) = background();
        let job = jobs.start::<u8>("faulty", |_| panic!("as this test wants"));
        assert!(matches!(wait(&job, &woken), Poll::Lost));
        assert_eq!(jobs.running(), 0);
    }

    #[test]
    fn immediate_jobs_are_done_at_once() {
        let jobs = Jobs::immediate();
        assert!(matches!(jobs.start("sum", |_| 1 + 1).poll(), Poll::Ready(2)));
    }
}
