//! The addresses of one image, and what has been found out about them.

use std::mem;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rustc_hash::FxHashMap;

use super::batch::{Answers, Shortfall};
use super::cache::{Key, NameCache, Stored};
use super::debug_file;
use super::dwarf::{self, Answer, Claimed, Names, Rank, Unusual};
use super::effort::Budget;
use super::parallel::unless_it_panics;
use super::resolve::{Naming, Resolved};
use super::source::SymbolSource;
use super::unnamed::unnamed;
use crate::image::Image;

/// Bytes of units for one thread at a time.
const BLOCK: usize = 256 << 10;

/// All that was asked of one image, in one round or several. Within a round it is worked on by several threads.
#[derive(Debug)]
pub(super) struct Job {
    image: Arc<Image>,
    /// What all addresses that were asked for in earlier rounds are named.
    named: FxHashMap<u64, Resolved>,
    /// Those of them that the cache should have, and has not.
    new: Vec<u64>,
    /// Whether a search has panicked, so that the answers are not the best there are.
    has_panicked: AtomicBool,
    cache_file: Option<(Key, Option<Stored>)>,
    /// Nothing if no names can be had of the image.
    files: Option<Files>,
    /// The addresses to look up in this round, sorted, each once.
    addresses: Vec<u64>,
    /// For each of them.
    answers: Mutex<Vec<State>>,
}

/// What names are read from.
#[derive(Debug)]
enum Files {
    /// The debug file and its supplement, unread, as no address has needed them yet.
    Closed(Box<(Option<Image>, Option<Image>)>),
    Open(Box<Open>),
}

/// The image with its debug information.
#[derive(Debug)]
struct Open {
    source: SymbolSource,
    /// The work of reading it, in all rounds.
    budget: Budget,
    /// The addresses that each unit claims, once it was read: a later round needs to read few units.
    claims: Vec<OnceLock<Claimed>>,
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
    pub(super) fn new(image: &Arc<Image>, cache: Option<&NameCache>) -> Self {
        let debug_file = debug_file::wanted(image);
        let supplement = debug_file::supplement_of(image, debug_file.as_ref());
        let key = cache.and_then(|cache| Some((cache, Key::new(image, debug_file.iter().chain(&supplement))?)));
        let cache_file = key.map(|(cache, key)| {
            let stored = cache.read(&key);
            (key, stored)
        });
        let files = Some(Files::Closed(Box::new((debug_file, supplement))));
        Job { has_panicked: AtomicBool::new(false), cache_file, files, ..Self::unreadable(image) }
    }

    /// One of an image that no names can be had of, as the search for them has panicked.
    pub(super) fn unreadable(image: &Arc<Image>) -> Self {
        Job {
            image: Arc::clone(image),
            named: FxHashMap::default(),
            new: Vec::new(),
            has_panicked: AtomicBool::new(true),
            cache_file: None,
            files: None,
            addresses: Vec::new(),
            answers: Mutex::default(),
        }
    }

    /// Begins a round: finds out which of the addresses have to be looked up, and opens what that takes. `threads` at most
    /// work on it. Returns how many of the addresses have names.
    pub(super) fn ask(&mut self, svmas: &[u64], threads: usize) -> usize {
        let mut addresses = svmas.to_vec();
        addresses.sort_unstable();
        addresses.dedup();
        let all = addresses.len();
        addresses.retain(|svma| !self.named.contains_key(svma));
        if let Some((_, Some(stored))) = &self.cache_file {
            addresses.retain(|&svma| match stored.find(svma, || unnamed(&self.image, svma)) {
                Some(resolved) => {
                    self.named.insert(svma, resolved);
                    false
                }
                None => true,
            });
        }
        let has_names = all - addresses.len();
        if !addresses.is_empty() {
            self.files = self.files.take().map(|files| files.open(&self.image, threads));
            if let Some(Files::Open(open)) = &mut self.files {
                open.budget.renew(&open.source.dwarf(), addresses.len());
            }
        }
        self.answers = Mutex::new(vec![State::Unclaimed; addresses.len()]);
        self.addresses = addresses;
        has_names
    }

