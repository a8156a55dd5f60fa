//! Metacontroller and the webhook that it calls: two processes.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
};

use operetta::testkit::eventually;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    build,
    greeter::{Greeter, Program},
    world::new_folder,
};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/metacontroller");

/// Where the objects of a cluster would find the webhook.
const IN_A_CLUSTER: &str = "http://greeter.default";

/// The running webhook.
pub(crate) struct Webhook {
    #[expect(dead_code, reason = "held")]
    process: Greeter,
    folder: PathBuf,
    port: String,
}

impl Webhook {
    /// Starts it at a free port.
    pub(crate) async fn start() -> Self {
        build::require_python();
        let folder = new_folder();
        let program = Program::new("python3").argument(&format!("{FOLDER}/sync.py"));
        let program = program.variable("HOST", Path::new("127.0.0.1"));
        let process = program.variable("PORT", Path::new("0")).start(Path::new(""), &folder);
        let log = || async { fs::read_to_string(folder.join("log")).unwrap() };
        let log = eventually("the port of the webhook", log, |log| log.contains('\n')).await;
        let port = log.lines().next().unwrap().to_owned();
        Self { process, folder, port }
    }

    /// The types of Metacontroller, and the object that makes it call the webhook.
    pub(crate) fn objects(&self) -> Vec<Value> {
        let controller = read("controller.yaml");
        assert!(controller.contains(IN_A_CLUSTER));
        let controller =
            controller.replace(IN_A_CLUSTER, &format!("http://127.0.0.1:{}", self.port));
        let text = format!("{}---\n{controller}", read("crds.yaml"));
        let documents = serde_yaml_ng::Deserializer::from_str(&text);
        documents.map(|document| Value::deserialize(document).unwrap()).collect()
    }
}

impl Drop for Webhook {
    fn drop(&mut self) {
        // After a failure the log is of use.
        if !thread::panicking() {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

fn read(file: &str) -> String {
    fs::read_to_string(PathBuf::from(FOLDER).join(file)).unwrap()
}
