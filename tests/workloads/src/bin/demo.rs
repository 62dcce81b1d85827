//! The demo: a small program with three faults of the everyday kind, to try the profiler on. It takes about three
//! seconds. What there is to be found:
//!
//! 1. **A hot spot in a dependency.** Thread `search` looks for words in a text, one after the other: nearly all of its
//!    time is spent in `memchr::memmem`, called by `count_word`. The fault is in the caller: it builds the searcher anew
//!    for every paragraph, and walks the text once for each word.
//! 2. **A queue at a lock.** Threads `till-1` to `till-4` share one ledger behind a `Mutex` and hold it while they work
//!    (`book_sale`): four threads, the work of one. Most of their time they wait in `futex`.
//! 3. **A slow source.** Thread `reader` waits in `read` on a pipe that thread `courier` fills drop by drop. It uses
//!    hardly any CPU time, and everybody would say that it is "busy reading".
//!
//! Thread `parser` has no fault but is worth a look: it splits lines and builds small strings, so that its time goes to
//! the allocator (`parse_record`).
//!
//! Usage: `demo [SECONDS, default 3]`
#![expect(clippy::print_stdout, reason = "it tells its user what it does")]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::io::{Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use memchr::memmem;
use traceview_workloads::arg_or;

const WORDS: [&str; 6] = ["lighthouse", "harbour", "fog", "keeper", "lantern", "storm"];

fn main() {
    let end = Instant::now() + Duration::from_secs_f64(arg_or(1, 3.0));
    println!("demo: a search, a shop with four tills, a slow delivery and a parser, each on threads of its own.");
    let text = Arc::new(write_novel());
    let ledger = Arc::new(Mutex::new(BTreeMap::new()));
    let (mut from_courier, mut to_reader) = std::io::pipe().expect("pipes can be made");

    let search = start("search", move || {
        let mut found = 0;
        while Instant::now() < end {
            found += WORDS.iter().map(|word| count_word(&text, word)).sum::<usize>();
        }
        format!("search found {found} words")
    });
    let tills = (1..=4).map(|till| {
        let ledger = Arc::clone(&ledger);
        start(&format!("till-{till}"), move || {
            let mut sales = 0;
            while Instant::now() < end {
                sales += book_sale(&ledger, till);
            }
            format!("till {till} booked {sales} sales")
        })
    });
    let tills: Vec<_> = tills.collect();
    let courier = start("courier", move || {
        while Instant::now() < end {
            thread::sleep(Duration::from_millis(25));
            to_reader.write_all(b"one more parcel\n").expect("the reader waits for it");
        }
        "the courier went home".to_owned()
    });
    let reader = start("reader", move || {
        let mut letters = 0;
        let mut parcel = [0; 16];
        // Ends when the courier closes its end.
        while from_courier.read_exact(&mut parcel).is_ok() {
            letters += parcel.len();
        }
        format!("the reader got {letters} letters")
    });
    let parser = start("parser", move || {
        let mut fields = 0;
        while Instant::now() < end {
            fields += (0..1_000)
                .map(|number| parse_record(&format!("id={number};name=parcel {number};kg=3")).len())
                .sum::<usize>();
            // A parser that waits for its next file, so that it does not take the CPU from the others.
            thread::sleep(Duration::from_millis(1));
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

/// Some 400 kB of text in paragraphs.
fn write_novel() -> String {
    let mut novel = String::new();
    for number in 0..4_000_usize {
        novel.push_str("The sea was quiet that night, and nobody on the pier spoke of the light which had gone out; ");
        novel.push_str(WORDS[number * number % WORDS.len()]);
        novel.push('\n');
    }
    novel
}

/// How often a word stands in the text.
#[inline(never)]
fn count_word(text: &str, word: &str) -> usize {
    text.lines().map(|paragraph| memmem::Finder::new(word).find_iter(paragraph.as_bytes()).count()).sum()
}

/// Books one sale under the lock, and does the sums there too, which is the fault.
#[inline(never)]
fn book_sale(ledger: &Mutex<BTreeMap<u64, u64>>, till: u64) -> u64 {
    let mut ledger = ledger.lock().unwrap_or_else(PoisonError::into_inner);
    let mut checksum = till;
    for price in 0..20_000_u64 {
        checksum = black_box(checksum.rotate_left(5) ^ price);
    }
    *ledger.entry(checksum % 97).or_default() += 1;
    1
}

/// Splits `key=value;key=value;…` into its fields.
#[inline(never)]
fn parse_record(line: &str) -> BTreeMap<String, String> {
    let fields = line.split(';').filter_map(|field| field.split_once('='));
    fields.map(|(key, value)| (key.trim().to_owned(), value.trim().to_uppercase())).collect()
}
