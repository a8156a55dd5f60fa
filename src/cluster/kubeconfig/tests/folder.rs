//! A kubeconfig in a folder of its own, and what is read from it.

use std::path::PathBuf;

use operetta_harness::Folder;
use rcgen::{CertificateParams, KeyPair};

use super::super::{Login, of_files, proxy::Environment};

/// A certificate and its key in this folder, in PEM.
pub(super) fn identity(folder: &Folder, name: &str) -> (String, String) {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec![name.to_owned()]).unwrap();
    let (pem, key) = (certificate.self_signed(&key).unwrap().pem(), key.serialize_pem());
    folder.write(&format!("{name}.crt"), &pem);
    folder.write(&format!("{name}.key"), &key);
    (pem, key)
}

/// One context `a` of this cluster and this user, and a second one.
pub(super) fn kubeconfig(cluster: &str, user: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: a\n\
         contexts: [{{name: a, context: {{cluster: c, user: u}}}}, {{name: b, context: {{cluster: c}}}}]\n\
         clusters:\n- name: c\n  cluster:\n    {}\n\
         users:\n- name: u\n  user:\n    {}\n",
        cluster.replace('\n', "\n    "),
        user.replace('\n', "\n    "),
    )
}

pub(super) const SERVER: &str = "server: https://a:6443";

pub(super) fn of(files: &[PathBuf]) -> Result<Login, String> {
    of_files(files, None, &Environment::default()).map_err(|error| error.to_string())
}

pub(super) fn login(folder: &Folder, cluster: &str, user: &str) -> Result<Login, String> {
    of(&[folder.write("config", kubeconfig(cluster, user))])
}
