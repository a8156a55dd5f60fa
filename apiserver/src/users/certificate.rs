//! The user that a certificate names.

use ring::digest;
use x509_parser::{certificate::X509Certificate, prelude::FromDer};

use super::User;

/// The attribute of a subject with the uid of a user.
const UID: &str = "1.3.6.1.4.1.57683.2";
/// What the user of a request proved themselves with.
const CREDENTIAL: &str = "authentication.kubernetes.io/credential-id";

/// The user of a certificate, as it is encoded; nothing if it names nobody. The error is that of a certificate that
/// says too much.
pub(crate) fn user_of(certificate: &[u8]) -> Result<Option<User>, &'static str> {
    let (_, parsed) =
        X509Certificate::from_der(certificate).map_err(|_| "the certificate cannot be read")?;
    let text = |name: &x509_parser::x509::AttributeTypeAndValue<'_>| {
        name.as_str().unwrap_or_default().to_owned()
    };
    let subject = parsed.subject();
    let name = subject.iter_common_name().last().map(text).unwrap_or_default();
    if name.is_empty() {
        return Ok(None);
    }
    let uids = subject.iter_attributes().filter(|it| it.attr_type().to_id_string() == UID);
    let uid = match uids.map(text).collect::<Vec<_>>().as_slice() {
        [] => String::new(),
        [uid] if !uid.is_empty() => uid.clone(),
        _ => return Err("the certificate has an empty uid, or several"),
    };
    let hash = digest::digest(&digest::SHA256, certificate);
    let digits = hash.as_ref().iter().flat_map(|byte| [byte >> 4, byte & 15]);
    let hash: String = digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect();
    let extra = [(CREDENTIAL.to_owned(), vec![format!("X509SHA256={hash}")])].into();
    let groups = subject.iter_organization().map(text).collect();
    Ok(Some(User { name, uid, groups, extra }.authenticated()))
}
