//! The kubeconfig that leads clients to a running server: a file only its owner may read.

use std::{
    fs, io,
    io::Write,
    net::SocketAddr,
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::Path,
};

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

/// The name of cluster, user and context.
const NAME: &str = "operetta";

/// The kubeconfig as YAML.
pub(super) fn text(address: SocketAddr, authority: &str, token: &str) -> String {
    let value: Value = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{
            "name": NAME,
            "cluster": {
                "server": format!("https://{address}"),
                "certificate-authority-data": BASE64_STANDARD.encode(authority),
            },
        }],
        "users": [{ "name": NAME, "user": { "token": token } }],
        "contexts": [{
            "name": NAME,
            "context": { "cluster": NAME, "user": NAME, "namespace": "default" },
        }],
        "current-context": NAME,
    });
    serde_yaml_ng::to_string(&value).expect("a JSON value is a YAML value")
}

/// Writes the file; it appears with its contents and its mode, or not at all.
pub(super) fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder)?;
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", std::process::id()));
    let draft = path.with_file_name(name);
    let mut file =
        fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    file.set_permissions(fs::Permissions::from_mode(0o600))?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(draft, path)
}
