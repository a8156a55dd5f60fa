//! Who a program is to the API server.

use std::fmt;

use anyhow::{Context, Error};
use base64::{Engine, engine::general_purpose::STANDARD};
use http::{HeaderName, HeaderValue, header::AUTHORIZATION};
use kube::config::AuthInfo;

/// How a program authenticates. `Debug` shows no secret.
#[derive(Clone)]
pub enum Credentials {
    /// The value of the header `Authorization`, with its prefix `Bearer ` or `Basic `.
    Header(String),
    /// A client certificate and its key, as PEM in base64.
    Pem {
        /// The certificate.
        certificate_base64: String,
        /// The private key.
        private_key_base64: String,
    },
    /// The files of a client certificate and its key, as PEM.
    PemPath {
        /// The certificate.
        certificate_path: String,
        /// The private key.
        private_key_path: String,
    },
    /// The user of a kubeconfig: also its `exec` plugin or token file, which are asked again when a token
    /// expires. roperator has no such credentials.
    User(Box<AuthInfo>),
}

impl Credentials {
    /// A token as it is, such as that of a service account.
    pub fn raw_bearer_token(raw_token: impl AsRef<str>) -> Self {
        Self::base64_bearer_token(raw_token)
    }

    /// A token as it is sent.
    pub fn base64_bearer_token(base64_token: impl AsRef<str>) -> Self {
        Self::Header(format!("Bearer {}", base64_token.as_ref()))
    }

    /// A username and password.
    pub fn basic(raw_username: impl AsRef<str>, raw_password: impl AsRef<str>) -> Self {
        let both = format!("{}:{}", raw_username.as_ref(), raw_password.as_ref());
        Self::Header(format!("Basic {}", STANDARD.encode(both)))
    }

    /// A token in a file, which is read again when it changes.
    pub(super) fn token_file(file: &str) -> Self {
        let user = AuthInfo { token_file: Some(file.to_owned()), ..AuthInfo::default() };
        Self::User(Box::new(user))
    }

    /// The user of a kubeconfig that has these credentials, but for [`Self::header`].
    pub(super) fn user(&self) -> AuthInfo {
        match self {
            Self::Header(_) => AuthInfo::default(),
            Self::Pem { certificate_base64, private_key_base64 } => AuthInfo {
                client_certificate_data: Some(certificate_base64.clone()),
                client_key_data: Some(private_key_base64.clone().into()),
                ..AuthInfo::default()
            },
            Self::PemPath { certificate_path, private_key_path } => AuthInfo {
                client_certificate: Some(certificate_path.clone()),
                client_key: Some(private_key_path.clone()),
                ..AuthInfo::default()
            },
            Self::User(user) => (**user).clone(),
        }
    }

    /// The header that is sent as it is.
    pub(super) fn header(&self) -> Result<Option<(HeaderName, HeaderValue)>, Error> {
        let Self::Header(text) = self else { return Ok(None) };
        // The error does not quote the text.
        let value = HeaderValue::from_str(text.trim_end());
        let mut value = value.context("the credentials are not the value of a header")?;
        value.set_sensitive(true);
        Ok(Some((AUTHORIZATION, value)))
    }
}

impl PartialEq for Credentials {
    fn eq(&self, other: &Self) -> bool {
        let json = |user: &AuthInfo| serde_json::to_value(user).ok();
        let header =
            |of: &Self| if let Self::Header(text) = of { Some(text.clone()) } else { None };
        header(self) == header(other) && json(&self.user()) == json(&other.user())
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Header(_) => "Header(..)",
            Self::Pem { .. } => "Pem(..)",
            Self::PemPath { .. } => "PemPath(..)",
            Self::User(_) => "User(..)",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(credentials: &Credentials) -> String {
        let (name, value) = credentials.header().unwrap().unwrap();
        assert!(name == AUTHORIZATION && value.is_sensitive());
        value.to_str().unwrap().to_owned()
    }

    #[test]
    fn a_token_is_sent_as_it_is() {
        assert_eq!(header(&Credentials::raw_bearer_token("a.b\n")), "Bearer a.b");
        assert_eq!(header(&Credentials::base64_bearer_token("YQ==")), "Bearer YQ==");
        assert_eq!(header(&Credentials::basic("user", "word")), "Basic dXNlcjp3b3Jk");
    }

    #[test]
    fn a_header_that_is_none_is_refused_and_not_quoted() {
        let odd = Credentials::Header("s3cret\nline".to_owned());
        let error = format!("{:#}", odd.header().unwrap_err());
        assert!(!error.contains("s3cret"), "{error}");
    }

    #[test]
    fn credentials_are_compared_and_never_shown() {
        let pem = |key: &str| Credentials::Pem {
            certificate_base64: "c".to_owned(),
            private_key_base64: key.to_owned(),
        };
        let path = Credentials::PemPath {
            certificate_path: "c".to_owned(),
            private_key_path: "k".to_owned(),
        };
        let all = [
            pem("s3cret"),
            pem("b"),
            path,
            Credentials::token_file("f"),
            Credentials::raw_bearer_token("s3cret"),
            Credentials::raw_bearer_token("b"),
        ];
        for (index, one) in all.iter().enumerate() {
            assert!(!format!("{one:?}").contains("s3cret"));
            for (other_index, other) in all.iter().enumerate() {
                assert_eq!(one == other, index == other_index, "{one:?} {other:?}");
            }
        }
    }
}
