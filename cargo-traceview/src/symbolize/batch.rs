//! Many addresses of many images, on all processors.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::cache::NameCache;
use super::job::Job;
use super::parallel::{in_parallel, processors};
use super::resolve::{Naming, Resolved};
use crate::image::Image;

/// Fewest addresses for one thread at a time, where they are looked up one by one: each thread has to read the headers of
/// all units.
const MIN_SINGLY: usize = 512;

/// What to resolve in one image.
#[derive(Clone, Debug)]
pub struct Request {
    /// The image.
    pub image: Arc<Image>,
    /// Addresses in the image's own address space, in any order.
    pub svmas: Vec<u64>,
}

/// What was found out about one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answers {
    /// For each address, in the order of the request.
    pub resolved: Vec<Resolved>,
    /// Why some of it is less than the image has to offer; its symbol table was used all the same.
    pub shortfall: Option<Shortfall>,
}

/// Why debug information was not used that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Shortfall {
    /// Its parts refer to each other so that reading it would take time or memory without end.
    #[error("reading it would take work out of all proportion to its size, as no compiler makes it")]
    Excess,
    /// We panicked.
    #[error("there was a fault in reading it (reported on stderr)")]
    Fault,
}

/// Resolves `svmas` of one image, in their order. `progress` is told how many are done.
#[must_use]
pub fn symbolize_image(image: &Arc<Image>, svmas: &[u64], progress: &(dyn Fn(usize) + Sync)) -> Vec<Resolved> {
    let request = Request { image: Arc::clone(image), svmas: svmas.to_vec() };
    symbolize_images(&[request], None, &|done, _| progress(done)).pop().expect("one answer for one request").resolved
}

/// Resolves all requests on as many threads as there are processors; the answers are in their order.
///
/// Names that are in the `cache` are taken from there, and those that are not are put there. `progress` is told (addresses
/// done, addresses in all), from any of the threads.
#[must_use]
pub fn symbolize_images(
    requests: &[Request],
    cache: Option<&NameCache>,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Vec<Answers> {
    let total: usize = requests.iter().map(|request| request.svmas.len()).sum();
    let done = AtomicUsize::new(0);
    let report = |more: usize| {
        if more > 0 {
            // An address that two units claim can be done twice.
            progress(total.min(done.fetch_add(more, Ordering::Relaxed) + more), total);
        }
    };
    let jobs = in_parallel(requests.len(), || (), |(), index| Job::new(&requests[index], cache));
    let unreadable = |request| {
        let job = Job::unreadable(request);
        job.note_panic();
        job
    };
    let jobs: Vec<Job> =
        jobs.into_iter().zip(requests).map(|(job, request)| job.unwrap_or_else(|| unreadable(request))).collect();
    report(jobs.iter().map(Job::stored).sum());
    let mut blocks: Vec<(&Job, Range<usize>, usize)> = Vec::new();
    for job in &jobs {
        blocks.extend(job.blocks().map(|(units, bytes)| (job, units, bytes)));
    }
    // The largest first, so that no thread begins it when the others end.
    blocks.sort_by_key(|(_, _, bytes)| Reverse(*bytes));
    let done_blocks = in_parallel(blocks.len(), Naming::default, |naming, index| {
        let (job, units, _) = &blocks[index];
        report(job.look_up_in(units.clone(), naming));
    });
    for ((job, ..), _) in blocks.iter().zip(done_blocks).filter(|(_, done)| done.is_none()) {
        job.note_panic();
    }
    let unanswered: Vec<Vec<usize>> = jobs.iter().map(Job::unanswered).collect();
    let mut rest: Vec<(&Job, &[usize])> = Vec::new();
    for (job, addresses) in jobs.iter().zip(&unanswered) {
        let size = addresses.len().div_ceil(processors()).max(MIN_SINGLY);
        rest.extend(addresses.chunks(size).map(|addresses| (job, addresses)));
    }
    let done_rest = in_parallel(rest.len(), Naming::default, |naming, index| {
        let (job, addresses) = rest[index];
        job.look_up_singly(addresses, naming);
        report(addresses.len());
    });
    for ((job, _), _) in rest.iter().zip(done_rest).filter(|(_, done)| done.is_none()) {
        job.note_panic();
    }
    let answers = jobs.into_iter().map(|job| job.finish(cache)).collect();
    // Addresses asked for twice were looked up once.
    report(total.saturating_sub(done.load(Ordering::Relaxed)));
    answers
}
