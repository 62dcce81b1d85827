//! The build id: the bytes by which a linker names one particular output.

use std::fmt;

/// A build id as the `NT_GNU_BUILD_ID` note holds it, mostly 20 bytes. `Display` gives lower-case hex.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BuildId(Vec<u8>);

impl BuildId {
    /// Takes the note's bytes; an empty note is no build id.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Option<Self> {
        if bytes.is_empty() { None } else { Some(BuildId(bytes.to_vec())) }
    }

    /// The bytes of the note.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The identifier Breakpad-style tools use for the same file.
    ///
    /// The first 16 bytes (padded with zeros) are read as a GUID, whose three leading fields are little-endian numbers
    /// of 4, 2 and 2 bytes; then follows an "age", which is always 0 for ELF.
    #[must_use]
    pub fn breakpad_id(&self) -> String {
        /// Position of each byte of the text within the build id.
        const ORDER: [usize; 16] = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
        let mut text = String::with_capacity(33);
        for index in ORDER {
            let byte = self.0.get(index).copied().unwrap_or(0);
            push_hex(&mut text, byte, b"0123456789ABCDEF");
        }
        text.push('0');
        text
    }
}

impl fmt::Display for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::with_capacity(self.0.len() * 2);
        for &byte in &self.0 {
            push_hex(&mut text, byte, b"0123456789abcdef");
        }
        f.write_str(&text)
    }
}

impl fmt::Debug for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BuildId({self})")
    }
}

fn push_hex(text: &mut String, byte: u8, digits: &[u8; 16]) {
    text.push(char::from(digits[usize::from(byte >> 4)]));
    text.push(char::from(digits[usize::from(byte & 15)]));
}

#[cfg(test)]
mod tests {
    use super::BuildId;

    #[test]
    fn display_is_lower_case_hex_of_all_bytes() {
        let id = BuildId::new(&[0x01, 0xab, 0xff]).unwrap();
        assert_eq!(id.to_string(), "01abff");
    }

    #[test]
    fn breakpad_id_swaps_the_guid_fields_and_drops_the_rest() {
        let bytes: Vec<u8> = (0x10..0x24).collect();
        assert_eq!(BuildId::new(&bytes).unwrap().breakpad_id(), "131211101514171618191A1B1C1D1E1F0");
    }

    #[test]
    fn breakpad_id_of_a_short_build_id_is_padded() {
        assert_eq!(BuildId::new(&[0xaa, 0xbb]).unwrap().breakpad_id(), "0000BBAA0000000000000000000000000");
    }

    #[test]
    fn an_empty_note_is_no_build_id() {
        assert_eq!(BuildId::new(&[]), None);
    }
}
