//! A program of the corpus: generics, closures, traits, collections, and parts in C and C++. It is compiled by the test.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

unsafe extern "C" {
    fn c_sort(values: *mut u32, len: usize) -> u64;
    fn cpp_mix(value: u64) -> u64;
}

trait Shape {
    fn area(&self) -> u64;
}

struct Square(u64);

struct Rectangle {
    width: u64,
    height: u64,
}

impl Shape for Square {
    fn area(&self) -> u64 {
        twice(self.0) * self.0
    }
}

impl Shape for Rectangle {
    fn area(&self) -> u64 {
        [self.width, self.height].iter().map(|side| twice(*side)).product()
    }
}

#[inline(always)]
fn twice(value: u64) -> u64 {
    let value = std::hint::black_box(value);
    value.wrapping_mul(2) ^ inner(value)
}

#[inline(always)]
fn inner(value: u64) -> u64 {
    std::hint::black_box(value.rotate_left(7)).wrapping_add(3)
}

#[inline(never)]
fn shapes(count: u64) -> u64 {
    let shapes: Vec<Box<dyn Shape>> = (0..count)
        .map(|index| -> Box<dyn Shape> {
            if index % 3 == 0 { Box::new(Square(index)) } else { Box::new(Rectangle { width: index, height: 2 }) }
        })
        .collect();
    shapes.iter().map(|shape| shape.area()).fold(0, u64::wrapping_add)
}

#[inline(never)]
fn words(text: &str) -> BTreeMap<String, usize> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for word in text.split_whitespace().filter(|word| word.len() > 2) {
        *counts.entry(word).or_default() += 1;
    }
    counts.into_iter().map(|(word, count)| (word.to_uppercase(), count)).collect()
}

#[inline(never)]
fn sorted<T: Ord + Copy>(values: &[T]) -> Vec<T> {
    let mut values = values.to_vec();
    values.sort_unstable_by(|a, b| b.cmp(a));
    values.dedup();
    values
}

mod nested {
    pub struct Deep<T>(pub T);

    impl<T: Into<u64> + Copy> Deep<T> {
        #[inline(never)]
        pub fn checked(&self, by: u64) -> Result<u64, String> {
            let value: u64 = self.0.into();
            value.checked_div(by).ok_or_else(|| format!("{value} by {by}"))
        }
    }
}

fn main() {
    let count = std::env::args().count() as u64 * 100;
    let mut text = String::new();
    for index in 0..count {
        let _ = write!(text, "word{} and {} ", index % 17, nested::Deep(index).checked(index % 5).unwrap_or(7));
    }
    let mut values: Vec<u32> = (0..count as u32).map(|value| value.wrapping_mul(2_654_435_761)).collect();
    // SAFETY: the part in C stays within the slice.
    let (sum, mixed) = unsafe { (c_sort(values.as_mut_ptr(), values.len()), cpp_mix(count)) };
    println!("{} {:?} {} {sum} {mixed}", shapes(count), words(&text), sorted(&values).len());
}
