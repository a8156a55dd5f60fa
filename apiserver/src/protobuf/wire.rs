//! The records of a message: field number and payload. The messages of errors are those of the Go
//! code that the real server was generated with.

use prost::{
    bytes::Buf,
    encoding::{DecodeContext, WireType, decode_varint, encode_key, encode_varint, skip_field},
};

/// Why bytes are no message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Malformed {
    #[error("empty data")]
    NoData,
    #[error("empty body")]
    NoBody,
    #[error(
        "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
    )]
    NoPrefix,
    #[error("unexpected EOF")]
    Cut,
    #[error("proto: integer overflow")]
    Overflow,
    #[error("proto: negative length found during unmarshaling")]
    NegativeLength,
    #[error("proto: illegal wireType {0}")]
    IllegalWireType(u64),
    #[error("proto: {message}: illegal tag {number} (wire type {key})")]
    IllegalTag { message: &'static str, number: i32, key: u64 },
    #[error("proto: {0}: wiretype end group for non-group")]
    EndGroup(&'static str),
    #[error("proto: wrong wireType = {given} for field {field}")]
    WrongWireType { given: u8, field: String },
    #[error("the message is nested too deeply")]
    TooDeep,
    #[error("{0}")]
    Value(String),
}

/// What a record holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Payload<'a> {
    Varint(u64),
    Fixed64(u64),
    Fixed32,
    Bytes(&'a [u8]),
    Group,
}

impl<'a> Payload<'a> {
    /// The bytes of a string or message.
    pub(super) fn bytes(self, field: &str) -> Result<&'a [u8], Malformed> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            _ => Err(self.wrong(field)),
        }
    }

    /// A number or boolean.
    pub(super) fn varint(self, field: &str) -> Result<u64, Malformed> {
        match self {
            Self::Varint(number) => Ok(number),
            _ => Err(self.wrong(field)),
        }
    }

    /// The failure when a field has a payload of another kind.
    pub(super) fn wrong(self, field: &str) -> Malformed {
        let given = match self {
            Self::Varint(_) => 0,
            Self::Fixed64(_) => 1,
            Self::Bytes(_) => 2,
            Self::Group => 3,
            Self::Fixed32 => 5,
        };
        Malformed::WrongWireType { given, field: capitalised(field) }
    }
}

/// As Go names most fields.
fn capitalised(name: &str) -> String {
    if name == "metadata" {
        return "ObjectMeta".to_owned();
    }
    let mut rest = name.chars();
    rest.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(rest).collect()
}

/// The records of a message with a name.
pub(super) struct Records<'a> {
    rest: &'a [u8],
    message: &'static str,
}

impl<'a> Records<'a> {
    pub(super) fn new(message: &'static str, bytes: &'a [u8]) -> Self {
        Self { rest: bytes, message }
    }

    fn record(&mut self) -> Result<(u32, Payload<'a>), Malformed> {
        let key = varint(&mut self.rest)?;
        if key & 7 == 4 {
            return Err(Malformed::EndGroup(self.message));
        }
        // Go cuts the number off to 32 bits.
        #[expect(clippy::cast_possible_truncation, reason = "as Go")]
        let number = (key >> 3) as i32;
        let illegal = |_| Malformed::IllegalTag { message: self.message, number, key };
        let tag = u32::try_from(number).map_err(illegal)?;
        if tag == 0 {
            return Err(Malformed::IllegalTag { message: self.message, number, key });
        }
        Ok((tag, payload(key & 7, tag, &mut self.rest)?))
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<(u32, Payload<'a>), Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let record = self.record();
        if record.is_err() {
            self.rest = &[];
        }
        Some(record)
    }
}

fn payload<'a>(wire_type: u64, tag: u32, rest: &mut &'a [u8]) -> Result<Payload<'a>, Malformed> {
    match wire_type {
        0 => varint(rest).map(Payload::Varint),
        1 => rest.try_get_u64_le().map(Payload::Fixed64).map_err(|_| Malformed::Cut),
        2 => delimited(rest).map(Payload::Bytes),
        3 => skip_field(WireType::StartGroup, tag, rest, DecodeContext::default())
            .map(|()| Payload::Group)
            .map_err(|_| Malformed::Cut),
        5 => rest.try_get_u32_le().map(|_| Payload::Fixed32).map_err(|_| Malformed::Cut),
        other => Err(Malformed::IllegalWireType(other)),
    }
}

fn delimited<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8], Malformed> {
    let length = i64::try_from(varint(rest)?).map_err(|_| Malformed::NegativeLength)?;
    let length = usize::try_from(length).map_err(|_| Malformed::NegativeLength)?;
    let (bytes, after) = rest.split_at_checked(length).ok_or(Malformed::Cut)?;
    *rest = after;
    Ok(bytes)
}

/// One number; also for the elements of a packed list.
pub(super) fn varint(rest: &mut &[u8]) -> Result<u64, Malformed> {
    let is_cut = rest.len() < 10 && rest.iter().all(|byte| *byte >= 0x80);
    decode_varint(rest).map_err(|_| if is_cut { Malformed::Cut } else { Malformed::Overflow })
}

/// Writes a number.
pub(crate) fn put_varint(number: u32, value: u64, out: &mut Vec<u8>) {
    encode_key(number, WireType::Varint, out);
    encode_varint(value, out);
}

/// Writes a floating-point number.
pub(crate) fn put_double(number: u32, value: f64, out: &mut Vec<u8>) {
    encode_key(number, WireType::SixtyFourBit, out);
    out.extend_from_slice(&value.to_le_bytes());
}

/// Writes a string or bytes.
pub(crate) fn put_bytes(number: u32, bytes: &[u8], out: &mut Vec<u8>) {
    encode_key(number, WireType::LengthDelimited, out);
    encode_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// Writes a message.
pub(crate) fn put_message(number: u32, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let mut inner = Vec::new();
    write(&mut inner);
    put_bytes(number, &inner, out);
}
