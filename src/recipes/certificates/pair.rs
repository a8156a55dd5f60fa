//! A certificate and its key in PEM, as they are in a Secret of the type `kubernetes.io/tls`.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use k8s_openapi::{ByteString, jiff::Timestamp};
use rcgen::{CertificateParams, KeyPair};
use rustls::{
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    sign::CertifiedKey,
};
use secrecy::{ExposeSecret, SecretString};

use super::{CertificateError, validity::Validity};
use crate::recipes::moment;

/// The `data` of a Secret of the type `kubernetes.io/tls`: `tls.crt`, `tls.key`, and `ca.crt` with the certificate
/// of the authority, which clients trust.
pub type TlsData = BTreeMap<String, ByteString>;

/// Clocks of other machines may be late. A short life begins a tenth of it earlier.
const EARLIER: Duration = Duration::from_mins(5);

pub(super) struct Pair {
    pub(super) certificate: String,
    pub(super) key: SecretString,
    pub(super) validity: Validity,
}

impl Pair {
    pub(super) fn of_secret(data: &TlsData) -> Result<Self, CertificateError> {
        let text = |name: &'static str| {
            let bytes = data.get(name).map(|bytes| bytes.0.clone()).unwrap_or_default();
            String::from_utf8(bytes).map_err(|_| CertificateError::Unreadable(name))
        };
        let (certificate, key) = (text("tls.crt")?, SecretString::from(text("tls.key")?));
        let der = CertificateDer::from_pem_slice(certificate.as_bytes()).ok();
        let validity = der.and_then(|der| Validity::of_der(&der));
        let validity = validity.ok_or(CertificateError::Unreadable("tls.crt"))?;
        let pair = Self { certificate, key, validity };
        pair.key_pair().map(|_| pair)
    }

    /// A certificate that `sign` makes, for a new key.
    pub(super) fn made(
        validity: Validity,
        mut params: CertificateParams,
        sign: impl FnOnce(CertificateParams, &KeyPair) -> Result<String, rcgen::Error>,
    ) -> Result<Self, CertificateError> {
        let begin = rcgen::date_time_ymd(1970, 1, 1);
        let after = |time: Timestamp| Duration::from_secs(time.as_second().try_into().unwrap_or(0));
        params.not_before = begin + after(validity.begin);
        params.not_after = begin + after(validity.end);
        let key = KeyPair::generate()?;
        let certificate = sign(params, &key)?;
        Ok(Self { certificate, key: SecretString::from(key.serialize_pem()), validity })
    }

    pub(super) fn key_pair(&self) -> Result<KeyPair, CertificateError> {
        let key = KeyPair::from_pem(self.key.expose_secret());
        key.map_err(|_| CertificateError::Unreadable("tls.key"))
    }

    /// Whether the key is that of the certificate.
    pub(super) fn is_matching(&self) -> bool {
        let key = PrivateKeyDer::from_pem_slice(self.key.expose_secret().as_bytes()).ok();
        let both = self.der().ok().zip(key);
        both.is_some_and(|(der, key)| {
            CertifiedKey::from_der(vec![der], key, &ring::default_provider()).is_ok()
        })
    }

    pub(super) fn der(&self) -> Result<CertificateDer<'static>, CertificateError> {
        let der = CertificateDer::from_pem_slice(self.certificate.as_bytes());
        der.map_err(|_| CertificateError::Unreadable("tls.crt"))
    }

    /// When it was made: its validity begins earlier.
    pub(super) fn made_at(&self) -> Timestamp {
        let (begin, end) = (self.validity.begin.as_second(), self.validity.end.as_second());
        let life = Duration::from_secs(u64::try_from(end - begin).unwrap_or_default());
        moment::after(self.validity.begin, EARLIER.min(life / 11))
    }

    pub(super) fn is_due(&self, now: SystemTime) -> bool {
        let now = moment::second_of(now);
        now >= self.validity.renew_at() || now < self.validity.begin
    }

    /// How long it is until two thirds of its life are over.
    pub(super) fn wait(&self, now: SystemTime) -> Duration {
        moment::until(self.validity.renew_at(), now).unwrap_or_default()
    }

    pub(super) fn secret_data(&self, authority: &str) -> TlsData {
        let text = |name: &str, text: &str| (name.to_owned(), ByteString(text.as_bytes().to_vec()));
        [
            text("tls.crt", &self.certificate),
            text("tls.key", self.key.expose_secret()),
            text("ca.crt", authority),
        ]
        .into()
    }
}

/// From a little earlier than now, so long, but no longer than until `end`.
pub(super) fn validity(
    now: SystemTime,
    life: Duration,
    end: Timestamp,
) -> Result<Validity, CertificateError> {
    let end = moment::after(moment::second_of(now), life).min(end);
    // Of the life that it has: from that follows when it was made.
    let life = moment::until(end, now).unwrap_or_default();
    let earlier = EARLIER.min(life / 10);
    let begin = moment::second_of(now.checked_sub(earlier).unwrap_or(now));
    let validity = Validity { begin, end };
    let is_valid = moment::until(validity.renew_at(), now).is_some();
    if is_valid { Ok(validity) } else { Err(CertificateError::NotValid) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn when_it_was_made_is_known_also_where_the_authority_ends_first() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_hours(400_000);
        let pair = |life: Duration, end: Duration| {
            let end = moment::second_of(now + end);
            let validity = validity(now, life, end).unwrap();
            Pair { certificate: String::new(), key: String::new().into(), validity }
        };
        for (life, end) in [(24 * 90, 24 * 365), (1, 24), (24 * 90, 1)] {
            let pair = pair(Duration::from_hours(life), Duration::from_hours(end));
            assert_eq!(pair.made_at(), moment::second_of(now), "{life} h, {end} h");
        }
        let short = pair(Duration::from_hours(1), Duration::from_secs(20));
        assert_eq!(short.made_at(), moment::second_of(now));
    }
}
