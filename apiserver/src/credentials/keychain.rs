//! The credentials that are in use.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, UnixTime},
};

use super::{
    CredentialsError, TokenKey,
    clients::{self, Verifier},
    secrets::Secrets,
    tls,
};
use crate::persistence::Directory;

/// Keeps the credentials of one server, from when they are first needed.
#[derive(Default)]
pub(crate) struct Keychain {
    directory: Option<Directory>,
    credentials: Mutex<Option<Arc<Credentials>>>,
}

/// The credentials of one server.
pub(crate) struct Credentials {
    /// How connections are secured.
    pub tls: ServerConfig,
    clients: Verifier,
    /// The certificate authority, as PEM.
    pub authority: String,
    /// Its key, as PEM.
    pub authority_key: String,
    /// The bearer token of the administrator.
    pub token: String,
    /// Signs the tokens of service accounts.
    pub token_key: TokenKey,
}

impl Keychain {
    /// With the credentials of a data directory.
    pub(crate) fn of(directory: Directory) -> Self {
        Self { directory: Some(directory), ..Self::default() }
    }

    /// The credentials.
    pub(crate) fn credentials(&self) -> Result<Arc<Credentials>, CredentialsError> {
        let mut known = self.credentials.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(credentials) = &*known {
            return Ok(Arc::clone(credentials));
        }
        let credentials = Arc::new(Credentials::obtain(self.directory.as_ref())?);
        *known = Some(Arc::clone(&credentials));
        Ok(credentials)
    }
}

impl Credentials {
    /// Those of the data directory, or new ones.
    fn obtain(directory: Option<&Directory>) -> Result<Self, CredentialsError> {
        let secrets = match directory {
            Some(directory) => Secrets::of(directory)?,
            None => Secrets::make()?,
        };
        Self::of(secrets).map_err(|error| match directory {
            Some(directory) => Secrets::damaged(directory, error.to_string()).into(),
            None => error,
        })
    }

    fn of(secrets: Secrets) -> Result<Self, CredentialsError> {
        let clients = clients::verifier(&secrets.authority_certificate)?;
        Ok(Self {
            tls: tls::server(&secrets, Arc::clone(&clients))?,
            clients,
            token_key: TokenKey::of(&secrets.token_key)?,
            authority: secrets.authority_certificate,
            authority_key: secrets.authority_key,
            token: secrets.administrator_token,
        })
    }
}

impl Credentials {
    /// Checks that a chain of certificates, of which the first is that of the client, comes from the authority.
    pub(crate) fn check_client(
        &self,
        chain: &[CertificateDer<'_>],
        now: Timestamp,
    ) -> Result<(), rustls::Error> {
        let Some((first, rest)) = chain.split_first() else {
            return Err(rustls::Error::NoCertificatesPresented);
        };
        let seconds = u64::try_from(now.as_second()).unwrap_or_default();
        let now = UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        self.clients.verify_client_cert(first, rest, now).map(drop)
    }
}

impl fmt::Debug for Keychain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keychain")
    }
}
