//! The certificates and keys of one control plane.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose,
};

use crate::Error;

/// A certificate or public key with its private key, both PEM.
#[derive(Clone)]
pub(crate) struct Pair {
    pub(crate) public: String,
    pub(crate) private: String,
}

pub(crate) struct Certificates {
    /// The certificate of the authority, PEM and DER. Its key is discarded: nothing is signed later.
    pub(crate) authority: String,
    pub(crate) authority_der: Vec<u8>,
    pub(crate) server: Pair,
    pub(crate) admin: Pair,
    /// Signs service account tokens; it has no certificate.
    pub(crate) service_account: Pair,
}

impl Certificates {
    pub(crate) fn generate() -> Result<Self, Error> {
        let authority = authority()?;
        Ok(Self {
            authority: authority.pem(),
            authority_der: authority.der().to_vec(),
            server: server(&authority)?,
            admin: admin(&authority)?,
            service_account: service_account()?,
        })
    }
}

type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority() -> Result<Authority, Error> {
    let mut params = CertificateParams::new(Vec::new())?;
    params.distinguished_name.push(DnType::CommonName, "operetta-controlplane");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    Ok(CertifiedIssuer::self_signed(params, KeyPair::generate()?)?)
}

fn server(authority: &Authority) -> Result<Pair, Error> {
    let mut params = CertificateParams::new(vec!["127.0.0.1".into(), "localhost".into()])?;
    params.distinguished_name.push(DnType::CommonName, "kube-apiserver");
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    signed(&params, authority)
}

fn admin(authority: &Authority) -> Result<Pair, Error> {
    let mut params = CertificateParams::new(Vec::new())?;
    params.distinguished_name.push(DnType::CommonName, "admin");
    // The only group that authorization always allows.
    params.distinguished_name.push(DnType::OrganizationName, "system:masters");
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    signed(&params, authority)
}

fn signed(params: &CertificateParams, authority: &Authority) -> Result<Pair, Error> {
    let key = KeyPair::generate()?;
    let certificate = params.signed_by(&key, authority)?;
    Ok(Pair { public: certificate.pem(), private: key.serialize_pem() })
}

fn service_account() -> Result<Pair, Error> {
    let key = KeyPair::generate()?;
    Ok(Pair { public: key.public_key_pem(), private: key.serialize_pem() })
}
