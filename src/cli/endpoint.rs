//! Configures the web endpoint from the flags.

use crate::{supervisor::SupervisorBuilder, web::Tls};
use anyhow::Context;
use rcgen::{CertificateParams, DnType, KeyPair};

use super::settings::{Certificate, Web};

/// Adds the endpoint to a supervisor.
pub(super) fn serve(builder: SupervisorBuilder, web: &Web) -> anyhow::Result<SupervisorBuilder> {
    let builder = builder.serve(&web.listen.to_string()).auth(web.auth.clone());
    let builder = match &web.certificate {
        Some(certificate) => builder.tls(certificate.tls(web)?),
        None => builder,
    };
    let builder = match &web.tls_proxy {
        Some(proxy) => builder.behind_tls_proxy(proxy.clone()),
        None => builder,
    };
    #[cfg(feature = "mcp")]
    let builder = if web.mcp { builder.mcp() } else { builder };
    Ok(if web.insecure_listen { builder.allow_insecure_listen() } else { builder })
}

impl Certificate {
    fn tls(&self, web: &Web) -> anyhow::Result<Tls> {
        match self {
            Self::Files { certificate, key } => Ok(Tls::from_files(certificate, key)),
            Self::SelfSigned => self_signed(web).context("--tls-self-signed"),
        }
    }
}

/// Protects against eavesdropping, not against impersonation: no authority signs it.
fn self_signed(web: &Web) -> anyhow::Result<Tls> {
    let names = ["localhost".to_owned(), web.listen.ip().to_string()];
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name.push(DnType::CommonName, "operetta");
    let key = KeyPair::generate()?;
    Ok(Tls::from_pem(params.self_signed(&key)?.pem(), key.serialize_pem()))
}
