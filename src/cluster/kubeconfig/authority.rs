//! The certificates that a cluster is checked against.

use std::fs;

use base64::{
    Engine,
    alphabet::STANDARD,
    engine::{GeneralPurpose, GeneralPurposeConfig},
};
use kube::config::Cluster;
use rustls::{
    RootCertStore,
    pki_types::{CertificateDer, pem::PemObject},
};

use super::error::unread;

/// As Go decodes: line breaks count for nothing, and the last bits may be any.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// The content of a `...-data` field; the error does not quote it.
pub(super) fn decoded(field: &str, text: &str) -> Result<Vec<u8>, String> {
    let text: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
    BASE64.decode(text).map_err(|_| format!("`{field}` is not base64"))
}

pub(crate) fn encoded(data: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(data)
}

/// Where a value may be given as data or as a file; `None` where neither is.
pub(super) fn data_or_file(
    [data_field, file_field]: [&str; 2],
    data: Option<&str>,
    file: Option<&str>,
) -> Result<Option<Vec<u8>>, String> {
    match (filled(data), named(file)) {
        (Some(_), Some(_)) => {
            Err(format!("`{data_field}` and `{file_field}` are both set: remove one"))
        }
        (Some(data), None) => decoded(data_field, data).map(Some),
        (None, Some(file)) => {
            let name = format!("`{file_field}`");
            fs::read(file).map(Some).map_err(|why| unread(&name, file, &why))
        }
        (None, None) => Ok(None),
    }
}

/// A text that is not empty: Go does not tell an empty one from none.
pub(super) fn filled(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.is_empty())
}

/// The file that is named: before an empty name kube has put the folder of the kubeconfig.
pub(super) fn named(file: Option<&str>) -> Option<&str> {
    filled(file).filter(|file| !file.ends_with('/'))
}

/// The certificates in DER; `None` for those of the operating system.
pub(super) fn authority(cluster: &Cluster) -> Result<Option<Vec<Vec<u8>>>, String> {
    let fields = ["certificate-authority-data", "certificate-authority"];
    let data = cluster.certificate_authority_data.as_deref();
    let pem = data_or_file(fields, data, cluster.certificate_authority.as_deref())?;
    match pem {
        Some(_) if cluster.insecure_skip_tls_verify == Some(true) => {
            Err("`insecure-skip-tls-verify` is set and a certificate authority is: remove one"
                .to_owned())
        }
        Some(pem) => certificates(&pem).map(Some),
        None => Ok(None),
    }
}

/// Those that can be used, as in a bundle of a system.
pub(super) fn certificates(pem: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let is_usable = |der: &CertificateDer| RootCertStore::empty().add(der.clone()).is_ok();
    let parsed = CertificateDer::pem_slice_iter(pem).filter_map(Result::ok).filter(is_usable);
    let usable: Vec<_> = parsed.map(|der| der.to_vec()).collect();
    if usable.is_empty() {
        return Err("its certificate authority holds no certificate in PEM".to_owned());
    }
    Ok(usable)
}
