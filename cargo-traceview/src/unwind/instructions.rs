//! What few instructions tell: calls, prologues, the linkage table, the end of a signal's handler.

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

/// Where it is written where the call before return address `address` goes to, if that is a fixed place: an entry of the
/// global offset table.
pub(super) fn call_slot(before: &[u8], address: u64) -> Option<u64> {
    let [.., 0xff, 0x15, a, b, c, d] = before else { return None };
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

/// What a function pushed by the time that it came to the end of `code`, which starts where the function does: the
/// numbers of registers in their order, and how many bytes of room it made below them. It stops at the first instruction
/// that belongs to no plain prologue.
pub(super) fn prologue(code: &[u8]) -> (Vec<u16>, u64) {
    // The order of instructions' register numbers, as DWARF has them.
    const NUMBERS: [u16; 8] = [0, 2, 1, 3, 7, 6, 4, 5];
    let mut code = code.strip_prefix(&[0xf3, 0x0f, 0x1e, 0xfa]).unwrap_or(code);
    let mut pushed = Vec::new();
    loop {
        code = match code {
            [0x41, push @ 0x50..=0x57, rest @ ..] => {
                pushed.push(u16::from(push - 0x50) + 8);
                rest
            }
            [push @ 0x50..=0x57, rest @ ..] => {
                pushed.push(NUMBERS[usize::from(push - 0x50)]);
                rest
            }
            // What the compiler's own code at the end of a program tests first: cmpb and cmpq x(%rip), jne and je
            [0x80, 0x3d, _, _, _, _, _, rest @ ..]
            | [0x48, 0x83, 0x3d, _, _, _, _, _, rest @ ..]
            | [0x74 | 0x75, _, rest @ ..] => rest,
            // mov and xor between registers
            [0x48 | 0x49 | 0x4c | 0x4d | 0x41 | 0x44 | 0x45, 0x89 | 0x31, 0xc0..=0xff, rest @ ..]
            | [0x89 | 0x31, 0xc0..=0xff, rest @ ..] => rest,
            [0x48, 0x83, 0xec, room, ..] => return (pushed, u64::from(*room)),
            [0x48, 0x81, 0xec, a, b, c, d, ..] => return (pushed, u64::from(u32::from_le_bytes([*a, *b, *c, *d]))),
            _ => return (pushed, 0),
        };
    }
}

/// Whether code ends with what fills the room between functions: `nop` in its forms, or `int3`. That its last byte could be
/// such a one's is not enough: calls and numbers end with 0 too.
pub(super) fn ends_with_padding(code: &[u8]) -> bool {
    const PADDING: [&[u8]; 7] = [
        &[0x90],
        &[0xcc],
        &[0x0f, 0x1f, 0x00],
        &[0x0f, 0x1f, 0x40, 0x00],
        &[0x0f, 0x1f, 0x44, 0x00, 0x00],
        &[0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00],
        &[0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
    ];
    PADDING.iter().any(|padding| code.ends_with(padding))
}

/// Whether the code at the return address of a signal's handler is what the kernel's frame is left by:
/// `mov $15,%rax; syscall` in its two encodings.
pub(super) fn is_signal_return(code: &[u8]) -> bool {
    code.starts_with(&[0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05]) || code.starts_with(&[0xb8, 15, 0, 0, 0, 0x0f, 0x05])
}

/// What code without rules has on the stack above its return address at an instruction, in bytes, as far as that
/// instruction and those before it in `code` tell; `at` is its place there. `None` if it has a frame.
pub(super) fn pushed_by_frame_code(code: &[u8], at: usize) -> Option<u64> {
    let (before, here) = code.split_at_checked(at)?;
    // mov %rsp,%rbp in its two encodings, behind push %rbp
    if before.ends_with(&[0x55]) && (here.starts_with(&[0x48, 0x89, 0xe5]) || here.starts_with(&[0x48, 0x8b, 0xec])) {
        return Some(8);
    }
    let is_first_or_last = match here {
        // endbr64, push %rbp; mov %rsp,%rbp
        [0xf3, 0x0f, 0x1e, 0xfa, 0x55, ..] | [0x55, 0x48, 0x89 | 0x8b, 0xe5 | 0xec, ..] => true,
        // ret
        [0xc3 | 0xc2, ..] => true,
        _ => false,
    };
    is_first_or_last.then_some(0)
}

/// What a section of stubs has on the stack above the return address at `offset` of it, in bytes. `has_header` says that
/// its first entry is the one that the lazy ones jump to. `None` for what is no such stub.
pub(super) fn pushed_by_stub(section: &[u8], offset: usize, has_header: bool) -> Option<u64> {
    const ENTRY: usize = 16;
    let start = offset - offset % ENTRY;
    let entry = section.get(start..)?;
    // push imm32, behind an indirect jump or endbr64
    let push = [6, 4, 0].into_iter().find(|place| entry.get(*place) == Some(&0x68));
    if has_header && start == 0 {
        // push x(%rip) takes six bytes; what the entry pushed lies above.
        return entry.starts_with(&[0xff, 0x35]).then_some(if offset < 6 { 8 } else { 16 });
    }
    let is_jump = entry.starts_with(&[0xff, 0x25]) || entry.starts_with(&[0xf3, 0x0f, 0x1e, 0xfa]);
    match push {
        Some(place) if offset - start >= place + 5 => Some(8),
        _ => (is_jump || push == Some(0)).then_some(0),
    }
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
        assert_eq!(call_slot(&[0x90, 0xff, 0x15, 0, 1, 0, 0], 0x1000), Some(0x1100));
        assert_eq!(call_slot(&[0x90, 0x90, 0xff, 0xd0], 0x1000), None);
    }

    #[test]
    fn prologues_tell_what_they_push() {
        // push %rbx; push %r14; mov %rdi,%rbx; sub $0x18,%rsp; ret
        let code = [0x53, 0x41, 0x56, 0x48, 0x89, 0xfb, 0x48, 0x83, 0xec, 0x18, 0xc3];
        assert_eq!(prologue(&code), (vec![3, 14], 0x18));
        assert_eq!(prologue(&code[..3]), (vec![3, 14], 0), "in the middle of it");
        assert_eq!(prologue(&[0xf3, 0x0f, 0x1e, 0xfa, 0x50, 0x31, 0xc0, 0xe8]), (vec![0], 0));
        let at_the_end =
            [0x80, 0x3d, 1, 2, 3, 4, 0, 0x75, 0x2b, 0x55, 0x48, 0x83, 0x3d, 1, 2, 3, 4, 0, 0x48, 0x89, 0xe5];
        assert_eq!(prologue(&at_the_end), (vec![6], 0));
        assert_eq!(prologue(&[]), (vec![], 0));
    }

    #[test]
    fn padding_is_told_from_code_that_ends_with_zero() {
        let padding: [&[u8]; 4] = [
            &[0xc3, 0x90],
            &[0xc3, 0xcc],
            &[0xc3, 0x66, 0x0f, 0x1f, 0x44, 0, 0],
            &[0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0],
        ];
        // call, and a mov of 0
        let code: [&[u8]; 3] = [&[0xe8, 0x10, 0x20, 0, 0], &[0xc7, 0x45, 0xf8, 0, 0, 0, 0], &[]];
        assert!(padding.into_iter().all(ends_with_padding) && !code.into_iter().any(ends_with_padding));
    }

    #[test]
    fn frame_code_has_no_frame_at_its_ends() {
        let code = [0x90, 0x55, 0x48, 0x89, 0xe5, 0x90, 0x5d, 0xc3];
        let pushed = |at| pushed_by_frame_code(&code, at);
        assert_eq!([1, 2, 5, 7].map(pushed), [Some(0), Some(8), None, Some(0)]);
        assert_eq!(pushed(9), None);
    }

    #[test]
    fn stubs_push_what_the_linker_needs() {
        let mut table = vec![0x90; 48];
        table[..12].copy_from_slice(&[0xff, 0x35, 1, 2, 3, 4, 0xff, 0x25, 1, 2, 3, 4]);
        table[16..32].copy_from_slice(&[0xff, 0x25, 1, 2, 3, 4, 0x68, 0, 0, 0, 0, 0xe9, 1, 2, 3, 4]);
        table[32..42].copy_from_slice(&[0xf3, 0x0f, 0x1e, 0xfa, 0x68, 1, 0, 0, 0, 0xf2]);
        let pushed = |offset| pushed_by_stub(&table, offset, true);
        assert_eq!([0, 6].map(pushed), [Some(8), Some(16)], "the first entry");
        assert_eq!([16, 22, 27].map(pushed), [Some(0), Some(0), Some(8)], "a lazy entry");
        assert_eq!([32, 36, 41].map(pushed), [Some(0), Some(0), Some(8)], "one for indirect branch tracking");
        assert_eq!(pushed_by_stub(&[0x90; 16], 3, false), None, "no stub at all");
    }
}
