//! The certificate of the endpoint, from files that may be replaced while it is in use.
//!
//! cert-manager and kubelet swap a symbolic link above the files, which a watch of the files does not
//! see, and some volumes send no notifications. So both files are read again every few seconds, in the
//! background, so that no client waits for a disk. If a new pair is invalid, the old one stays in use
//! and the problem is reported.

mod clients;
mod error;

pub(crate) use clients::ClientAuthority;
pub use error::TlsError;

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use ring::digest::{self, SHA256};
use rustls::{
    Error, ServerConfig,
    crypto::ring as provider,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};

use crate::object::OneLine;

/// A certificate and its private key, in PEM.
#[derive(Clone, PartialEq, Eq)]
pub struct Tls {
    source: Source,
    check_every: Duration,
}

#[derive(Clone, PartialEq, Eq)]
enum Source {
    Files {
        certificate: PathBuf,
        key: PathBuf,
    },
    Given {
        certificate: Vec<u8>,
        key: Vec<u8>,
    },
    /// Somebody else gives each of them, at the beginning none.
    #[cfg_attr(
        not(feature = "certificates"),
        expect(dead_code, reason = "only certificates that are made here")
    )]
    Replaced {
        by: String,
    },
}

/// A certificate in use, which follows its files. Clones share it.
#[derive(Clone)]
pub struct Certificates(Arc<Served>);

struct Served {
    tls: Tls,
    state: Mutex<LoadedTls>,
}

struct LoadedTls {
    /// None until there is one: no connection is accepted before.
    current: Option<Arc<CertifiedKey>>,
    /// The hash of the last contents, valid or not.
    hash: Vec<u8>,
    problem: Option<String>,
}

/// How often the files are read by default.
const CHECK_EVERY: Duration = Duration::from_secs(10);

impl Tls {
    /// From files, which may be replaced at any time: a certificate chain and its key.
    pub fn from_files(certificate: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        let (certificate, key) = (certificate.into(), key.into());
        Self { source: Source::Files { certificate, key }, check_every: CHECK_EVERY }
    }

    /// From PEM texts, for the lifetime of the process.
    pub fn from_pem(certificate: impl Into<Vec<u8>>, key: impl Into<Vec<u8>>) -> Self {
        let (certificate, key) = (certificate.into(), key.into());
        Self { source: Source::Given { certificate, key }, check_every: CHECK_EVERY }
    }

    /// How often the files are read again. Default 10 seconds.
    #[must_use]
    pub fn check_every(self, interval: Duration) -> Self {
        Self { check_every: interval, ..self }
    }

    /// Reads the certificate and its key for the first time.
    pub fn load(self) -> Result<Certificates, TlsError> {
        let (certificate, key) = self.read()?;
        let hash = hash(&certificate, &key);
        let current = Some(Arc::new(self.parse(&certificate, &key)?));
        let state = Mutex::new(LoadedTls { current, hash, problem: None });
        Ok(Certificates(Arc::new(Served { tls: self, state })))
    }

    fn read(&self) -> Result<(Vec<u8>, Vec<u8>), TlsError> {
        let read = |path: &PathBuf| {
            fs::read(path).map_err(|why| TlsError::Read { path: path.clone(), why })
        };
        match &self.source {
            Source::Files { certificate, key } => Ok((read(certificate)?, read(key)?)),
            Source::Given { certificate, key } => Ok((certificate.clone(), key.clone())),
            Source::Replaced { by } => Err(TlsError::NoCertificate(by.clone())),
        }
    }

    /// Errors do not quote the contents, which may be the key.
    fn parse(&self, certificate: &[u8], key: &[u8]) -> Result<CertifiedKey, TlsError> {
        let (of_certificate, of_key) = self.names();
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificate).collect();
        let chain = chain.ok().filter(|chain| !chain.is_empty());
        let chain = chain.ok_or(TlsError::NoCertificate(of_certificate))?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| TlsError::NoKey(of_key))?;
        CertifiedKey::from_der(chain, key, &provider::default_provider())
            .map_err(TlsError::Unusable)
    }

    fn names(&self) -> (String, String) {
        match &self.source {
            Source::Files { certificate, key } => {
                (certificate.display().to_string(), key.display().to_string())
            }
            Source::Given { .. } => ("the certificate".to_owned(), "the key".to_owned()),
            Source::Replaced { by } => (format!("`tls.crt` of {by}"), format!("`tls.key` of {by}")),
        }
    }
}

