//! Names that are looked up in rounds, while it is not known yet which ones will be wanted.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::batch::{Answers, Request};
use super::cache::NameCache;
use super::job::Job;
use super::parallel::{in_parallel, processors};
use super::resolve::Naming;
use crate::image::Image;

/// Fewest addresses for one thread at a time, where they are looked up one by one: each thread has to read the headers of
/// all units.
const MIN_SINGLY: usize = 512;

/// The names of a recording. Files that were opened in one round, and what was found, are there for the next.
#[derive(Debug, Default)]
pub struct NameBook {
    cache: Option<NameCache>,
    /// By the image's place in memory, where its job keeps it.
    jobs: FxHashMap<usize, Job>,
}

/// How to go about a round.
struct Means<'a> {
    threads: usize,
    /// Whether to give it up.
    stop: &'a AtomicBool,
}

/// All that a round asks of one image.
struct Question<'a> {
    image: &'a Arc<Image>,
    svmas: Vec<u64>,
    /// What earlier rounds have left, until it is asked.
    job: Mutex<Option<Job>>,
}

impl NameBook {
    /// One without names, that takes what the cache has, and puts there what it has not.
    #[must_use]
    pub fn new(cache: Option<NameCache>) -> Self {
        NameBook { cache, jobs: FxHashMap::default() }
    }

    /// Looks up what has no name yet, on this thread alone. Soon after `stop` is set it is given up; files that were opened
    /// until then stay so.
    pub fn look_up_aside(&mut self, requests: &[Request], stop: &AtomicBool) {
        self.round(requests, &Means { threads: 1, stop }, &|_, _| {});
    }

    /// Looks up what has no name yet, on as many threads as there are processors. The answers are in the order of
    /// the requests, and say what they lack, from whichever round; the cache has them, too, from then on, if they lack nothing.
    ///
    /// `progress` is told (addresses done, addresses in all), from any of the threads.
    #[must_use]
    pub fn finish(mut self, requests: &[Request], progress: &(dyn Fn(usize, usize) + Sync)) -> Vec<Answers> {
        self.round(requests, &Means { threads: processors(), stop: &AtomicBool::new(false) }, progress);
        if let Some(cache) = &self.cache {
            self.jobs.values().for_each(|job| job.keep(cache));
        }
        let answers = |Request { image, svmas }: &Request| match self.jobs.get(&place(image)) {
            Some(job) => job.answers(svmas),
            // Nothing was ever asked of it.
            None => Answers { resolved: Vec::new(), shortfall: None },
        };
        requests.iter().map(answers).collect()
    }

    fn round(&mut self, requests: &[Request], means: &Means<'_>, progress: &(dyn Fn(usize, usize) + Sync)) {
        let is_stopped = || means.stop.load(Ordering::Relaxed);
        let total: usize = requests.iter().map(|request| request.svmas.len()).sum();
        let done = AtomicUsize::new(0);
        let report = |more: usize| {
            if more > 0 {
                // An address that two units claim can be done twice.
                progress(total.min(done.fetch_add(more, Ordering::Relaxed) + more), total);
            }
        };
        let questions = self.questions(requests);
        let jobs = in_parallel(
            means.threads,
            questions.len(),
            || (),
            |(), index| {
                let Question { image, svmas, job } = &questions[index];
                let job = job.lock().unwrap_or_else(PoisonError::into_inner).take();
                if is_stopped() {
                    return (job, 0);
                }
                let mut job = job.unwrap_or_else(|| Job::new(image, self.cache.as_ref()));
                let has_names = job.ask(svmas, means.threads);
                (Some(job), has_names)
            },
        );
        let mut asked = Vec::new();
        for (question, job) in questions.iter().zip(jobs) {
            match job {
                Some((Some(job), has_names)) => {
                    report(has_names);
                    asked.push(job);
                }
                // It was stopped before the file was opened.
                Some((None, _)) => {}
                None => asked.push(Job::unreadable(question.image)),
            }
        }
        search(&asked, means, &report);
        let is_given_up = is_stopped();
        for mut job in asked {
            if is_given_up {
                job.give_up();
            } else {
                job.settle();
            }
            self.jobs.insert(place(job.image()), job);
        }
        // Addresses asked for twice were looked up once.
        report(total.saturating_sub(done.load(Ordering::Relaxed)));
    }

