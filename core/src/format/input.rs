//! Bytes from where there may be no end of them.

use std::io::{self, Read};

use super::{ReadOptions, can_begin};

/// How much is read between two calls of the one who waits.
const STEP: u64 = 1 << 20;

/// All bytes of `input`, or as many of them as it takes to see that they are no profile or too large: some inputs have
/// no end. [`read`](super::read) then says what is wrong with them.
///
/// `go_on` is called now and then with the number of bytes read so far. When it returns `false` the answer is `None`.
///
/// # Errors
/// What `input` says.
pub fn read_input(
    mut input: impl Read,
    options: &ReadOptions,
    mut go_on: impl FnMut(u64) -> bool,
) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    loop {
        if !go_on(bytes.len() as u64) {
            return Ok(None);
        }
        let is_start = bytes.is_empty();
        let got = input.by_ref().take(STEP).read_to_end(&mut bytes)?;
        let is_hopeless = is_start && !can_begin(&bytes);
        if got == 0 || is_hopeless || bytes.len() as u64 > options.max_size {
            return Ok(Some(bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length(input: impl Read, max_size: u64) -> u64 {
        let bytes =
            read_input(input, &ReadOptions { max_size, ..ReadOptions::default() }, |_| true).expect("it can be read");
        bytes.expect("nobody gave up").len() as u64
    }

    #[test]
    fn what_never_ends_is_not_read_to_its_end() {
        assert_eq!(length(io::repeat(0), 1 << 40), STEP, "no format begins so");
        let largest = 3 * STEP;
        assert!((largest + 1..=largest + STEP).contains(&length(b"{".chain(io::repeat(b' ')), largest)));
    }

    #[test]
    fn all_of_a_file_is_read_and_told_on_the_way() {
        let text = format!("{{{}", " ".repeat(3 << 20));
        let mut told = Vec::new();
        let bytes = read_input(text.as_bytes(), &ReadOptions::default(), |so_far| {
            told.push(so_far);
            true
        });
        assert_eq!(bytes.expect("it can be read").as_deref(), Some(text.as_bytes()));
        assert_eq!(told, [0, STEP, 2 * STEP, 3 * STEP, 3 * STEP + 1]);
    }

    #[test]
    fn whoever_gives_up_gets_nothing() {
        let bytes = read_input(b"{".chain(io::repeat(b' ')), &ReadOptions::default(), |so_far| so_far < 2 * STEP);
        assert!(matches!(bytes, Ok(None)));
    }
}
