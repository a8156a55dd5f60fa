//! The request in a request for a certificate, as it is encoded.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::Value;
use x509_parser::{
    certification_request::X509CertificationRequest,
    cri_attributes::ParsedCriAttribute,
    extensions::{GeneralName, ParsedExtension},
    oid_registry::OID_X509_EXT_SUBJECT_ALT_NAME,
    prelude::FromDer,
};

use super::pem;
/// A request that could be read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Request {
    /// The subject, as it is encoded.
    pub(super) subject: Vec<u8>,
    /// The public key, as it is encoded.
    pub(super) public_key: Vec<u8>,
    /// The alternative names, as they are encoded.
    pub(super) alternative_names: Option<Vec<u8>>,
    pub(super) common_name: String,
    pub(super) organizations: Vec<String>,
    pub(super) names: Names,
}

/// How many alternative names of each kind there are.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Names {
    pub(super) dns: usize,
    pub(super) email: usize,
    pub(super) address: usize,
    pub(super) uri: usize,
}

impl Request {
    /// The request of an object, if it is well-formed and signed with its own key.
    pub(super) fn of(object: &Value) -> std::result::Result<Self, String> {
        let encoded = object["spec"]["request"].as_str().unwrap_or_default();
        let text = BASE64_STANDARD.decode(encoded).unwrap_or_default();
        let block = pem::blocks(&String::from_utf8_lossy(&text)).into_iter().next();
        let Some(block) = block.filter(|block| block.label == "CERTIFICATE REQUEST") else {
            return Err("PEM block type must be CERTIFICATE REQUEST".to_owned());
        };
        let (rest, request) = X509CertificationRequest::from_der(&block.bytes)
            .map_err(|_| "asn1: structure error: malformed certificate request".to_owned())?;
        if !rest.is_empty() {
            return Err("asn1: syntax error: trailing data".to_owned());
        }
        let read = Self::read(&request);
        request.verify_signature().map_err(|_| wrong_signature(&request).to_owned())?;
        Ok(read)
    }

    fn read(request: &X509CertificationRequest<'_>) -> Self {
        let info = &request.certification_request_info;
        let mut read = Self {
            subject: info.subject.as_raw().to_vec(),
            public_key: info.subject_pki.raw.to_vec(),
            ..Self::default()
        };
        let text = |name: &x509_parser::x509::AttributeTypeAndValue<'_>| {
            name.as_str().unwrap_or_default().to_owned()
        };
        read.common_name = info.subject.iter_common_name().last().map(text).unwrap_or_default();
        read.organizations = info.subject.iter_organization().map(text).collect();
        for attribute in info.iter_attributes() {
            let ParsedCriAttribute::ExtensionRequest(asked) = attribute.parsed_attribute() else {
                continue;
            };
            for extension in &asked.extensions {
                if extension.oid == OID_X509_EXT_SUBJECT_ALT_NAME {
                    read.alternative_names = Some(extension.value.to_vec());
                    read.names = Names::of(extension.parsed_extension());
                }
            }
        }
        read
    }
}

impl Names {
    fn of(extension: &ParsedExtension<'_>) -> Self {
        let mut names = Self::default();
        if let ParsedExtension::SubjectAlternativeName(found) = extension {
            for name in &found.general_names {
                match name {
                    GeneralName::DNSName(_) => names.dns += 1,
                    GeneralName::RFC822Name(_) => names.email += 1,
                    GeneralName::IPAddress(_) => names.address += 1,
                    GeneralName::URI(_) => names.uri += 1,
                    _ => {}
                }
            }
        }
        names
    }
}

/// What Go says of a signature that is not the one of the key.
fn wrong_signature(request: &X509CertificationRequest<'_>) -> &'static str {
    match request.signature_algorithm.algorithm.to_id_string().as_str() {
        id if id.starts_with("1.2.840.10045.") => "x509: ECDSA verification failure",
        "1.3.101.112" => "x509: Ed25519 verification failure",
        _ => "crypto/rsa: verification error",
    }
}
