//! The kubectl of the rig on a cluster: it renders manifests, and the server takes them or not.

use std::{
    fs,
    io::{self, Write},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use operetta_controlplane::Binaries;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::cluster::{Cluster, new_folder, or_ignore};

/// The kustomization files.
pub(crate) const KUSTOMIZE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy/kustomize");

pub(crate) struct Kubectl {
    program: PathBuf,
    kubeconfig: PathBuf,
}

impl Kubectl {
    pub(crate) fn on(cluster: &Cluster) -> Self {
        let binaries = or_ignore(Binaries::find());
        let (program, kubeconfig) =
            (binaries.folder().join("kubectl"), cluster.kubeconfig().to_owned());
        Self { program, kubeconfig }
    }

    /// Its output, or its error.
    pub(crate) fn run(&self, arguments: &[&str], input: &str) -> Result<String, String> {
        let mut command = Command::new(&self.program);
        command.args(arguments).env("KUBECONFIG", &self.kubeconfig);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = answered(command, input).map_err(|error| error.to_string())?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (printed, error) = (text(&output.stdout), text(&output.stderr));
        if output.status.success() { Ok(printed) } else { Err(error) }
    }

    /// The objects of an overlay.
    pub(crate) fn rendered(&self, overlay: &str) -> Vec<Value> {
        self.with_components(overlay, &[]).unwrap()
    }

    /// The objects of an overlay with components.
    pub(crate) fn with_components(
        &self,
        overlay: &str,
        components: &[&str],
    ) -> Result<Vec<Value>, String> {
        let folder = of_user(overlay, components);
        let text = self.run(&["kustomize", folder.to_str().unwrap_or_default()], "")?;
        let documents = serde_yaml_ng::Deserializer::from_str(&text);
        let objects = documents.map(Value::deserialize).collect::<Result<_, _>>();
        objects.map_err(|error| error.to_string())
    }

    pub(crate) fn apply(&self, object: &Value, how: &[&str]) -> Result<String, String> {
        let arguments = ["apply", "--server-side", "--validate=strict", "-f", "-"];
        self.run(&[&arguments, how].concat(), &object.to_string())
    }
}

/// The folder of an overlay that a user wrote.
fn of_user(overlay: &str, components: &[&str]) -> PathBuf {
    let folder = new_folder();
    symlink(Path::new(KUSTOMIZE).canonicalize().unwrap(), folder.join("kustomize")).unwrap();
    let components = components.iter().map(|name| format!("kustomize/{name}"));
    let own = json!({
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": [format!("kustomize/overlays/{overlay}")],
        "components": components.collect::<Vec<_>>(),
    });
    fs::write(folder.join("kustomization.yaml"), own.to_string()).unwrap();
    folder
}

fn answered(mut command: Command, input: &str) -> io::Result<Output> {
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.as_bytes())?;
    }
    child.wait_with_output()
}

/// The first object of a kind.
pub(crate) fn of_kind<'a>(objects: &'a [Value], kind: &str) -> &'a Value {
    objects.iter().find(|object| object["kind"] == kind).unwrap_or_else(|| panic!("no {kind}"))
}
