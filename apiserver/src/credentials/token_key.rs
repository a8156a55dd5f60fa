//! The key of tokens: it signs and verifies, always with ECDSA on P-256 (`ES256`).
//!
//! Written here with `ring`, which rustls brings along: of the crates for JSON Web Tokens, the maintained versions of
//! `jsonwebtoken` need another library for cryptography, and choose the algorithm by what a token says.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use ring::{
    digest,
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair,
        UnparsedPublicKey,
    },
};
use rustls::pki_types::{PrivatePkcs8KeyDer, pem::PemObject};

use super::CredentialsError;

/// What stands before the point in the DER of a public key on P-256.
const PUBLIC_KEY_HEAD: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
    0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];
/// The length of a coordinate of a point.
const COORDINATE: usize = 32;

/// The key of tokens.
pub(crate) struct TokenKey {
    pair: EcdsaKeyPair,
    random: SystemRandom,
    id: String,
}

impl TokenKey {
    /// A key from its PEM.
    pub(super) fn of(text: &str) -> Result<Self, CredentialsError> {
        let key = PrivatePkcs8KeyDer::from_pem_slice(text.as_bytes())?;
        let random = SystemRandom::new();
        let (algorithm, der) = (&ECDSA_P256_SHA256_FIXED_SIGNING, key.secret_pkcs8_der());
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, der, &random)
            .map_err(|error| CredentialsError::TokenKey(error.to_string()))?;
        let public = [&PUBLIC_KEY_HEAD, pair.public_key().as_ref()].concat();
        let hash = digest::digest(&digest::SHA256, &public);
        Ok(Self { pair, random, id: BASE64_URL_SAFE_NO_PAD.encode(hash) })
    }

    /// What tokens call it: the hash of the public key, as in the real server.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// The point that is public, by its coordinates.
    pub(crate) fn point(&self) -> [&[u8]; 2] {
        let (x, y) = self.pair.public_key().as_ref()[1..].split_at(COORDINATE);
        [x, y]
    }

    /// The signature of a message; nothing if the operating system has no random bytes.
    pub(crate) fn sign(&self, message: &[u8]) -> Option<Vec<u8>> {
        self.pair.sign(&self.random, message).ok().map(|signature| signature.as_ref().to_vec())
    }

    /// Whether a signature is that of this key.
    pub(crate) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        let public = self.pair.public_key().as_ref();
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, public).verify(message, signature).is_ok()
    }
}
