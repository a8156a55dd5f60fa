//! Requests for certificates. What is written through `/approval` and `/status` is in `builtin::part`.

use base64::{Engine, prelude::BASE64_STANDARD};

use super::{
    field::{Errors, Field},
    name,
};

const USAGES: [&str; 23] = [
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
];

pub(super) fn request(spec: &Field, errors: &mut Errors) {
    let request = spec.child("request");
    if !is_request(request.text()) {
        errors.push(request.invalid("PEM block type must be CERTIFICATE REQUEST"));
    }
    let usages = spec.child("usages");
    usages.is_required("", errors);
    for usage in usages.items() {
        usage.is_one_of(&USAGES, errors);
    }
    let mut known: Vec<&str> = Vec::new();
    for usage in usages.items() {
        if known.contains(&usage.text()) {
            errors.push(usage.duplicate());
        }
        known.push(usage.text());
    }
    let signer_name = spec.string("signerName");
    if signer_name.text() == "kubernetes.io/legacy-unknown" {
        let detail = "the legacy signerName is not allowed via this API version";
        errors.push(signer_name.invalid(detail));
    } else {
        name::signer(&signer_name, errors);
    }
    if let Some(seconds) = spec.given("expirationSeconds")
        && seconds.number() < 600
    {
        let detail = "may not specify a duration less than 600 seconds (10 minutes)";
        errors.push(seconds.invalid(detail));
    }
}

/// Whether a request has the envelope of one; its content is not parsed.
fn is_request(encoded: &str) -> bool {
    let text = BASE64_STANDARD.decode(encoded).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    text.trim_start().starts_with("-----BEGIN CERTIFICATE REQUEST-----")
}
