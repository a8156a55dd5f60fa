//! A certificate: what a signer makes of an approved request.
//!
//! The subject, the key and the alternative names are those of the request, byte by byte.

use jiff::{SignedDuration, Timestamp};
use rcgen::{KeyPair, SigningKey};
use x509_parser::{certificate::X509Certificate, extensions::ParsedExtension, prelude::FromDer};

use super::{der, pem, request::Request, usage};
use crate::credentials::CredentialsError;

/// How long certificates are valid, at most.
const LONGEST: i64 = 365 * 24 * 3600;
/// How long certificates are valid, at least.
const SHORTEST: i64 = 600;
/// How far back the validity begins.
const BACKDATE: i64 = 300;
/// Certificates that are valid for less than this are not shortened by the time that they are backdated.
const SHORT: i64 = 8 * 3600;

/// Signs certificates.
pub(super) struct Authority {
    key: KeyPair,
    subject: Vec<u8>,
    key_identifier: Vec<u8>,
}

impl Authority {
    /// The authority with this certificate and key, as PEM.
    pub(super) fn of(certificate: &str, key: &str) -> Result<Self, CredentialsError> {
        let block = pem::blocks(certificate).into_iter().next().ok_or_else(unreadable)?;
        let (_, certificate) = X509Certificate::from_der(&block.bytes).map_err(|_| unreadable())?;
        let subject = certificate.subject().as_raw().to_vec();
        let identifier = certificate.extensions().iter().find_map(|extension| {
            match extension.parsed_extension() {
                ParsedExtension::SubjectKeyIdentifier(identifier) => Some(identifier.0.to_vec()),
                _ => None,
            }
        });
        let key_identifier = identifier.ok_or_else(unreadable)?;
        Ok(Self { key: KeyPair::from_pem(key)?, subject, key_identifier })
    }

    /// The certificate for a request, as PEM.
    pub(super) fn sign(
        &self,
        request: &Request,
        usages: &[&str],
        seconds: Option<i64>,
        now: Timestamp,
    ) -> Result<String, CredentialsError> {
        let mut serial = [0; 16];
        getrandom::fill(&mut serial).map_err(CredentialsError::Random)?;
        serial[0] &= 0x7f;
        let signed = self.to_be_signed(request, usages, validity(seconds, now), &serial);
        let signature = self.key.sign(&signed)?;
        let certificate =
            der::sequence(&[&signed, &signature_algorithm(), &der::bit_string(&signature)]);
        Ok(pem::text("CERTIFICATE", &certificate))
    }

    fn to_be_signed(
        &self,
        request: &Request,
        usages: &[&str],
        (from, until): (Timestamp, Timestamp),
        serial: &[u8],
    ) -> Vec<u8> {
        let version = der::value(0xa0, &der::integer(&[2]));
        let validity = der::sequence(&[&time(from), &time(until)]);
        let extensions = der::sequence(
            &self.extensions(request, usages).iter().map(Vec::as_slice).collect::<Vec<_>>(),
        );
        der::sequence(&[
            &version,
            &der::integer(serial),
            &signature_algorithm(),
            &self.subject,
            &validity,
            &request.subject,
            &request.public_key,
            &der::value(0xa3, &extensions),
        ])
    }

    fn extensions(&self, request: &Request, usages: &[&str]) -> Vec<Vec<u8>> {
        let mut extensions = Vec::new();
        let bits = usage::key_bits(usages);
        if bits != 0 {
            extensions.push(extension(15, true, &der::named_bits(bits)));
        }
        let extended = usage::extended(usages);
        if !extended.is_empty() {
            let list: Vec<&[u8]> = extended.iter().map(Vec::as_slice).collect();
            extensions.push(extension(37, false, &der::sequence(&list)));
        }
        extensions.push(extension(19, true, &der::sequence(&[])));
        let identifier = der::sequence(&[&der::value(0x80, &self.key_identifier)]);
        extensions.push(extension(35, false, &identifier));
        if let Some(names) = &request.alternative_names {
            extensions.push(extension(17, false, names));
        }
        extensions
    }
}

fn unreadable() -> CredentialsError {
    CredentialsError::Authority("its certificate cannot be read".to_owned())
}

/// An extension of certificates, by the last arc of its identifier.
fn extension(number: u64, is_critical: bool, content: &[u8]) -> Vec<u8> {
    let identifier = der::object_identifier(&[2, 5, 29, number]);
    let critical = if is_critical { der::value(1, &[0xff]) } else { Vec::new() };
    der::sequence(&[&identifier, &critical, &der::value(4, content)])
}

/// ECDSA with SHA-256.
fn signature_algorithm() -> Vec<u8> {
    der::sequence(&[&der::object_identifier(&[1, 2, 840, 10_045, 4, 3, 2])])
}

fn time(time: Timestamp) -> Vec<u8> {
    let text = time.strftime("%Y%m%d%H%M%SZ").to_string();
    // Years until 2049 are written with two digits.
    if text.as_str() < "2050" {
        der::value(23, &text.as_bytes()[2..])
    } else {
        der::value(24, text.as_bytes())
    }
}

/// From when and until when a certificate is valid.
fn validity(seconds: Option<i64>, now: Timestamp) -> (Timestamp, Timestamp) {
    let lasting = seconds.map_or(LONGEST, |seconds| seconds.clamp(SHORTEST, LONGEST));
    let until = if lasting < SHORT { lasting } else { lasting - BACKDATE };
    let after = |seconds| now.saturating_add(SignedDuration::from_secs(seconds)).unwrap_or(now);
    (after(-BACKDATE), after(until))
}