    /// The units of debug information to read, in shares of some size, each with its bytes.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (Range<usize>, usize)> {
        let open = self.open().filter(|open| !self.addresses.is_empty() && !open.is_excessive());
        let units = open.and_then(|open| open.source.units().ok());
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
        let Some(open) = self.open() else { return 0 };
        let Ok([all, _]) = open.source.units() else { return 0 };
        let dwarf = open.source.dwarf();
        let mut names = Names::new(&dwarf, open.source.image.code(), all, &open.budget);
        let mut more = 0;
        for unit in units {
            if open.budget.is_exceeded() {
                break;
            }
            if open.claims[unit].get().is_some_and(|claims| !claims.iter().any(|claim| self.asks_within(claim))) {
                continue;
            }
            let (answers, claims) = dwarf::look_up(&mut names, all.offsets[unit], &self.addresses, &mut naming.texts);
            for Answer { address, rank, frames } in answers {
                let svma = self.addresses[address];
                let state = match frames {
                    Ok(frames) => State::Found(rank, naming.resolved(&open.source, svma, frames)),
                    Err(Unusual) => State::Unusual,
                };
                more += usize::from(self.take(address, state));
            }
            if let Some(claims) = claims {
                open.claims[unit].get_or_init(|| claims);
            }
        }
        more
    }

    /// Notes that a search has panicked: what it would have found is not known.
    pub(super) fn note_panic(&self) {
        self.has_panicked.store(true, Ordering::Relaxed);
    }

    /// The addresses that no unit has answered.
    pub(super) fn unanswered(&self) -> Vec<usize> {
        if self.is_excessive() {
            return Vec::new();
        }
        let answers = self.lock();
        let unanswered = |&address: &usize| matches!(answers[address], State::Unclaimed | State::Unusual);
        (0..answers.len()).filter(unanswered).collect()
    }

    /// Looks up some of the addresses one by one, with what remembers all it has read.
    pub(super) fn look_up_singly<'a>(&'a self, addresses: &[usize], naming: &mut Naming<'a>) {
        let Some(Open { source, .. }) = self.open() else { return };
        let mut symbolizer = None;
        for &address in addresses {
            let svma = self.addresses[address];
            let is_claimed = matches!(self.lock()[address], State::Unusual);
            let state = if is_claimed {
                let symbolizer = symbolizer.get_or_insert_with(|| source.symbolizer());
                State::FoundSingly(symbolizer.resolve(svma))
            } else {
                State::Found(Rank::default(), naming.resolved(source, svma, Vec::new()))
            };
            self.lock()[address] = state;
        }
    }

    /// Ends a round that was gone through.
    pub(super) fn settle(&mut self) {
        if self.is_excessive() {
            // See `answers`.
            self.give_up();
            return;
        }
        let open = self.files.as_ref().and_then(Files::opened);
        let mut naming = Naming::default();
        let states = mem::take(self.answers.get_mut().unwrap_or_else(PoisonError::into_inner));
        for (svma, state) in mem::take(&mut self.addresses).into_iter().zip(states) {
            let resolved = match state {
                State::Found(_, resolved) => {
                    self.new.push(svma);
                    resolved
                }
                State::FoundSingly(resolved) => resolved,
                // The search panicked: the symbol table still knows it.
                State::Unclaimed | State::Unusual => {
                    *self.has_panicked.get_mut() = true;
                    let in_table = open.map(|open| open.in_table(svma, &mut naming));
                    in_table.unwrap_or_else(|| Resolved::unknown(&self.image, svma))
                }
            };
            self.named.insert(svma, resolved);
        }
    }

    /// Ends a round that was not gone through: as if it had not been asked for.
    pub(super) fn give_up(&mut self) {
        self.addresses.clear();
        self.answers = Mutex::default();
    }

    pub(super) fn image(&self) -> &Arc<Image> {
        &self.image
    }

    /// What addresses were found to be, in any round, and what that lacks.
    pub(super) fn answers(&self, svmas: &[u64]) -> Answers {
        let resolved = match self.open().filter(|open| open.is_excessive()) {
            // Which ones have got better answers before that was found out is chance.
            Some(open) => {
                let mut naming = Naming::default();
                svmas.iter().map(|&svma| open.in_table(svma, &mut naming)).collect()
            }
            None => {
                let unknown = |svma| Resolved::unknown(&self.image, svma);
                svmas.iter().map(|&svma| self.named.get(&svma).cloned().unwrap_or_else(|| unknown(svma))).collect()
            }
        };
        Answers { resolved, shortfall: self.shortfall() }
    }

    /// Adds what was found to what the cache has, unless that is less than the image has to offer.
    pub(super) fn keep(&self, cache: &NameCache) {
        let Some((key, stored)) = &self.cache_file else { return };
        if self.new.is_empty() || self.shortfall().is_some() {
            return;
        }
        let old: Vec<(u64, Resolved)> = stored.as_ref().map(|stored| stored.all().collect()).unwrap_or_default();
        let mut all: Vec<(u64, &Resolved)> = self.new.iter().map(|svma| (*svma, &self.named[svma])).collect();
        all.extend(old.iter().map(|(svma, resolved)| (*svma, resolved)));
        all.sort_by_key(|(svma, _)| *svma);
        cache.write(key, &all);
    }

    fn shortfall(&self) -> Option<Shortfall> {
        if self.open().is_some_and(|open| open.is_excessive() || open.source.has_lost_names()) {
            Some(Shortfall::Excess)
        } else {
            self.has_panicked.load(Ordering::Relaxed).then_some(Shortfall::Fault)
        }
    }

    fn is_excessive(&self) -> bool {
        self.open().is_some_and(Open::is_excessive)
    }

    fn open(&self) -> Option<&Open> {
        self.files.as_ref().and_then(Files::opened)
    }

    /// Whether one of this round's addresses is in `range`.
    fn asks_within(&self, range: &Range<u64>) -> bool {
        let first = self.addresses.partition_point(|&address| address < range.start);
        self.addresses.get(first).is_some_and(|&address| address < range.end)
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

impl Files {
    fn open(self, image: &Arc<Image>, threads: usize) -> Self {
        let Files::Closed(files) = self else { return self };
        let (debug_file, supplement) = *files;
        let source = SymbolSource::with_files(Arc::clone(image), debug_file, supplement.as_ref(), threads);
        let units = source.units().map_or(0, |[units, _]| units.offsets.len());
        let claims = (0..units).map(|_| OnceLock::new()).collect();
        Files::Open(Box::new(Open { source, budget: Budget::default(), claims }))
    }

    fn opened(&self) -> Option<&Open> {
        match self {
            Files::Closed(_) => None,
            Files::Open(open) => Some(open),
        }
    }
}

impl Open {
    /// Whether reading the debug information has turned out to take work out of all proportion. Nothing of it is used then,
    /// and it is not read any more.
    fn is_excessive(&self) -> bool {
        self.source.units().is_err() || self.budget.is_exceeded()
    }

    /// What the symbol table says.
    fn in_table<'a>(&'a self, svma: u64, naming: &mut Naming<'a>) -> Resolved {
        let in_table = unless_it_panics(|| naming.resolved(&self.source, svma, Vec::new()));
        in_table.unwrap_or_else(|| {
            // Nobody knows how it was left.
            *naming = Naming::default();
            Resolved::unknown(&self.source.image, svma)
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::{Job, Naming};
    use crate::symbolize::Request;
    use crate::symbolize::effort::Budget;
    use crate::symbolize::excess;

    /// How many of how many steps it takes to read debug information for a request, and for what answers single addresses.
    pub(in super::super) fn effort(request: &Request) -> [(u64, u64); 2] {
        let mut job = Job::new(&request.image, None);
        job.ask(&request.svmas, 1);
        for (units, _) in job.blocks() {
            job.look_up_in(units, &mut Naming::default());
        }
        let open = job.open().unwrap();
        let (dwarf, [units, _]) = (open.source.dwarf(), open.source.units().unwrap());
        let budget = Budget::default();
        budget.allow_for(&dwarf);
        assert!(!excess::is_excessive(&dwarf, units, &budget));
        [open.budget.spent(), budget.spent()]
    }
}
