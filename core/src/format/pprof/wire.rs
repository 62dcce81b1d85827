//! Walks over the fields of a message in place, with the offset in the file of each. Groups, which no version of the format
//! ever had, are refused as pprof does.

use super::super::ReadError;

/// Some bytes of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a> {
    pub bytes: &'a [u8],
    /// Where in the file they begin.
    pub offset: usize,
}

/// A field of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field<'a> {
    pub number: u64,
    pub value: Value<'a>,
    /// Where in the file it begins.
    pub offset: usize,
}

/// What is in a field.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'a> {
    Number(u64),
    Bytes(Part<'a>),
    /// Four or eight bytes, which nothing here is encoded as.
    Fixed,
}

/// The fields of a message, one after the other.
pub(super) struct Fields<'a> {
    message: Part<'a>,
    /// How much of it was walked over.
    at: usize,
    /// Whether the message is the file, so that its end is the end of everything.
    is_file: bool,
}

/// Numbers are not longer than this.
pub(super) const MAX_VARINT: usize = 10;

/// The number of seven bits a byte that begins at `at`, which moves behind it; `None` if it has no end.
#[inline]
pub(super) fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let first = *bytes.get(*at)?;
    if first < 0x80 {
        *at += 1;
        return Some(first.into());
    }
    let mut number = u64::from(first & 0x7f);
    for (index, byte) in bytes[*at..].iter().enumerate().take(MAX_VARINT).skip(1) {
        number |= u64::from(byte & 0x7f) << (7 * index);
        if *byte < 0x80 {
            *at += index + 1;
            return Some(number);
        }
    }
    None
}

impl<'a> Fields<'a> {
    pub(super) fn of_file(bytes: &'a [u8]) -> Self {
        Self { message: Part { bytes, offset: 0 }, at: 0, is_file: true }
    }

    pub(super) fn of(message: Part<'a>) -> Self {
        Self { message, at: 0, is_file: false }
    }

    /// The next field; `None` behind the last one.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<Field<'a>>, ReadError> {
        if self.at == self.message.bytes.len() {
            return Ok(None);
        }
        let offset = self.message.offset + self.at;
        let key = self.number()?;
        let value = match key & 7 {
            0 => Value::Number(self.number()?),
            1 => self.fixed(8)?,
            2 => {
                let len = self.number()?;
                Value::Bytes(self.take(len)?)
            }
            5 => self.fixed(4)?,
            kind @ (3 | 4) => {
                return Err(syntax(
                    offset,
                    format!("a group (field {}, wire type {kind}), which pprof files have none of", key >> 3),
                ));
            }
            kind => return Err(syntax(offset, format!("wire type {kind} of field {} does not exist", key >> 3))),
        };
        Ok(Some(Field { number: key >> 3, value, offset }))
    }

    fn number(&mut self) -> Result<u64, ReadError> {
        match varint(self.message.bytes, &mut self.at) {
            Some(number) => Ok(number),
            None if self.message.bytes.len() - self.at >= MAX_VARINT => {
                Err(syntax(self.message.offset + self.at, "a number of more than 64 bits".to_owned()))
            }
            None => Err(self.too_short()),
        }
    }

    fn fixed(&mut self, len: u64) -> Result<Value<'a>, ReadError> {
        self.take(len).map(|_| Value::Fixed)
    }

    fn take(&mut self, len: u64) -> Result<Part<'a>, ReadError> {
        let start = self.at;
        let end = usize::try_from(len).ok().and_then(|len| start.checked_add(len));
        let bytes = end.and_then(|end| self.message.bytes.get(start..end)).ok_or_else(|| self.too_short())?;
        self.at += bytes.len();
        Ok(Part { bytes, offset: self.message.offset + start })
    }

    fn too_short(&self) -> ReadError {
        if self.is_file {
            ReadError::Truncated { offset: self.message.bytes.len() }
        } else {
            syntax(self.message.offset + self.at, "a field goes on behind the end of its message".to_owned())
        }
    }
}

