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

/// Resolves `svmas` of one image, in their order. `progress` is told how many are done.
#[must_use]
pub fn symbolize_image(image: &Arc<Image>, svmas: &[u64], progress: &(dyn Fn(usize) + Sync)) -> Vec<Resolved> {
    let request = Request { image: Arc::clone(image), svmas: svmas.to_vec() };
    symbolize_images(&[request], None, &|done, _| progress(done)).pop().expect("one answer for one request")
}

/// Resolves all requests on as many threads as there are processors; the answer has one list per request, in order.
///
/// Names that are in the `cache` are taken from there, and those that are not are put there. `progress` is told (addresses
/// done, addresses in all), from any of the threads.
#[must_use]
pub fn symbolize_images(
    requests: &[Request],
    cache: Option<&NameCache>,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Vec<Vec<Resolved>> {
    NameBook::new(cache.cloned()).finish(requests, progress)
}
