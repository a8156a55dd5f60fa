//! Ports that are derived from a key, such as the name of a parent: the same key has the same port, as long as no
//! other has it.

use std::{collections::BTreeSet, ops::RangeInclusive};

use super::digest;

/// All ports of a range are taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no port from {first} to {last} is free: all are taken")]
pub struct NoFreePort {
    first: u16,
    last: u16,
}

/// A port of a range for a key, which is none of those taken.
///
/// The digest of the key chooses the port; where that is taken, the next free one follows. So a key keeps its port
/// while others come and go, unless it had to give way: keep the port that a key has, and do not pass it as taken.
///
/// Two parents that are reconciled at the same time do not see each other's choice. The server refuses a node port
/// that is taken; for any other range let one parent choose for all.
///
/// ```
/// use operetta::recipes::stable_port;
///
/// let port = stable_port(30000..=32767, "default/shop", [])?;
/// assert_eq!(port, stable_port(30000..=32767, "default/shop", [])?);
/// assert_ne!(port, stable_port(30000..=32767, "default/shop", [port])?);
/// # Ok::<(), operetta::recipes::NoFreePort>(())
/// ```
///
/// # Errors
/// All are taken, or the range is empty.
pub fn stable_port(
    range: RangeInclusive<u16>,
    key: &str,
    taken: impl IntoIterator<Item = u16>,
) -> Result<u16, NoFreePort> {
    let taken: BTreeSet<u16> = taken.into_iter().collect();
    let (first, last) = (*range.start(), *range.end());
    let count = (u64::from(last) + 1).saturating_sub(u64::from(first));
    let offset = number_of(key).checked_rem(count).and_then(|offset| u16::try_from(offset).ok());
    let start = offset.map_or(first, |offset| first + offset);
    let free = (start..=last).chain(first..start).find(|port| !taken.contains(port));
    free.ok_or(NoFreePort { first, last })
}

fn number_of(key: &str) -> u64 {
    let digest = digest::of_texts(&[key]);
    digest[..8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_port_is_given_once_and_then_none() {
        let mut taken = BTreeSet::new();
        for key in 0..10 {
            let port = stable_port(65526..=65535, &key.to_string(), taken.iter().copied()).unwrap();
            assert!((65526..=65535).contains(&port) && taken.insert(port));
        }
        let error = stable_port(65526..=65535, "x", taken).unwrap_err();
        assert_eq!(error.to_string(), "no port from 65526 to 65535 is free: all are taken");
        #[expect(clippy::reversed_empty_ranges, reason = "an empty range")]
        let empty = stable_port(2..=1, "x", []);
        assert_eq!(empty, Err(NoFreePort { first: 2, last: 1 }));
        assert_eq!(stable_port(0..=65535, "x", []), stable_port(0..=65535, "x", [0]));
    }

    #[test]
    fn the_port_of_a_key_does_not_depend_on_others_unless_it_is_taken() {
        let range = || 30000..=32767;
        let port = stable_port(range(), "a", []).unwrap();
        let others: Vec<u16> = range().filter(|other| *other != port).collect();
        assert_eq!(stable_port(range(), "a", others.clone()), Ok(port));
        assert_ne!(stable_port(range(), "a", [port]), Ok(port));
        // The same in each version of Operetta.
        assert_eq!(port, 30981);
    }
}
