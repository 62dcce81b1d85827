//! The addresses of one image, and what has been found out about them.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::batch::{Answers, Request, Shortfall};
use super::cache::{Key, NameCache, Stored};
use super::debug_file;
use super::dwarf::{self, Answer, Names, Rank, Unusual};
use super::effort::Budget;
use super::parallel::unless_it_panics;
use super::resolve::{Naming, Resolved};
use super::source::SymbolSource;
use super::unnamed::unnamed;
use crate::image::Image;

/// Bytes of units for one thread at a time.
const BLOCK: usize = 256 << 10;

/// One request while it is worked on, by several threads.
#[derive(Debug)]
pub(super) struct Job {
    image: Arc<Image>,
    asked: Vec<u64>,
    /// What the cache had, by address.
    stored: Vec<(u64, Resolved)>,
    cache_file: Option<(Key, Option<Stored>)>,
    /// What all other addresses need.
    open: Option<Open>,
    /// Whether a search has panicked, so that the answers are not the best there are.
    has_panicked: AtomicBool,
}

/// Addresses to look up.
#[derive(Debug)]
struct Open {
    source: SymbolSource,
    /// The work of reading its debug information.
    budget: Budget,
    /// Sorted, each once.
    addresses: Vec<u64>,
    /// For each address.
    answers: Mutex<Vec<State>>,
}

/// What is known about an address.
#[derive(Clone, Debug)]
enum State {
    /// No unit has claimed it.
    Unclaimed,
    /// A unit has claimed it that is not read in passing.
    Unusual,
    /// What the unit with the smallest rank so far says, or the symbol table where no unit says anything.
    Found(Rank, Resolved),
    /// What was found with all means, and can rest on more files than are known here.
    FoundSingly(Resolved),
}

impl Job {
    pub(super) fn new(request: &Request, cache: Option<&NameCache>) -> Self {
        let Request { image, svmas } = request;
        let mut addresses = svmas.clone();
        addresses.sort_unstable();
        addresses.dedup();
        let mut job = Self::unreadable(request);
        if addresses.is_empty() {
            return job;
        }
        let debug_file = debug_file::wanted(image);
        let supplement = debug_file::supplement_of(image, debug_file.as_ref());
        if let Some((cache, key)) = cache.zip(Key::new(image, debug_file.iter().chain(&supplement))) {
            let stored = cache.read(&key);
            if let Some(stored) = &stored {
                addresses.retain(|&svma| match stored.find(svma, || unnamed(image, svma)) {
                    Some(resolved) => {
                        job.stored.push((svma, resolved));
                        false
                    }
                    None => true,
                });
            }
            job.cache_file = Some((key, stored));
        }
        if !addresses.is_empty() {
            let source = SymbolSource::with_files(Arc::clone(image), debug_file, supplement.as_ref());
            let answers = Mutex::new(vec![State::Unclaimed; addresses.len()]);
            let budget = Budget::default();
            budget.allow_for(&source.dwarf());
            budget.allow_for_addresses(addresses.len());
            job.open = Some(Open { source, budget, addresses, answers });
        }
        job
    }

    /// One of an image that no names can be had of.
    pub(super) fn unreadable(request: &Request) -> Self {
        let (image, asked) = (Arc::clone(&request.image), request.svmas.clone());
        Job { image, asked, stored: Vec::new(), cache_file: None, open: None, has_panicked: AtomicBool::new(false) }
    }

    /// Number of addresses that were in the cache.
    pub(super) fn stored(&self) -> usize {
        self.stored.len()
    }

    /// The units of debug information to read, in shares of some size, each with its bytes.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (Range<usize>, usize)> {
        let units = self.open.as_ref().and_then(|open| open.source.units().ok());
        let (units, end) = units.map_or((&[][..], 0), |[units, _]| (&units.offsets[..], units.end));
        let mut next = 0;
        std::iter::from_fn(move || {
            let first = next;
            let begin = units.get(first)?;
            next += units[first..].partition_point(|unit| unit - begin < BLOCK).max(1);
            Some((first..next, units.get(next).unwrap_or(&end).saturating_sub(*begin)))
        })
    }

    /// Looks up all addresses in some of the units. Returns how many have an answer that had none.
    pub(super) fn look_up_in<'a>(&'a self, units: Range<usize>, naming: &mut Naming<'a>) -> usize {
        self.open.as_ref().map_or(0, |open| open.look_up_in(units, naming))
    }

    /// Notes that a search has panicked: what it would have found is not known.
    pub(super) fn note_panic(&self) {
        self.has_panicked.store(true, Ordering::Relaxed);
    }

    /// The addresses that no unit has answered.
    pub(super) fn unanswered(&self) -> Vec<usize> {
        let Some(open) = &self.open else { return Vec::new() };
        if open.is_excessive() {
            // Which ones were answered before that was found out is chance.
            open.lock().fill(State::Unclaimed);
        }
        let answers = open.lock();
        let unanswered = |&address: &usize| matches!(answers[address], State::Unclaimed | State::Unusual);
        (0..answers.len()).filter(unanswered).collect()
    }

    /// Looks up some of the addresses one by one, with what remembers all it has read.
    pub(super) fn look_up_singly<'a>(&'a self, addresses: &[usize], naming: &mut Naming<'a>) {
        if let Some(open) = &self.open {
            open.look_up_singly(addresses, naming);
        }
    }

    /// The answers in the order in which they were asked for, and for the cache; and what they lack.
    pub(super) fn finish(self, cache: Option<&NameCache>) -> Answers {
        let Job { image, asked, stored: mut answers, cache_file, open, has_panicked } = self;
        let mut has_panicked = has_panicked.into_inner();
        let mut is_excessive = false;
        if let Some(Open { source, budget, addresses, answers: states }) = open {
            is_excessive = source.units().is_err() || budget.is_exceeded() || source.has_lost_names();
            let states = states.into_inner().unwrap_or_else(PoisonError::into_inner);
            let cache = cache.filter(|_| !has_panicked && !is_excessive);
            if let Some((cache, (key, stored))) = cache.zip(cache_file) {
                keep(cache, &key, stored.as_ref(), &addresses, &states);
            }
            answers.extend(addresses.into_iter().zip(states).map(|(svma, state)| match state {
                State::Found(_, resolved) | State::FoundSingly(resolved) => (svma, resolved),
                // The search panicked: the symbol table still knows it.
                State::Unclaimed | State::Unusual => {
                    has_panicked = true;
                    let in_table = || Naming::default().resolved(&source, svma, Vec::new());
                    (svma, unless_it_panics(in_table).unwrap_or_else(|| Resolved::unknown(&image, svma)))
                }
            }));
            answers.sort_by_key(|(svma, _)| *svma);
        }
        let shortfall = match (has_panicked, is_excessive) {
            (_, true) => Some(Shortfall::Excess),
            (true, false) => Some(Shortfall::Fault),
            (false, false) => None,
        };
        Answers { resolved: in_order(&image, asked, answers), shortfall }
    }
}

