//! Many addresses of many images, on all processors.

use std::cell::Cell;
use std::cmp::Reverse;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

use super::resolve::Resolved;
use super::source::SymbolSource;
use crate::image::Image;

/// Addresses resolved between two reports of progress.
const REPORT_EVERY: usize = 256;
/// Most addresses for one thread at a time. Each part pays for reading the image's DWARF unit headers again.
const PART: usize = 4096;

/// What to resolve in one image.
#[derive(Clone, Debug)]
pub struct Request {
    /// The image.
    pub image: Arc<Image>,
    /// Addresses in the image's own address space. Sorted ones are fastest: neighbours share DWARF units.
    pub svmas: Vec<u64>,
}

/// Resolves `svmas` of one image, in their order. `progress` is told how many are done.
#[must_use]
pub fn symbolize_image(image: &Arc<Image>, svmas: &[u64], progress: &dyn Fn(usize)) -> Vec<Resolved> {
    symbolize_part(&SymbolSource::load(Arc::clone(image)), svmas, progress)
}

/// Resolves all requests on as many threads as there are processors; the answer has one list per request, in order.
///
/// `progress` is told (addresses done, addresses in all), from any of the threads.
#[must_use]
pub fn symbolize_images(requests: &[Request], progress: &(dyn Fn(usize, usize) + Sync)) -> Vec<Vec<Resolved>> {
    let total = requests.iter().map(|request| request.svmas.len()).sum();
    let parts = parts(requests);
    // The largest first, so that no thread begins it when the others end.
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|&part| Reverse(parts[part].range.len()));
    let sources: Vec<OnceLock<SymbolSource>> = requests.iter().map(|_| OnceLock::new()).collect();
    let results: Vec<OnceLock<Vec<Resolved>>> = parts.iter().map(|_| OnceLock::new()).collect();
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));

    let work = || {
        while let Some(&index) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Part { request, range } = &parts[index];
            let Request { image, svmas } = &requests[*request];
            let source = sources[*request].get_or_init(|| SymbolSource::load(Arc::clone(image)));
            let reported = Cell::new(0);
            let report = |of_part: usize| {
                let more = of_part - reported.replace(of_part);
                progress(done.fetch_add(more, Ordering::Relaxed) + more, total);
            };
            // Nobody else has this index.
            results[index].get_or_init(|| symbolize_part(source, &svmas[range.clone()], &report));
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(parts.len());
    thread::scope(|scope| {
        for _ in 1..threads {
            // Where the system refuses more threads, those that there are do it all.
            if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });

    let mut resolved: Vec<Vec<Resolved>> = requests.iter().map(|_| Vec::new()).collect();
    for (part, result) in parts.iter().zip(results) {
        resolved[part.request].extend(result.into_inner().expect("every part was worked on before the threads ended"));
    }
    resolved
}

/// A share of one request.
struct Part {
    request: usize,
    range: Range<usize>,
}

fn parts(requests: &[Request]) -> Vec<Part> {
    let mut parts = Vec::new();
    for (request, Request { svmas, .. }) in requests.iter().enumerate() {
        let starts = (0..svmas.len()).step_by(PART);
        parts.extend(starts.map(|start| Part { request, range: start..svmas.len().min(start + PART) }));
    }
    parts
}

fn symbolize_part(source: &SymbolSource, svmas: &[u64], progress: &dyn Fn(usize)) -> Vec<Resolved> {
    let mut symbolizer = source.symbolizer();
    let mut resolved = Vec::with_capacity(svmas.len());
    for &svma in svmas {
        resolved.push(symbolizer.resolve(svma));
        if resolved.len() % REPORT_EVERY == 0 {
            progress(resolved.len());
        }
    }
    progress(resolved.len());
    resolved
}
