//! Many addresses of many images, on all processors.

use std::sync::Arc;

use super::book::NameBook;
use super::cache::NameCache;
use super::resolve::Resolved;
use crate::image::Image;

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
    NameBook::new(cache.cloned()).finish(requests, progress)
}