/// The answers to `asked`, of those that are there by address.
fn in_order(image: &Image, asked: Vec<u64>, answers: Vec<(u64, Resolved)>) -> Vec<Resolved> {
    if asked.len() == answers.len() && asked.is_sorted() {
        return answers.into_iter().map(|(_, resolved)| resolved).collect();
    }
    let answer = |svma: u64| {
        let row = answers.binary_search_by_key(&svma, |(svma, _)| *svma);
        row.map_or_else(|_| Resolved::unknown(image, svma), |row| answers[row].1.clone())
    };
    asked.into_iter().map(answer).collect()
}

/// Adds what was found to what the cache has.
fn keep(cache: &NameCache, key: &Key, stored: Option<&Stored>, addresses: &[u64], states: &[State]) {
    let new = addresses.iter().zip(states).filter_map(|(&svma, state)| match state {
        State::Found(_, resolved) => Some((svma, resolved)),
        _ => None,
    });
    let old: Vec<(u64, Resolved)> = stored.map(|stored| stored.all().collect()).unwrap_or_default();
    let mut all: Vec<(u64, &Resolved)> = new.collect();
    if all.is_empty() {
        return;
    }
    all.extend(old.iter().map(|(svma, resolved)| (*svma, resolved)));
    all.sort_by_key(|(svma, _)| *svma);
    cache.write(key, &all);
}

impl Open {
    /// Whether reading the debug information has turned out to take work out of all proportion.
    fn is_excessive(&self) -> bool {
        self.source.units().is_err() || self.budget.is_exceeded()
    }

    fn look_up_in<'a>(&'a self, units: Range<usize>, naming: &mut Naming<'a>) -> usize {
        let Ok([all, _]) = self.source.units() else { return 0 };
        let dwarf = self.source.dwarf();
        let mut names = Names::new(&dwarf, self.source.image.code(), all, &self.budget);
        let mut more = 0;
        for &unit in &all.offsets[units] {
            if self.budget.is_exceeded() {
                break;
            }
            let answers = dwarf::look_up(&mut names, unit, &self.addresses, &mut naming.texts);
            for Answer { address, rank, frames } in answers {
                let svma = self.addresses[address];
                let state = match frames {
                    Ok(frames) => State::Found(rank, naming.resolved(&self.source, svma, frames)),
                    Err(Unusual) => State::Unusual,
                };
                more += usize::from(self.take(address, state));
            }
        }
        more
    }

    fn look_up_singly<'a>(&'a self, addresses: &[usize], naming: &mut Naming<'a>) {
        let mut symbolizer = None;
        for &address in addresses {
            let svma = self.addresses[address];
            let is_claimed = matches!(self.lock()[address], State::Unusual);
            let state = if is_claimed {
                let symbolizer = symbolizer.get_or_insert_with(|| self.source.symbolizer());
                State::FoundSingly(symbolizer.resolve(svma))
            } else {
                State::Found(Rank::default(), naming.resolved(&self.source, svma, Vec::new()))
            };
            self.lock()[address] = state;
        }
    }

    /// Takes an answer, if it is better than the one there is. Says whether it is the first one.
    fn take(&self, address: usize, new: State) -> bool {
        let state = &mut self.lock()[address];
        let (is_better, is_first) = match (&*state, &new) {
            (State::Unclaimed, State::Found(..)) => (true, true),
            (State::Found(old, _), State::Found(new, _)) => (new < old, false),
            (State::Unclaimed | State::Found(..), State::Unusual) => (true, false),
            _ => (false, false),
        };
        if is_better {
            *state = new;
        }
        is_first
    }

    fn lock(&self) -> MutexGuard<'_, Vec<State>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::{Job, Naming, Request};
    use crate::symbolize::effort::Budget;
    use crate::symbolize::excess;

    /// How many of how many steps it takes to read debug information for a request, and for what answers single addresses.
    pub(in super::super) fn effort(request: &Request) -> [(u64, u64); 2] {
        let job = Job::new(request, None);
        for (units, _) in job.blocks() {
            job.look_up_in(units, &mut Naming::default());
        }
        let open = job.open.as_ref().unwrap();
        let (dwarf, [units, _]) = (open.source.dwarf(), open.source.units().unwrap());
        let budget = Budget::default();
        budget.allow_for(&dwarf);
        assert!(!excess::is_excessive(&dwarf, units, &budget));
        [open.budget.spent(), budget.spent()]
    }
}
