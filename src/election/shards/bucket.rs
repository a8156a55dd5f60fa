//! The 64 buckets of parents, and sets of them.

use std::{fmt, num::ParseIntError, str::FromStr};

use crate::object::Uid;

/// How many buckets there are.
pub(crate) const BUCKETS: u8 = 64;

/// A part of all parents: those whose uid has the same top six bits in its hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Bucket(u8);

/// A set of buckets.
#[derive(Clone, Copy, PartialEq, Eq, Default, Hash)]
pub(crate) struct Buckets(u64);

impl Bucket {
    /// The bucket whose member does what belongs to the group.
    pub(crate) const FIRST: Self = Self(0);

    /// The bucket of a uid. The hash is that of `shardSelector` (KEP-5866), so that a bucket is a range which the API
    /// server can select.
    pub(crate) fn of(uid: &Uid) -> Self {
        Self::of_text(&uid.to_string())
    }

    /// The same of a uid that was read from an object.
    pub(crate) fn of_text(uid: &str) -> Self {
        let top = fnv_1a(uid.as_bytes()) >> (u64::BITS - 6);
        Self(u8::try_from(top).unwrap_or_default())
    }

    /// The bucket with a number below [`BUCKETS`].
    pub(crate) fn numbered(number: u8) -> Option<Self> {
        (number < BUCKETS).then_some(Self(number))
    }

    pub(crate) fn number(self) -> u8 {
        self.0
    }

    pub(crate) fn all() -> impl Iterator<Item = Self> {
        (0..BUCKETS).map(Self)
    }
}

impl Buckets {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const ALL: Self = Self(u64::MAX);

    pub(crate) fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub(crate) fn bits(self) -> u64 {
        self.0
    }

    pub(crate) fn has(self, bucket: Bucket) -> bool {
        self.0 >> bucket.0 & 1 == 1
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn len(self) -> u32 {
        self.0.count_ones()
    }

    pub(crate) fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    pub(crate) fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    pub(crate) fn within(self, others: Self) -> Self {
        Self(self.0 & others.0)
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = Bucket> {
        Bucket::all().filter(move |bucket| self.has(*bucket))
    }

    /// The numbers of the first and the last bucket of each gapless part.
    pub(crate) fn ranges(self) -> Vec<(u8, u8)> {
        let mut ranges: Vec<(u8, u8)> = Vec::new();
        for Bucket(number) in self.iter() {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == number => *last = number,
                _ => ranges.push((number, number)),
            }
        }
        ranges
    }
}

impl From<Bucket> for Buckets {
    fn from(bucket: Bucket) -> Self {
        Self(1 << bucket.0)
    }
}

impl FromIterator<Bucket> for Buckets {
    fn from_iter<I: IntoIterator<Item = Bucket>>(buckets: I) -> Self {
        buckets.into_iter().fold(Self::NONE, |all, bucket| all.with(bucket.into()))
    }
}

impl fmt::Display for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// As ranges: `0-20,42`.
impl fmt::Display for Buckets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (first, last)) in self.ranges().into_iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            if first == last {
                write!(f, "{comma}{first}")?;
            } else {
                write!(f, "{comma}{first}-{last}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Buckets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buckets({self})")
    }
}

/// A text that is no set of buckets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BucketsError {
    #[error("{0} is no number of a bucket")]
    Number(#[from] ParseIntError),
    #[error("bucket {0} does not exist: the last one is 63")]
    TooLarge(u8),
    #[error("{0}-{1} is no range of buckets")]
    Range(u8, u8),
}

impl FromStr for Buckets {
    type Err = BucketsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut all = Self::NONE;
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (first.parse()?, last.parse()?);
            if first > last {
                return Err(BucketsError::Range(first, last));
            }
            let last = Bucket::numbered(last).ok_or(BucketsError::TooLarge(last))?;
            all = all.with((first..=last.0).map(Bucket).collect());
        }
        Ok(all)
    }
}

/// The hash of `apimachinery/pkg/sharding`: FNV-1a in 64 bits.
pub(super) fn fnv_1a(bytes: &[u8]) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    bytes.iter().fold(OFFSET, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_the_api_server() {
        // What `hash/fnv` of Go answers.
        for (text, hash) in [
            ("", 0xcbf2_9ce4_8422_2325),
            ("a", 0xaf63_dc4c_8601_ec8c),
            ("foobar", 0x8594_4171_f739_67e8),
        ] {
            assert_eq!(fnv_1a(text.as_bytes()), hash, "{text}");
        }
    }

    #[test]
    fn uids_fill_all_buckets() {
        let mut counts = [0_u32; BUCKETS as usize];
        for number in 0..6_400_u128 {
            let uid = uuid::Uuid::from_u128(number.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060));
            counts[usize::from(Bucket::of(&Uid::new(&uid.to_string())).number())] += 1;
        }
        let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
        assert!(*least > 50 && *most < 200, "{counts:?}");
    }

    #[test]
    fn a_set_is_written_and_read_as_ranges() {
        for text in ["", "0", "63", "0-63", "0-20,42", "1,3,5-6,8-63"] {
            assert_eq!(text.parse::<Buckets>().unwrap().to_string(), text);
        }
        assert_eq!("0-63".parse(), Ok(Buckets::ALL));
        for wrong in ["64", "0-64", "5-3", "x", "1-", "-1", "300"] {
            assert!(wrong.parse::<Buckets>().is_err(), "{wrong}");
        }
    }
}
