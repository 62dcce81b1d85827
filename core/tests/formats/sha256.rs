//! SHA-256, by which expected values name lists that are too long to keep.

/// The digest of `bytes` in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let (first, constants) = constants();
    let mut state = first;
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    padded.resize((padded.len() + 8).next_multiple_of(64) - 8, 0);
    padded.extend((bytes.len() as u64 * 8).to_be_bytes());
    for block in padded.chunks(64) {
        let mut words: Vec<u32> =
            block.chunks(4).map(|four| u32::from_be_bytes(four.try_into().expect("four bytes"))).collect();
        for at in 16..64 {
            let (near, far) = (words[at - 2], words[at - 15]);
            let near = near.rotate_right(17) ^ near.rotate_right(19) ^ (near >> 10);
            let far = far.rotate_right(7) ^ far.rotate_right(18) ^ (far >> 3);
            words.push(words[at - 16].wrapping_add(far).wrapping_add(words[at - 7]).wrapping_add(near));
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
        for (word, constant) in words.iter().zip(constants) {
            let turned = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let one =
                h.wrapping_add(turned).wrapping_add((e & f) ^ (!e & g)).wrapping_add(constant).wrapping_add(*word);
            let turned = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let two = turned.wrapping_add((a & b) ^ (a & c) ^ (b & c));
            (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(one), c, b, a, one.wrapping_add(two));
        }
        for (sum, part) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *sum = sum.wrapping_add(part);
        }
    }
    state.map(|word| format!("{word:08x}")).concat()
}

/// The first 32 bits of the fractions of square roots and of cube roots of the first primes.
fn constants() -> ([u32; 8], [u32; 64]) {
    let is_prime = |number: &u128| (2..*number).all(|divisor| !number.is_multiple_of(divisor));
    let primes: Vec<u128> = (2..).filter(is_prime).take(64).collect();
    // The greatest number whose power is not above `value`.
    let root = |value: u128, power: u32| {
        let below = |bits: u128, bit: u32| if (bits | 1 << bit).pow(power) <= value { bits | 1 << bit } else { bits };
        (0..36).rev().fold(0, below)
    };
    let fraction = |root: u128| u32::try_from(root & 0xffff_ffff).expect("32 bits");
    let first = std::array::from_fn(|at| fraction(root(primes[at] << 64, 2)));
    (first, std::array::from_fn(|at| fraction(root(primes[at] << 96, 3))))
}

#[test]
fn known_digests() {
    assert_eq!(hex(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_eq!(hex(&[b'a'; 64]), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}