    /// What is asked of each image, by any number of requests.
    fn questions<'a>(&mut self, requests: &'a [Request]) -> Vec<Question<'a>> {
        let mut questions: Vec<Question<'a>> = Vec::new();
        let mut known: FxHashMap<usize, usize> = FxHashMap::default();
        for Request { image, svmas } in requests.iter().filter(|request| !request.svmas.is_empty()) {
            let index = *known.entry(place(image)).or_insert_with(|| {
                let job = Mutex::new(self.jobs.remove(&place(image)));
                questions.push(Question { image, svmas: Vec::new(), job });
                questions.len() - 1
            });
            questions[index].svmas.extend(svmas);
        }
        questions
    }
}

/// Looks up what the jobs have been asked, as far as it is not stopped.
fn search(jobs: &[Job], means: &Means<'_>, report: &(dyn Fn(usize) + Sync)) {
    let is_stopped = || means.stop.load(Ordering::Relaxed);
    let mut blocks: Vec<(&Job, Range<usize>, usize)> = Vec::new();
    for job in jobs {
        blocks.extend(job.blocks().map(|(units, bytes)| (job, units, bytes)));
    }
    // The largest first, so that no thread begins it when the others end.
    blocks.sort_by_key(|(_, _, bytes)| Reverse(*bytes));
    let done_blocks = in_parallel(means.threads, blocks.len(), Naming::default, |naming, index| {
        let (job, units, _) = &blocks[index];
        if !is_stopped() {
            report(job.look_up_in(units.clone(), naming));
        }
    });
    for ((job, ..), _) in blocks.iter().zip(done_blocks).filter(|(_, done)| done.is_none()) {
        job.note_panic();
    }
    let unanswered: Vec<Vec<usize>> = jobs.iter().map(Job::unanswered).collect();
    let mut rest: Vec<(&Job, &[usize])> = Vec::new();
    for (job, addresses) in jobs.iter().zip(&unanswered) {
        let size = addresses.len().div_ceil(means.threads).max(MIN_SINGLY);
        rest.extend(addresses.chunks(size).map(|addresses| (job, addresses)));
    }
    in_parallel(means.threads, rest.len(), Naming::default, |naming, index| {
        let (job, addresses) = rest[index];
        if !is_stopped() {
            job.look_up_singly(addresses, naming);
            report(addresses.len());
        }
    });
}

fn place(image: &Arc<Image>) -> usize {
    Arc::as_ptr(image).addr()
}

#[cfg(test)]
mod tests {
    use super::{Means, NameBook};
    use crate::image::Image;
    use crate::symbolize::{Answers, NameCache, Request, Shortfall, symbolize_image};
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn a_fault_in_one_round_is_told_at_the_end() {
        let directory = tempfile::tempdir().unwrap();
        let names = directory.path().join("names");
        let image = Arc::new(Image::open(&std::env::current_exe().unwrap()).unwrap());
        let svmas: Vec<u64> = image.code().iter().cloned().flatten().step_by(100_003).collect();
        let resolved = symbolize_image(&image, &svmas, &|_| {});
        let requests = [Request { image, svmas }];
        for has_fault in [true, false] {
            let mut book = NameBook::new(Some(NameCache::at(names.clone())));
            let means = Means { threads: 1, stop: &AtomicBool::new(false) };
            book.round(&requests, &means, &|_, _| assert!(!has_fault, "a fault when a share has been read"));
            let shortfall = has_fault.then_some(Shortfall::Fault);
            assert_eq!(book.finish(&requests, &|_, _| {}), [Answers { resolved: resolved.clone(), shortfall }]);
            assert_eq!(names.exists(), !has_fault, "only whole answers are for the next recording");
        }
    }
}
