//! The decision about a request.

use std::{fmt, time::Instant};

use super::Target;

/// The decision about a request, or about a frame of a watch that a rule struck.
#[derive(Debug, Clone)]
pub struct Decision {
    /// Counts decisions from 0.
    pub number: usize,
    /// When.
    pub at: Instant,
    /// What it was about.
    pub target: Target,
    /// The number of the rule that struck, and its fault; `None` when the request went through.
    pub struck: Option<(usize, String)>,
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.number, self.target)?;
        match &self.struck {
            Some((rule, fault)) => write!(f, ": {fault} (rule {rule})"),
            None => Ok(()),
        }
    }
}

/// A number from 0 to 1 that follows from a seed, a rule, and a count of one target: it does not
/// depend on the order of requests about different targets. (The finaliser of `SplitMix64` over a
/// Fowler-Noll-Vo hash.)
pub(super) fn chance(seed: u64, rule: usize, target: &Target, count: usize) -> f64 {
    let mut bits = seed ^ 0xcbf2_9ce4_8422_2325;
    let text = format!("{rule} {count} {} {} {:?}", target.verb, target.path, target.name);
    for byte in text.bytes() {
        bits = (bits ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^= bits >> 31;
    f64::from(u32::try_from(bits >> 32).unwrap_or(u32::MAX)) / f64::from(u32::MAX)
}
