//! A shell in which the commands that a problem shows are run as they are printed, by the kubectl of the rig.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{self, Command},
};

use crate::world::World;
use operetta_controlplane::Binaries;
use operetta_harness::ignore;

pub(super) struct Shell {
    home: PathBuf,
    path: String,
}

impl Shell {
    /// Ignores the test where there is no kubectl and nothing to build it with.
    pub(super) fn of(world: &World) -> Self {
        let binaries = Binaries::find().unwrap_or_else(|missing| ignore(missing));
        let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("stuck-{}", process::id()));
        fs::create_dir_all(&home).unwrap();
        fs::write(home.join("config"), world.cluster.kubeconfig()).unwrap();
        // As of a user who is logged in to no registry.
        fs::create_dir_all(home.join(".docker")).unwrap();
        fs::write(home.join(".docker/config.json"), "{\"auths\": {}}").unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        Self { path: format!("{}:{path}", binaries.folder().display()), home }
    }

    /// Runs a command. What it opens in an editor is changed by this expression of sed.
    pub(super) async fn run(&self, command: &str, edit: &str) -> Result<String, String> {
        let editor = self.editor(edit);
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).env("PATH", &self.path).env("HOME", &self.home);
        shell.env("KUBECONFIG", self.home.join("config")).env("KUBE_EDITOR", editor);
        let ran = tokio::task::spawn_blocking(move || shell.output()).await.unwrap().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if ran.status.success() { Ok(text(&ran.stdout)) } else { Err(text(&ran.stderr)) }
    }

    fn editor(&self, edit: &str) -> String {
        let file = self.home.join("editor");
        fs::write(&file, format!("#!/bin/sh\nexec sed -i -E '{edit}' \"$1\"\n")).unwrap();
        make_executable(&file);
        file.display().to_string()
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.home);
    }
}

fn make_executable(file: &Path) {
    fs::set_permissions(file, fs::Permissions::from_mode(0o700)).unwrap();
}
