//! Stacks of threads that sleep, without stopping them.
//!
//! Of such a thread the kernel tells program counter and stack pointer, but not the frame pointer. Code without frame
//! pointers is walked by its rules alone; where a function needs its frame pointer, it can be found: the function's prologue
//! says how far above the stack pointer it lies, or else there is a place on the stack with a return address above it,
//! from which the walk leads on to the root. Such places are left over from earlier calls too; the
//! right one is told by the call instructions, which must go to the functions that stand there.

use framehop::FrameAddress;

use super::recording::RawFrame;
use super::walk::{StackCopy, Start, WalkEnd};
use super::{Unwinder, frame};
use crate::sampler::event::{ProcessIndex, Snapshot};

/// Where frame pointers are looked for, in bytes above the stack pointer.
const REACH: u64 = 16 << 10;

/// How many places are tried.
const MOST_TRIES: usize = 64;

impl Unwinder<'_> {
    /// Completes a walk that came to a frame whose frame pointer is not known, if a place can be found that leads on to
    /// the root in a way that the code allows. Whether it could.
    pub(super) fn infer(&mut self, process: ProcessIndex, snapshot: &Snapshot, (at, sp): (FrameAddress, u64)) -> bool {
        let code = &self.spaces[process].code;
        let RawFrame::Code { image, svma } = frame(code, at.address_for_lookup()) else { return false };
        let Some(function) = self.images.function(image, svma) else { return false };
        let size = self.images.code(image, function.start).and_then(frame_size);
        let copy = StackCopy::of(snapshot);
        let images = &self.images;
        let is_after_call = |avma: u64| images.code_before(frame(code, avma.wrapping_sub(1))).is_some_and(is_call);
        let places = places(sp, size, |address| copy.word(address), is_after_call);
        let inner = std::mem::take(&mut self.addresses);
        let right = places.into_iter().find(|place| {
            let start = Start { frame: at, sp, fp: Some(place.address) };
            let (walked, _) = self.walk_from(process, snapshot, start);
            self.judge(process, walked.end) == WalkEnd::Root && (place.exact || self.calls_fit(process))
        });
        let outer = std::mem::replace(&mut self.addresses, inner);
        if right.is_some() {
            self.addresses.extend(&outer[1..]);
        }
        right.is_some()
    }

    /// Whether each call in `self.addresses` goes to the function that stands there, as far as the instructions tell.
    fn calls_fit(&mut self, process: ProcessIndex) -> bool {
        let code = &self.spaces[process].code;
        let images = &mut self.images;
        self.addresses.windows(2).all(|pair| !images.calls_another(frame(code, pair[1]), frame(code, pair[0])))
    }
}

/// How many bytes above its stack pointer the frame pointer of a function lies, if the function starts with a plain
/// prologue: save and set the frame pointer, save registers, make room. `code` is the code from its start on.
///
/// That holds while the function has nothing more on the stack, such as arguments of a call; the caller checks what it
/// finds there.
pub(super) fn frame_size(code: &[u8]) -> Option<u64> {
    // endbr64
    let code = code.strip_prefix(&[0xf3, 0x0f, 0x1e, 0xfa]).unwrap_or(code);
    // push %rbp; mov %rsp,%rbp
    let mut code = code.strip_prefix(&[0x55, 0x48, 0x89, 0xe5])?;
    let mut size = 0;
    loop {
        code = match code {
            // push %r8 … %r15, push %rax … %rdi
            [0x41, 0x50..=0x57, rest @ ..] | [0x50..=0x57, rest @ ..] => {
                size += 8;
                rest
            }
            // mov and xor between registers, which compilers put among the pushes
            [0x48 | 0x49 | 0x4c | 0x4d | 0x41 | 0x44 | 0x45, 0x89 | 0x31, 0xc0..=0xff, rest @ ..]
            | [0x89 | 0x31, 0xc0..=0xff, rest @ ..] => rest,
            // sub $imm8,%rsp
            [0x48, 0x83, 0xec, room, ..] => {
                size += u64::from(*room);
                break;
            }
            // sub $imm32,%rsp
            [0x48, 0x81, 0xec, a, b, c, d, ..] => {
                size += u64::from(u32::from_le_bytes([*a, *b, *c, *d]));
                break;
            }
            _ => break,
        };
    }
    // At every call the stack is aligned to 16 bytes; a size that breaks this was not all of it.
    size.is_multiple_of(16).then_some(size)
}

/// Whether the code up to a return address ends with a call.
pub(super) fn is_call(before: &[u8]) -> bool {
    let last = |count: usize| before.len().checked_sub(count).map(|start| &before[start..]);
    // call rel32
    if last(5).is_some_and(|code| code[0] == 0xe8) {
        return true;
    }
    // call through a register or memory: ff /2 with its forms of address, by length
    (2..=7).any(|len| {
        last(len)
            .is_some_and(|code| code[0] == 0xff && code[1] >> 3 & 7 == 2 && operand_len(code[1], code.get(2)) == len)
    })
}

/// Where the call before return address `address` goes to, if the instruction itself tells.
pub(super) fn call_target(before: &[u8], address: u64) -> Option<u64> {
    let [.., 0xe8, a, b, c, d] = before else { return None };
    Some(address.wrapping_add_signed(i32::from_le_bytes([*a, *b, *c, *d]).into()))
}