impl Certificates {
    /// Without a certificate until there is a [replacement](Self::replace). The name is that of who gives it.
    #[cfg(feature = "certificates")]
    pub(crate) fn replaced_by(name: &str) -> Self {
        let source = Source::Replaced { by: name.to_owned() };
        let state = LoadedTls { current: None, hash: Vec::new(), problem: None };
        let tls = Tls { source, check_every: CHECK_EVERY };
        Self(Arc::new(Served { tls, state: Mutex::new(state) }))
    }

    /// Serves new connections with this certificate, in PEM. Returns whether it is another one.
    #[cfg(feature = "certificates")]
    pub(crate) fn replace(&self, certificate: &[u8], key: &[u8]) -> Result<bool, TlsError> {
        let hash = hash(certificate, key);
        if self.state().hash == hash {
            return Ok(false);
        }
        let current = Some(Arc::new(self.0.tls.parse(certificate, key)?));
        let mut state = self.state();
        (state.current, state.hash) = (current, hash);
        Ok(true)
    }

    /// The configuration for TLS 1.2 and 1.3.
    pub(super) fn config(&self) -> Result<ServerConfig, Error> {
        self.config_for(None)
    }

    /// The same for the clients of this authority alone.
    pub(super) fn config_for(
        &self,
        clients: Option<&ClientAuthority>,
    ) -> Result<ServerConfig, Error> {
        let config = ServerConfig::builder_with_provider(provider::default_provider().into())
            .with_safe_default_protocol_versions()?;
        let config = match clients {
            Some(clients) => config.with_client_cert_verifier(clients.verifier()),
            None => config.with_no_client_auth(),
        };
        Ok(config.with_cert_resolver(Arc::new(self.clone())))
    }

    /// The certificate of the process, without those that sign it.
    pub(super) fn leaf(&self) -> Option<CertificateDer<'static>> {
        let current = self.state().current.clone()?;
        Some(current.cert.first()?.clone().into_owned())
    }

    /// The files of the certificate and its key, if they come from files.
    pub(super) fn files(&self) -> Option<(&Path, &Path)> {
        match &self.0.tls.source {
            Source::Files { certificate, key } => Some((certificate, key)),
            Source::Given { .. } | Source::Replaced { .. } => None,
        }
    }

    pub(super) fn check_every(&self) -> Duration {
        self.0.tls.check_every
    }

    /// Why the files are not in use, if they are not.
    pub(super) fn problem(&self) -> Option<String> {
        self.state().problem.clone()
    }

    /// Reads the files repeatedly, until the certificate is no longer in use.
    pub(super) async fn follow(self) {
        let (weak, interval) = (Arc::downgrade(&self.0), self.0.tls.check_every);
        if !matches!(self.0.tls.source, Source::Files { .. }) {
            return;
        }
        drop(self);
        loop {
            tokio::time::sleep(interval).await;
            let Some(served) = Weak::upgrade(&weak) else { return };
            // Not on the web thread.
            let _ = tokio::task::spawn_blocking(move || Self(served).check()).await;
        }
    }

    /// Loads the files, if they are new and valid.
    fn check(&self) {
        let read = self.0.tls.read();
        let mut state = self.state();
        if read.is_err() {
            // The next readable contents are loaded, also if they did not change.
            state.hash.clear();
        }
        let found = read.and_then(|(certificate, key)| {
            let hash = hash(&certificate, &key);
            let is_new = state.hash != hash;
            state.hash = hash;
            is_new.then(|| self.0.tls.parse(&certificate, &key)).transpose()
        });
        match found {
            Ok(None) => {}
            Ok(Some(key)) => {
                tracing::info!("the certificate of the web endpoint was replaced");
                (state.current, state.problem) = (Some(Arc::new(key)), None);
            }
            Err(error) => {
                let problem = format!("the certificate was not replaced: {error}");
                if state.problem.as_ref() != Some(&problem) {
                    tracing::warn!("web endpoint: {}; the old one stays in use", OneLine(&problem));
                    state.problem = Some(problem);
                }
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, LoadedTls> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.state().current.clone()
    }
}

fn hash(certificate: &[u8], key: &[u8]) -> Vec<u8> {
    let mut context = digest::Context::new(&SHA256);
    context.update(&certificate.len().to_le_bytes());
    context.update(certificate);
    context.update(key);
    context.finish().as_ref().to_vec()
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (certificate, key) = self.names();
        f.debug_struct("Tls").field("certificate", &certificate).field("key", &key).finish()
    }
}

impl fmt::Debug for Certificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Certificates").field(&self.0.tls).finish()
    }
}

#[cfg(test)]
mod tests;