impl<'a> Field<'a> {
    /// A message, text or packed numbers.
    #[inline]
    pub(super) fn bytes(self) -> Result<Part<'a>, ReadError> {
        match self.value {
            Value::Bytes(part) => Ok(part),
            Value::Number(_) | Value::Fixed => Err(self.wrong("a number, not bytes")),
        }
    }

    /// A number.
    #[inline]
    pub(super) fn number(self) -> Result<u64, ReadError> {
        match self.value {
            Value::Number(number) => Ok(number),
            Value::Bytes(_) | Value::Fixed => Err(self.wrong("not a number of variable length")),
        }
    }

    /// A number that has a sign.
    #[inline]
    pub(super) fn signed(self) -> Result<i64, ReadError> {
        self.number().map(u64::cast_signed)
    }

    /// One number, or as many as were packed together.
    #[inline]
    pub(super) fn numbers(self, mut each: impl FnMut(u64)) -> Result<(), ReadError> {
        let packed = match self.value {
            Value::Number(number) => {
                each(number);
                return Ok(());
            }
            Value::Bytes(packed) => packed,
            Value::Fixed => return Err(self.wrong("no numbers of variable length")),
        };
        let mut at = 0;
        while at < packed.bytes.len() {
            let Some(number) = varint(packed.bytes, &mut at) else {
                return Err(syntax(packed.offset + at, "a packed number has no end".to_owned()));
            };
            each(number);
        }
        Ok(())
    }

    fn wrong(self, what: &str) -> ReadError {
        syntax(self.offset, format!("field {} is {what}", self.number))
    }
}

pub(super) fn syntax(offset: usize, message: String) -> ReadError {
    ReadError::Syntax { offset, message }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(bytes: &[u8]) -> Result<Vec<(u64, usize)>, String> {
        let mut fields = Fields::of_file(bytes);
        let mut found = Vec::new();
        while let Some(field) = fields.next().map_err(|error| error.to_string())? {
            found.push((field.number, field.offset));
        }
        Ok(found)
    }

    #[test]
    fn fields_are_met_with_their_places() {
        let bytes = [0x08, 0x96, 0x01, 0x12, 2, 0xff, 0xff, 0x1d, 1, 2, 3, 4, 0x21, 1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(walk(&bytes), Ok(vec![(1, 0), (2, 3), (3, 7), (4, 12)]));
        for len in [1, 2, 4, 6, 9, 15] {
            let error = walk(&bytes[..len]).expect_err("cut off");
            assert_eq!(
                error,
                format!("the file ends too early, at byte {len}: it is incomplete, copy or record it again")
            );
        }
    }

    #[test]
    fn groups_and_endless_numbers_are_refused() {
        let group = walk(&[0x08, 1, 0x13]).expect_err("a group");
        assert_eq!(group, "byte 2: a group (field 2, wire type 3), which pprof files have none of");
        assert_eq!(walk(&[0x0e]).expect_err("no such type"), "byte 0: wire type 6 of field 1 does not exist");
        assert_eq!(walk(&[0xff; 12]).expect_err("too long"), "byte 0: a number of more than 64 bits");
    }

    #[test]
    fn numbers_are_read_packed_or_one_by_one() {
        for bytes in [&[0x0a, 3, 1, 0xac, 0x02][..], &[0x08, 1, 0x08, 0xac, 0x02]] {
            let (mut fields, mut numbers) = (Fields::of_file(bytes), Vec::new());
            while let Some(field) = fields.next().expect("sound") {
                field.numbers(|number| numbers.push(number)).expect("sound");
            }
            assert_eq!(numbers, [1, 300]);
        }
        let mut at = 0;
        let largest = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
        assert_eq!((varint(&largest, &mut at), at), (Some(u64::MAX), 10));
    }
}