/// Length of an `ff /2` instruction with this ModRM and SIB byte.
fn operand_len(modrm: u8, sib: Option<&u8>) -> usize {
    let (mode, register) = (modrm >> 6, modrm & 7);
    if mode == 3 {
        return 2;
    }
    let has_sib = register == 4;
    let displacement = match mode {
        0 if register == 5 || (has_sib && sib.is_some_and(|sib| sib & 7 == 5)) => 4,
        0 => 0,
        1 => 1,
        _ => 4,
    };
    2 + usize::from(has_sib) + displacement
}

/// A place on the stack that can be where a frame pointer points to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    /// Its address.
    pub(super) address: u64,
    /// Whether the function's prologue names it; else it only looks like one.
    pub(super) exact: bool,
}

/// Places that the frame pointer can point to that the walk needs at stack pointer `sp`, the likeliest first: where the
/// prologue says (`size`), then all others within reach. Each has a return address above it.
///
/// What is saved in the place itself tells nothing: it is whatever the caller had in that register.
///
/// `read` gives the word at an address of the stack, if it can be read; `is_after_call` whether an address can be a return
/// address.
pub(super) fn places(
    sp: u64,
    size: Option<u64>,
    read: impl Fn(u64) -> Option<u64>,
    mut is_after_call: impl FnMut(u64) -> bool,
) -> Vec<Place> {
    let mut is_place = |address: u64| read(address + 8).is_some_and(&mut is_after_call);
    let exact = size.and_then(|size| sp.checked_add(size)).filter(|address| is_place(*address));
    if let Some(address) = exact {
        return vec![Place { address, exact: true }];
    }
    let end = sp.saturating_add(REACH);
    let found = (sp.next_multiple_of(8)..end).step_by(8).filter(|address| is_place(*address)).take(MOST_TRIES);
    found.map(|address| Place { address, exact: false }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prologues_tell_the_size_of_a_frame() {
        let cases: [(&[u8], Option<u64>); 8] = [
            (&[0x55, 0x48, 0x89, 0xe5, 0xc3], Some(0)),
            (&[0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0x41, 0x57, 0x53, 0x90], Some(16)),
            // push %rbx; mov %rdi,%r14; sub $0x28,%rsp
            (&[0x55, 0x48, 0x89, 0xe5, 0x53, 0x49, 0x89, 0xfe, 0x48, 0x83, 0xec, 0x28], Some(0x30)),
            // something between the pushes that is not understood
            (&[0x55, 0x48, 0x89, 0xe5, 0x53, 0x0f, 0x1f, 0x00, 0x48, 0x83, 0xec, 0x28], None),
            (&[0x55, 0x48, 0x89, 0xe5, 0x53, 0x48, 0x83, 0xec, 0x28], Some(0x30)),
            (&[0x55, 0x48, 0x89, 0xe5, 0x48, 0x81, 0xec, 0x00, 0x01, 0, 0], Some(0x100)),
            (&[0x48, 0x83, 0xec, 0x28], None),
            (&[], None),
        ];
        for (code, size) in cases {
            assert_eq!(frame_size(code), size, "{code:x?}");
        }
    }

    #[test]
    fn calls_are_recognized_in_all_their_forms() {
        let calls: [&[u8]; 8] = [
            &[0xe8, 1, 2, 3, 4],
            &[0xff, 0xd0],                   // call *%rax
            &[0x41, 0xff, 0xd4],             // call *%r12
            &[0xff, 0x15, 1, 2, 3, 4],       // call *x(%rip)
            &[0xff, 0x53, 0x18],             // call *0x18(%rbx)
            &[0xff, 0x14, 0xc8],             // call *(%rax,%rcx,8)
            &[0xff, 0x94, 0x24, 1, 2, 3, 4], // call *x(%rsp)
            &[0xff, 0x14, 0xcd, 1, 2, 3, 4], // call *x(,%rcx,8)
        ];
        for call in calls {
            assert!(is_call(&[&[0x90; 8], call].concat()), "{call:x?}");
        }
        let others: [&[u8]; 4] = [&[0x90, 0x90, 0x90], &[0xff, 0xe0], &[0xff, 0x25, 1, 2, 3, 4], &[]];
        for other in others {
            assert!(!is_call(other), "{other:x?}");
        }
    }

    #[test]
    fn direct_calls_tell_where_they_go() {
        assert_eq!(call_target(&[0x90, 0x90, 0xe8, 0x10, 0, 0, 0], 0x1000), Some(0x1010));
        assert_eq!(call_target(&[0x90, 0x90, 0xe8, 0xf0, 0xff, 0xff, 0xff], 0x1000), Some(0xff0));
        assert_eq!(call_target(&[0x90, 0xff, 0x15, 1, 2, 3, 4], 0x1000), None);
    }

    #[test]
    fn the_place_that_the_prologue_names_is_the_only_one_if_it_fits() {
        // Return addresses at 0x1018 and 0x1038.
        let words = [0, 0, 0x1030, 7, 0, 0, 0xbad, 7, 0, 0];
        let read = |address: u64| words.get(usize::try_from((address - 0x1000) / 8).ok()?).copied();
        let found = |size| places(0x1000, size, read, |address| address == 7);
        let place = |address, exact| Place { address, exact };
        assert_eq!(found(Some(0x10)), [place(0x1010, true)]);
        assert_eq!(found(Some(0x20)), [place(0x1010, false), place(0x1030, false)], "a wrong size is not trusted");
        assert_eq!(found(None), [place(0x1010, false), place(0x1030, false)]);
    }
}
