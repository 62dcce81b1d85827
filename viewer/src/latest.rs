//! The newest answer to a question that changes.

use std::sync::Arc;

use crate::jobs::{Job, Poll};

/// The newest result of a computation. While a newer one is made the old one stays.
#[derive(Debug)]
pub(crate) struct Latest<T> {
    newest: Option<Arc<T>>,
    job: Option<Job<T>>,
}

impl<T> Default for Latest<T> {
    fn default() -> Self {
        Self { newest: None, job: None }
    }
}

impl<T> Latest<T> {
    /// Takes what has been computed; unless that `is_wanted`, has it computed. One job at a time: during a drag each result
    /// is shown, then the newest wish is worked on.
    pub(crate) fn update(&mut self, is_wanted: impl Fn(&T) -> bool, start: impl FnOnce() -> Job<T>) {
        self.receive();
        if self.newest.as_deref().is_some_and(is_wanted) {
            self.job = None;
        } else if self.job.is_none() {
            self.job = Some(start());
            // It may be done already.
            self.receive();
        }
    }

    /// The newest result; `None` before the first one.
    pub(crate) fn newest(&self) -> Option<Arc<T>> {
        self.newest.clone()
    }

    fn receive(&mut self) {
        match self.job.as_ref().map(Job::poll) {
            Some(Poll::Ready(value)) => {
                self.newest = Some(Arc::new(value));
                self.job = None;
            }
            Some(Poll::Lost) => self.job = None,
            Some(Poll::Pending) | None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Barrier, mpsc};

    use super::*;
    use crate::jobs::Jobs;

    #[test]
    fn the_old_one_stays_until_there_is_a_newer_one() {
        let (sender, woken) = mpsc::channel();
        let jobs = Jobs::in_background(move || sender.send(()).expect("the test waits"));
        // A job does not end before the test says so.
        let gate = Arc::new(Barrier::new(2));
        let mut latest = Latest::default();
        let ask = |latest: &mut Latest<i32>, wanted: i32| {
            let its_gate = Arc::clone(&gate);
            let answer = move |_: &_| {
                its_gate.wait();
                wanted
            };
            latest.update(|it| *it == wanted, || jobs.start("answer", answer));
            latest.newest().map(|it| *it)
        };
        assert_eq!(ask(&mut latest, 1), None);
        gate.wait();
        woken.recv().expect("a job that ends wakes");
        assert_eq!(ask(&mut latest, 1), Some(1));
        assert_eq!(ask(&mut latest, 2), Some(1));
        gate.wait();
        woken.recv().expect("a job that ends wakes");
        // What is wished for meanwhile is worked on next.
        assert_eq!(ask(&mut latest, 3), Some(2));
        gate.wait();
        woken.recv().expect("a job that ends wakes");
        assert_eq!(ask(&mut latest, 3), Some(3));
    }

    #[test]
    fn what_can_be_done_at_once_is_there_at_once() {
        let mut latest = Latest::default();
        latest.update(|_| false, || Jobs::immediate().start("answer", |_| 7));
        assert_eq!(latest.newest().as_deref(), Some(&7));
    }
}
