//! The kubeconfig of a running server: a file that only its owner may read.

use std::{fs, io, net::SocketAddr, path::Path};

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use crate::private_file;

/// The name of the cluster, and of the administrator and their context.
pub(super) const NAME: &str = "operetta";

/// A way to a server, for several users: the first of them is the one that is used unless another is named.
#[derive(Clone)]
pub(super) struct Kubeconfig {
    cluster: Value,
    users: Vec<(String, Value)>,
}

impl Kubeconfig {
    /// A way without users.
    pub(super) fn new(address: SocketAddr, authority: &str) -> Self {
        let cluster = json!({
            "server": format!("https://{address}"),
            "certificate-authority-data": BASE64_STANDARD.encode(authority),
        });
        Self { cluster, users: Vec::new() }
    }

    /// With a user, and a context of the same name. The user before of that name is replaced.
    #[must_use]
    pub(super) fn with(mut self, name: &str, user: Value) -> Self {
        match self.users.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = user,
            None => self.users.push((name.to_owned(), user)),
        }
        self
    }

    /// The kubeconfig as YAML.
    pub(super) fn text(&self) -> String {
        let user = |(name, user): &(String, Value)| json!({ "name": name, "user": user });
        let context = |(name, _): &(String, Value)| {
            json!({
                "name": name,
                "context": { "cluster": NAME, "user": name, "namespace": "default" },
            })
        };
        let value = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{ "name": NAME, "cluster": self.cluster }],
            "users": self.users.iter().map(user).collect::<Vec<_>>(),
            "contexts": self.users.iter().map(context).collect::<Vec<_>>(),
            "current-context": self.users.first().map(|(name, _)| name),
        });
        serde_yaml_ng::to_string(&value).expect("a JSON value is a YAML value")
    }
}

/// Writes the file atomically. A file of another cluster is not overwritten: it may be the only access to
/// that cluster.
pub(super) fn write(path: &Path, text: &str) -> io::Result<()> {
    match fs::read_to_string(path) {
        Ok(present) if !is_ours(&present) => return Err(io::Error::other(FOREIGN)),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            return Err(io::Error::other(FOREIGN));
        }
        Ok(_) | Err(_) => {}
    }
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder)?;
    }
    private_file::write(path, text)
}

const FOREIGN: &str = "a file is there that no embedded API server has written; \
                       name another path, or remove it";

/// Whether a kubeconfig names the cluster of an embedded server, and no other.
fn is_ours(text: &str) -> bool {
    let names = |value: &serde_json::Value| {
        let clusters = value["clusters"].as_array().cloned().unwrap_or_default();
        clusters.len() == 1 && clusters[0]["name"] == NAME
    };
    text.is_empty() || serde_yaml_ng::from_str(text).is_ok_and(|value| names(&value))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, symlink};

    use operetta_harness::Folder;

    use super::*;

    #[test]
    fn the_kubeconfig_of_an_earlier_server_is_replaced_and_is_for_its_owner_alone() {
        let folder = Folder::new();
        let path = folder.join("config");
        let address = "127.0.0.1:6443".parse().unwrap();
        for token in ["old", "new"] {
            let kubeconfig = Kubeconfig::new(address, "authority");
            write(&path, &kubeconfig.with(NAME, json!({ "token": token })).text()).unwrap();
        }
        assert!(fs::read_to_string(&path).unwrap().contains("new"));
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_link_at_a_name_of_a_draft_is_not_followed() {
        let folder = Folder::new();
        let path = folder.join("config");
        let victim = path.with_file_name("victim");
        fs::write(&victim, "precious").unwrap();
        let draft = path.with_file_name(format!("config.{}", std::process::id()));
        symlink(&victim, draft).unwrap();
        write(&path, "clusters: []").unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    }

    #[test]
    fn a_kubeconfig_of_another_cluster_is_not_overwritten() {
        let folder = Folder::new();
        let path = folder.join("config");
        for precious in ["precious", "clusters: [{name: production}]", "\u{0}"] {
            fs::write(&path, precious).unwrap();
            assert!(write(&path, "clusters: []").is_err(), "{precious:?}");
            assert_eq!(fs::read_to_string(&path).unwrap(), precious);
        }
    }
}
