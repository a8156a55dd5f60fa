//! Runs one command after the other against one server.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use super::{FOLDER, mask};

/// What a command printed, without what differs between any two runs.
#[derive(Debug, PartialEq)]
pub(crate) struct Printed {
    code: Option<i32>,
    out: String,
    err: String,
}

pub(crate) struct Shell {
    home: PathBuf,
    path: String,
}

impl Shell {
    /// A shell with a home of its own, which holds a kubeconfig.
    pub(crate) fn new(kubectl: &Path, home: &Path) -> Self {
        let folder = kubectl.parent().unwrap().display();
        let cache = home.join("cache");
        if cache.exists() {
            fs::remove_dir_all(cache).unwrap();
        }
        let path = std::env::var("PATH").unwrap_or_default();
        Self { home: home.to_owned(), path: format!("{folder}:{path}") }
    }

    /// Makes a namespace, and uses it from now on.
    pub(crate) fn begin(&self, namespace: &str) {
        let lines = [
            format!(
                "echo '{{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{{\"name\":\"{namespace}\"}}}}' \
                 | kubectl apply -f -"
            ),
            format!("kubectl config set-context --current --namespace={namespace}"),
        ];
        for line in lines {
            let output = self.output(&line, namespace);
            assert!(output.status.success(), "{line}: {output:?}");
        }
    }

    pub(crate) fn run(&self, line: &str, namespace: &str) -> Printed {
        let Output { status, stdout, stderr } = self.output(line, namespace);
        let text = |bytes: &[u8]| mask::masked(&String::from_utf8_lossy(bytes), namespace);
        Printed { code: status.code(), out: text(&stdout), err: text(&stderr) }
    }

    fn output(&self, line: &str, namespace: &str) -> Output {
        Command::new("timeout")
            .args(["30", "sh", "-c", line])
            .current_dir(Path::new(FOLDER).join("objects"))
            .env_clear()
            .env("PATH", &self.path)
            .env("HOME", &self.home)
            .env("KUBECONFIG", self.home.join("kubeconfig"))
            .env("KUBECACHEDIR", self.home.join("cache"))
            .env("NS", namespace)
            .output()
            .unwrap()
    }
}

impl fmt::Display for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, out, err } = self;
        write!(f, "{out}{err}")?;
        write!(f, "(exit code {})", code.map_or_else(|| "none".to_owned(), |it| it.to_string()))
    }
}
