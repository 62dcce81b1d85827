//! The demo: a small program with three faults of the everyday kind, to try the profiler on. It takes about three
//! seconds. What there is to be found:
//!
//! 1. **A hot spot in a dependency.** Thread `search` studies a book again and again: most of its time is spent in
//!    `memchr::memmem`, called by `count_word`. The fault is in the caller: it builds the searcher anew for every
//!    paragraph, and walks the book once for each word. (`index_paragraphs` beside it is as good as it gets.)
//! 2. **A queue at a lock.** Threads `till-1` to `till-4` share one ledger behind a `Mutex` and hold it while they go
//!    through all of it (`book_sale`, `audit`): four threads, the work of one. Most of their time they wait in `futex`,
//!    and one after the other has its turn.
//! 3. **A slow source.** Thread `reader` waits in `read` on a pipe that thread `courier` fills drop by drop. It uses
//!    hardly any CPU time, and everybody would say that it is "busy reading".
//!
//! Thread `parser` has no fault but is worth a look: it splits lines and builds small strings, so that its time goes to
//! the allocator (`parse_record`). Before all that, `main` writes the book while nobody else has anything to do.
//!
//! Usage: `demo [SECONDS, default 3]`
#![expect(clippy::print_stdout, reason = "it tells its user what it does")]

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::hint::black_box;
use std::io::{Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use memchr::memmem;
use traceview_workloads::arg_or;

const WORDS: [&str; 6] = ["lighthouse", "harbour", "fog", "keeper", "lantern", "storm"];
const TILLS: u64 = 4;
const PARAGRAPHS: usize = 100_000;
/// So many that going through them takes a long moment.
const LEDGER_ENTRIES: u64 = 3_000_000;
const TAX_RATES: [u64; 8] = [3, 5, 6, 7, 10, 19, 20, 25];
const PARCEL: [u8; 16] = *b"one more parcel\n";

/// The prices of all that was sold.
type Ledger = Vec<u64>;

fn main() {
    let end = Instant::now() + Duration::from_secs_f64(arg_or(1, 3.0));
    println!("demo: a search, a shop with four tills, a slow delivery and a parser, each on threads of its own.");
    let book = write_book();
    let ledger = Arc::new(Mutex::new((0..LEDGER_ENTRIES).collect::<Ledger>()));
    let (mut from_courier, mut to_reader) = std::io::pipe().expect("pipes can be made");

    let search = start("search", move || {
        let mut found = 0;
        while Instant::now() < end {
            found += study(&book);
        }
        format!("search found {found} things")
    });
    let tills = (1..=TILLS).map(|till| {
        let ledger = Arc::clone(&ledger);
        start(&format!("till-{till}"), move || {
            let mut sales = 0;
            while Instant::now() < end {
                let sum = book_sale(&ledger, till);
                sales += print_receipt(sum);
            }
            format!("till {till} booked {sales} sales")
        })
    });
    let tills: Vec<_> = tills.collect();
    let courier = start("courier", move || {
        while Instant::now() < end {
            thread::sleep(Duration::from_millis(120));
            to_reader.write_all(&PARCEL).expect("the reader waits for it");
        }
        "the courier went home".to_owned()
    });
    let reader = start("reader", move || {
        let mut parcels = 0;
        let mut parcel = PARCEL;
        // Ends when the courier closes its end.
        while from_courier.read_exact(&mut parcel).is_ok() {
            black_box(unpack(&parcel));
            parcels += 1;
        }
        format!("the reader got {parcels} parcels")
    });
    let parser = start("parser", move || {
        let mut fields = 0;
        while Instant::now() < end {
            for number in 0..25_000 {
                fields += parse_record(&format!("id={number};name=parcel {number};kg=3")).len();
            }
            // A parser that waits for its next file, so that it does not take the CPU from the others.
            thread::sleep(Duration::from_millis(90));
        }
        format!("the parser split {fields} fields")
    });

    let mut lines: Vec<String> = [search, reader, courier, parser].into_iter().chain(tills).map(finish).collect();
    lines.sort();
    println!("demo: {}.", lines.join(", "));
    println!("demo: but which of them were working, and which were only waiting?");
}

fn start(name: &str, work: impl FnOnce() -> String + Send + 'static) -> JoinHandle<String> {
    thread::Builder::new().name(name.to_owned()).spawn(work).expect("threads can be started")
}

fn finish(thread: JoinHandle<String>) -> String {
    thread.join().expect("no thread of the demo panics")
}

/// Some megabytes of text in paragraphs.
#[inline(never)]
fn write_book() -> String {
    let mut book = String::new();
    for number in 0..PARAGRAPHS {
        let word = WORDS[number * number % WORDS.len()];
        writeln!(book, "{number}. The sea was quiet that night, and nobody on the pier spoke of the light; {word}.")
            .expect("a String takes any text");
    }
    book
}

/// How often all the words stand in the book, and how many paragraphs it has.
#[inline(never)]
fn study(book: &str) -> usize {
    let mut found = index_paragraphs(book);
    for word in WORDS {
        found += count_word(book, word);
    }
    found
}

/// How often a word stands in the book. A searcher for each paragraph is the fault.
#[inline(never)]
fn count_word(book: &str, word: &str) -> usize {
    let mut count = 0;
    for paragraph in book.lines() {
        count += memmem::Finder::new(word).find_iter(paragraph.as_bytes()).count();
    }
    count
}

/// How many paragraphs there are, each number counted once.
#[inline(never)]
fn index_paragraphs(book: &str) -> usize {
    let mut numbers = HashSet::new();
    for paragraph in book.lines() {
        if let Some((number, _)) = paragraph.split_once('.') {
            numbers.insert(number);
        }
    }
    numbers.len()
}

/// Books one sale under the lock, and does the sums there too, which is the fault.
#[inline(never)]
fn book_sale(ledger: &Mutex<Ledger>, till: u64) -> u64 {
    let mut ledger = ledger.lock().unwrap_or_else(PoisonError::into_inner);
    ledger.push(till);
    audit(&ledger)
}

/// Goes through all that was ever sold, once for each tax rate.
#[inline(never)]
fn audit(prices: &[u64]) -> u64 {
    let mut sum = 0_u64;
    for rate in TAX_RATES {
        for &price in prices {
            sum = sum.rotate_left(1) ^ (price * rate);
        }
    }
    sum
}

/// What a till does without the ledger. One sale.
#[inline(never)]
fn print_receipt(sum: u64) -> usize {
    let mut receipt = String::new();
    for item in 0..20_000 {
        write!(receipt, "{}, ", sum ^ item).expect("a String takes any text");
    }
    usize::from(!black_box(receipt).is_empty())
}

/// Opens a parcel, layer by layer.
#[inline(never)]
fn unpack(parcel: &[u8]) -> u64 {
    let mut layers = u64::from(parcel[0]);
    for layer in 0..2_000_000 {
        layers = black_box((layers << 7) ^ layer);
    }
    layers
}

/// Splits `key=value;key=value;…` into its fields.
#[inline(never)]
fn parse_record(line: &str) -> BTreeMap<String, String> {
    let fields = line.split(';').filter_map(|field| field.split_once('='));
    fields.map(|(key, value)| (key.trim().to_owned(), value.trim().to_uppercase())).collect()
}
