//! Random texts for parsers: whatever a client sends, a parser ends, does not panic, and makes something bounded of it.
//!
//! A loop without end cannot be seen from outside, so that the loops of parsers assert their progress themselves.

use std::{
    env,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
};

/// How many texts a parser gets, unless `OPERETTA_RANDOM_TEXTS` says how many.
const TEXTS: u64 = 5_000;
/// How many tokens a text has at most.
const TOKENS: usize = 24;
/// How long a text of one token is: a parser that calls itself for each of them overflows its stack.
const LONG: usize = 60_000;

/// What no grammar expects.
const ODD: [&str; 16] = [
    "",
    "\0",
    "\\",
    "\u{feff}",
    "é",
    "\u{202e}",
    "𝔘",
    "\u{ffff}",
    "'",
    "\"",
    "\n",
    "\r\n",
    "\t",
    "%",
    "9223372036854775808",
    "-170141183460469231731687303715884105728",
];

/// The tokens of JSON, and broken ones.
pub const JSON: [&str; 26] = [
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"a\"",
    "\"a\":",
    "\"",
    "\\",
    "\\u12",
    "\\n",
    "1",
    "-",
    "0",
    ".5",
    "e+",
    "true",
    "fals",
    "null",
    " ",
    "\n",
    "{\"a\":1}",
    "[1,",
    "\t",
    "1e999",
];

/// The tokens of times and durations, and broken ones.
pub const TIMES: [&str; 24] = [
    "2024-02-29",
    "T",
    "t",
    "10:00:00",
    "23:59:60",
    ".5",
    ".123456",
    "Z",
    "z",
    "+01:00",
    "-24:00",
    "1",
    "h",
    "m",
    "ms",
    "ns",
    "µs",
    ".",
    "-",
    "+",
    ":",
    " days",
    "9223372036854775807",
    "170141183460469231731687303715884105727",
];

/// Gives a parser texts that are made of the tokens of its grammar, with errors: 5,000, or `OPERETTA_RANDOM_TEXTS`.
///
/// # Panics
///
/// If the parser panics, or what is asserted of it does not hold. The text is printed, with the seed that makes it.
pub fn texts(tokens: &[&str], parser: impl Fn(&str)) {
    some_texts(1, tokens, parser);
}

/// The same for a parser that is slow: one in so many.
///
/// # Panics
///
/// See [`texts`].
pub fn some_texts(one_in: u64, tokens: &[&str], parser: impl Fn(&str)) {
    let count = env::var("OPERETTA_RANDOM_TEXTS").ok().and_then(|count| count.parse().ok());
    for seed in 0..(count.unwrap_or(TEXTS) / one_in).max(1) {
        let text = Random::new(seed).text(tokens);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| parser(&text))) {
            eprintln!("failed with seed {seed}: {text:?}");
            resume_unwind(panic);
        }
    }
}

/// Gives a parser texts that repeat each of the tokens, and each pair of them, tens of thousands of times.
///
/// # Panics
///
/// See [`texts`].
pub fn long_texts(tokens: &[&str], parser: impl Fn(&str)) {
    let pairs = tokens.iter().zip(tokens.iter().cycle().skip(1)).map(|(a, b)| format!("{a}{b}"));
    let singles = tokens.iter().map(|token| (*token).to_owned());
    for token in singles.chain(pairs).filter(|token| !token.is_empty()) {
        let text = token.repeat(LONG / token.len());
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| parser(&text))) {
            eprintln!("failed with {token:?}, repeated");
            resume_unwind(panic);
        }
    }
}

/// Gives a parser of bytes what is valid, with errors.
///
/// # Panics
///
/// See [`texts`].
pub fn bytes(valid: &[Vec<u8>], parser: impl Fn(&[u8])) {
    let count = env::var("OPERETTA_RANDOM_TEXTS").ok().and_then(|count| count.parse().ok());
    for seed in 0..count.unwrap_or(TEXTS) {
        let mut random = Random::new(seed);
        let original = &valid[random.below(valid.len())];
        let bytes = random.damaged_bytes(original);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| parser(&bytes))) {
            eprintln!("failed with seed {seed}: {bytes:?}");
            resume_unwind(panic);
        }
    }
}

/// Random choices that a seed repeats (`SplitMix64`).
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The choices of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below this one.
    ///
    /// # Panics
    ///
    /// If it is zero.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        usize::try_from(mixed >> 33).unwrap_or_default() % end
    }

    /// One of these.
    ///
    /// # Panics
    ///
    /// If there are none.
    pub fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    /// A text of these tokens, mostly.
    pub fn text(&mut self, tokens: &[&str]) -> String {
        let mut text = String::new();
        let kind = self.below(8);
        for _ in 0..self.below(TOKENS) {
            match kind {
                0 => text.push_str(&self.bytes()),
                1 | 2 if self.below(4) == 0 => text.push_str(self.pick(&ODD)),
                _ => text.push_str(self.pick(tokens)),
            }
        }
        if kind == 3 || kind == 4 { self.damaged(&text) } else { text }
    }

    fn bytes(&mut self) -> String {
        let bytes: Vec<u8> =
            (0..4).map(|_| u8::try_from(self.below(256)).unwrap_or_default()).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Bytes some of which are others, are missing, or come twice; or the first of them alone.
    fn damaged_bytes(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut damaged = bytes.to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(damaged.len().max(1));
            let end = damaged.len().min(at + 1 + self.below(8));
            match self.below(4) {
                _ if damaged.is_empty() => {}
                0 => damaged[at] = u8::try_from(self.below(256)).unwrap_or_default(),
                1 => drop(damaged.drain(at..end)),
                2 => {
                    let twice = damaged[at..end].to_vec();
                    damaged.splice(at..at, twice);
                }
                _ => damaged[at] ^= 1 << self.below(8),
            }
        }
        if self.below(8) == 0 {
            damaged.truncate(self.below(damaged.len() + 1));
        }
        damaged
    }

    /// A text without some of its characters, or with some of them twice.
    fn damaged(&mut self, text: &str) -> String {
        let mut damaged = String::new();
        for character in text.chars() {
            match self.below(12) {
                0 => {}
                1 => damaged.extend([character, character]),
                _ => damaged.push(character),
            }
        }
        damaged
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_makes_the_same_text_again() {
        let text = |seed| Random::new(seed).text(&["a", "[", "]"]);
        assert_eq!(text(7), text(7));
        assert!((0..100).any(|seed| text(seed) != text(7)));
    }

    #[test]
    #[should_panic(expected = "a bracket")]
    fn a_parser_that_panics_fails() {
        texts(&["a", "["], |text| assert!(!text.contains('['), "a bracket"));
    }
}
