//! Generated passwords, from the randomness of the operating system.

use std::fmt;

use ring::rand::{SecureRandom, SystemRandom};
use secrecy::{ExposeSecret, SecretString};

/// A password cannot be generated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PasswordError {
    /// The operating system has no randomness.
    #[error("cannot generate a password: the operating system has no randomness")]
    NoRandomness,
    /// It could be guessed.
    #[error(
        "cannot generate a password of {length} of {characters} characters: it has less than {MIN_BITS} bits"
    )]
    TooWeak {
        /// The length that was asked for.
        length: usize,
        /// How many different characters were allowed.
        characters: usize,
    },
    /// A character of the alphabet is not printable ASCII, or is there twice.
    #[error(
        "cannot generate a password of this alphabet: each character must be printable ASCII, and be there once"
    )]
    Alphabet,
}

/// The characters of a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alphabet<'a> {
    /// Letters and digits: safe in URLs, shells and configuration files. About 6 bits each.
    Alphanumeric,
    /// Digits and `a` to `f`. 4 bits each.
    Hexadecimal,
    /// Letters and digits without those that look alike (`0O1lI`), for what people type. About 6 bits each.
    Legible,
    /// These, each once.
    Of(&'a str),
}

/// A generated password. `Debug` never shows it, and its memory is overwritten when it goes.
///
/// Each is another one. Return it with [`SyncResponse::ensure`](crate::operator::SyncResponse::ensure), which writes a
/// child only when it is missing:
///
/// ```
/// use operetta::{prelude::*, recipes::{Alphabet, Password}};
/// use serde_json::json;
///
/// fn sync(request: &SyncRequest) -> Result<SyncResponse> {
///     let password = Password::generate(Alphabet::Alphanumeric, 24)?;
///     Ok(SyncResponse::new().ensure(json!({
///         "apiVersion": "v1", "kind": "Secret", "metadata": {"name": request.parent.name()},
///         "stringData": {"password": password.reveal()},
///     })))
/// }
/// # let website = K8sType::namespaced("example.dev/v1", "Website", "websites");
/// # sync(&SyncRequest::example(&website, json!({"metadata": {"name": "a"}}))?)?;
/// # Ok::<(), operetta::anyhow::Error>(())
/// ```
#[derive(Clone)]
pub struct Password(SecretString);

/// No password below is generated, whatever it is for.
const MIN_BITS: usize = 64;

impl Password {
    /// A password of so many characters of the alphabet, all equally probable.
    ///
    /// # Errors
    /// It would have less than 64 bits, the alphabet cannot be used, or there is no randomness.
    pub fn generate(alphabet: Alphabet<'_>, length: usize) -> Result<Self, PasswordError> {
        let random = SystemRandom::new();
        let fill = |bytes: &mut [u8]| random.fill(bytes).map_err(|_| PasswordError::NoRandomness);
        Self::of(alphabet, length, fill)
    }

    /// The password, to put it into a Secret.
    pub fn reveal(&self) -> &str {
        self.0.expose_secret()
    }

    fn of(
        alphabet: Alphabet<'_>,
        length: usize,
        mut fill: impl FnMut(&mut [u8]) -> Result<(), PasswordError>,
    ) -> Result<Self, PasswordError> {
        let characters = alphabet.checked()?;
        check_strength(length, characters.len())?;
        // Reserved at once: what moves would leave a copy behind.
        let mut password = String::with_capacity(length);
        let mut byte = [0; 1];
        while password.len() < length {
            fill(&mut byte)?;
            password.extend(pick(characters, byte[0]));
        }
        Ok(Self(SecretString::from(password)))
    }
}

impl Alphabet<'_> {
    fn checked(&self) -> Result<&[u8], PasswordError> {
        let characters = match self {
            Self::Alphanumeric => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
            Self::Hexadecimal => "0123456789abcdef",
            Self::Legible => "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789",
            Self::Of(characters) => characters,
        }
        .as_bytes();
        let is_twice = |(at, c): (usize, &u8)| characters[..at].contains(c);
        let is_bad = !characters.iter().all(u8::is_ascii_graphic);
        if is_bad || characters.iter().enumerate().any(is_twice) {
            return Err(PasswordError::Alphabet);
        }
        Ok(characters)
    }
}

fn check_strength(length: usize, characters: usize) -> Result<(), PasswordError> {
    let bits = characters.checked_ilog2().unwrap_or_default();
    // At least: the fractions of bits do not count below the limit of whole ones.
    let enough = length.saturating_mul(bits as usize) >= MIN_BITS;
    if enough { Ok(()) } else { Err(PasswordError::TooWeak { length, characters }) }
}

/// The character of a byte; none for a byte beyond the last multiple, which would prefer some.
fn pick(characters: &[u8], byte: u8) -> Option<char> {
    let size = u16::try_from(characters.len()).ok()?;
    let limit = 256 - 256 % size;
    (u16::from(byte) < limit).then(|| char::from(characters[usize::from(u16::from(byte) % size)]))
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(..)")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn it_has_the_length_and_the_characters_that_were_chosen_and_differs_each_time() {
        for (alphabet, allowed) in [
            (Alphabet::Alphanumeric, "azAZ09"),
            (Alphabet::Hexadecimal, "09af"),
            (Alphabet::Legible, "azAZ29"),
            (Alphabet::Of("xyz!"), "xyz!"),
        ] {
            let characters = alphabet.checked().unwrap();
            assert!(allowed.bytes().all(|c| characters.contains(&c)));
            let [one, other] = [0, 1].map(|_| Password::generate(alphabet, 40).unwrap());
            assert_eq!(one.reveal().len(), 40);
            assert!(one.reveal().bytes().all(|c| characters.contains(&c)));
            assert_ne!(one.reveal(), other.reveal());
            assert_eq!(format!("{one:?}"), "Password(..)");
        }
    }

    #[test]
    fn every_character_is_equally_probable() {
        for characters in ["ab", "abc", "abcdefghijklmnopqrstuvwxyz0123456789"] {
            let mut counts = BTreeMap::new();
            let picked = (0..=255).filter_map(|byte| pick(characters.as_bytes(), byte));
            picked.for_each(|c| *counts.entry(c).or_insert(0) += 1);
            assert_eq!(counts.len(), characters.len());
            let first = counts[&'a'];
            assert!(counts.values().all(|count| *count == first), "{counts:?}");
        }
    }

    #[test]
    fn what_could_be_guessed_or_read_wrongly_is_refused() {
        for (alphabet, length, expected) in [
            (Alphabet::Hexadecimal, 15, PasswordError::TooWeak { length: 15, characters: 16 }),
            (Alphabet::Alphanumeric, 0, PasswordError::TooWeak { length: 0, characters: 62 }),
            (Alphabet::Of("a"), 1000, PasswordError::TooWeak { length: 1000, characters: 1 }),
            (Alphabet::Of(""), 10, PasswordError::TooWeak { length: 10, characters: 0 }),
            (Alphabet::Of("abca"), 100, PasswordError::Alphabet),
            (Alphabet::Of("abä"), 100, PasswordError::Alphabet),
            (Alphabet::Of("a b"), 100, PasswordError::Alphabet),
        ] {
            assert_eq!(Password::generate(alphabet, length).unwrap_err(), expected);
        }
        let broken = Password::of(Alphabet::Legible, 20, |_| Err(PasswordError::NoRandomness));
        assert_eq!(broken.unwrap_err(), PasswordError::NoRandomness);
    }
}
