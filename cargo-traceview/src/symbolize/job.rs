//! The addresses of one image, and what has been found out about them.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::batch::Request;
use super::dwarf::{self, Answer, Names, Rank, Unusual};
use super::resolve::{Naming, Resolved};
use super::source::SymbolSource;

/// One request while it is worked on, by several threads.
#[derive(Debug)]
pub(super) struct Job {
    source: SymbolSource,
    /// Where units of debug information begin.
    units: Vec<usize>,
    asked: Vec<u64>,
    /// Those asked for, sorted, each once.
    addresses: Vec<u64>,
    /// For each address.
    answers: Mutex<Vec<State>>,
}

/// What is known about an address.
#[derive(Clone, Debug)]
enum State {
    /// No unit has claimed it.
    Open,
    /// A unit has claimed it that is not read in passing.
    Unusual,
    /// What the unit with the smallest rank so far says.
    Found(Rank, Resolved),
}

impl Job {
    pub(super) fn new(request: &Request) -> Self {
        let mut addresses = request.svmas.clone();
        addresses.sort_unstable();
        addresses.dedup();
        let source = SymbolSource::load(Arc::clone(&request.image));
        let units = if addresses.is_empty() { Vec::new() } else { dwarf::unit_offsets(&source.dwarf()) };
        let answers = Mutex::new(vec![State::Open; addresses.len()]);
        Job { source, units, asked: request.svmas.clone(), addresses, answers }
    }

    /// Number of units of debug information.
    pub(super) fn units(&self) -> usize {
        self.units.len()
    }

    /// Looks up all addresses in some of the units. Returns how many have an answer that had none.
    pub(super) fn look_up_in<'a>(&'a self, units: Range<usize>, naming: &mut Naming<'a>) -> usize {
        let dwarf = self.source.dwarf();
        let mut names = Names::new(&dwarf, &self.units);
        let mut more = 0;
        for &unit in &self.units[units] {
            for Answer { address, rank, frames } in dwarf::look_up(&mut names, unit, &self.addresses, &mut naming.texts)
            {
                let state = match frames {
                    Ok(frames) => State::Found(rank, naming.resolved(&self.source, self.addresses[address], frames)),
                    Err(Unusual) => State::Unusual,
                };
                more += usize::from(self.take(address, state));
            }
        }
        more
    }

    /// The addresses that no unit has answered.
    pub(super) fn open(&self) -> Vec<usize> {
        let is_open = |state: &State| !matches!(state, State::Found(..));
        self.lock().iter().enumerate().filter(|(_, state)| is_open(state)).map(|(address, _)| address).collect()
    }

    /// Looks up some of the addresses one by one, with what remembers all it has read.
    pub(super) fn look_up_singly<'a>(&'a self, addresses: &[usize], naming: &mut Naming<'a>) {
        let mut symbolizer = None;
        for &address in addresses {
            let svma = self.addresses[address];
            let unclaimed = matches!(self.lock()[address], State::Open);
            let resolved = if unclaimed {
                naming.resolved(&self.source, svma, Vec::new())
            } else {
                symbolizer.get_or_insert_with(|| self.source.symbolizer()).resolve(svma)
            };
            self.lock()[address] = State::Found(Rank::default(), resolved);
        }
    }

    /// The answers in the order in which they were asked for.
    pub(super) fn finish(self) -> Vec<Resolved> {
        let states = self.answers.into_inner().unwrap_or_else(PoisonError::into_inner);
        let answers: Vec<Resolved> = states
            .into_iter()
            .map(|state| match state {
                State::Found(_, resolved) => resolved,
                State::Open | State::Unusual => unreachable!("all addresses were looked up"),
            })
            .collect();
        if self.asked == self.addresses {
            return answers;
        }
        let answer = |svma: &u64| {
            let address = self.addresses.binary_search(svma).expect("all that was asked for was looked up");
            answers[address].clone()
        };
        self.asked.iter().map(answer).collect()
    }

    /// Takes an answer, if it is better than the one there is. Says whether it is the first one.
    fn take(&self, address: usize, new: State) -> bool {
        let state = &mut self.lock()[address];
        let (is_better, is_first) = match (&*state, &new) {
            (State::Unusual, _) => (false, false),
            (State::Open, State::Found(..)) => (true, true),
            (State::Found(old, _), State::Found(new, _)) => (new < old, false),
            (_, State::Unusual | State::Open) => (true, false),
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
