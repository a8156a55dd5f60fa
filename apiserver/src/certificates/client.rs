//! A certificate that makes its owner a user, with its key.

use jiff::Timestamp;
use rcgen::{KeyPair, PublicKeyData};

use super::{certificate::Authority, der, request::Request};
use crate::{
    credentials::{Credentials, CredentialsError},
    users::User,
};

/// UTF-8 text in DER.
const TEXT: u8 = 0x0c;
/// A set in DER.
const SET: u8 = 0x31;
/// The attributes of a subject: the name of the user, a group, the uid.
const COMMON_NAME: &[u64] = &[2, 5, 4, 3];
const ORGANIZATION: &[u64] = &[2, 5, 4, 10];
const UID: &[u64] = &[1, 3, 6, 1, 4, 1, 57_683, 2];

/// A certificate and its key, as PEM.
pub(crate) struct ClientCertificate {
    pub certificate: String,
    pub key: String,
}

/// A certificate for a user, which is valid for a year.
pub(crate) fn client_certificate(
    credentials: &Credentials,
    user: &User,
    now: Timestamp,
) -> Result<ClientCertificate, CredentialsError> {
    let key = KeyPair::generate()?;
    let request = Request {
        subject: subject(user),
        public_key: key.subject_public_key_info(),
        ..Request::default()
    };
    let usages = ["digital signature", "key encipherment", "client auth"];
    let authority = Authority::of(&credentials.authority, &credentials.authority_key)?;
    let certificate = authority.sign(&request, &usages, None, now)?;
    Ok(ClientCertificate { certificate, key: key.serialize_pem() })
}

fn subject(user: &User) -> Vec<u8> {
    let groups = user.groups.iter().map(|group| attribute(ORGANIZATION, group));
    let uid = (!user.uid.is_empty()).then(|| attribute(UID, &user.uid));
    let all: Vec<Vec<u8>> = groups.chain(uid).chain([attribute(COMMON_NAME, &user.name)]).collect();
    der::sequence(&all.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

fn attribute(kind: &[u64], text: &str) -> Vec<u8> {
    let pair = der::sequence(&[&der::object_identifier(kind), &der::value(TEXT, text.as_bytes())]);
    der::value(SET, &pair)
}
