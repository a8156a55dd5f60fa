//! The Go programs of tests in the user's cache directory. Tests find them; `operetta-controlplane build` builds them.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Error;
use crate::process::last_lines;

/// The version of Kubernetes that the Go module builds.
pub const KUBERNETES_VERSION: &str = "v1.36.2";

/// A Go module, and its programs with their packages.
struct Module {
    folder: &'static str,
    programs: &'static [(&'static str, &'static str)],
}

const MODULES: [Module; 2] = [
    Module {
        folder: env!("CARGO_MANIFEST_DIR"),
        programs: &[
            ("etcd", "./cmd/etcd"),
            ("kube-apiserver", "./cmd/kube-apiserver"),
            ("kube-controller-manager", "./cmd/kube-controller-manager"),
            ("kubectl", "./cmd/kubectl"),
        ],
    },
    Module {
        folder: concat!(env!("CARGO_MANIFEST_DIR"), "/../helm"),
        programs: &[("helm", "helm.sh/helm/v3/cmd/helm")],
    },
];

/// A folder with etcd, kube-apiserver, kube-controller-manager, kubectl and helm.
#[derive(Debug, Clone)]
pub struct Binaries {
    folder: PathBuf,
}

impl Binaries {
    /// Finds the programs.
    ///
    /// They are in `operetta/controlplane/<version>/<sources>` under `$OPERETTA_CACHE`, `$XDG_CACHE_HOME` or
    /// `~/.cache`; `<sources>` changes with the Go modules.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where they have not been built.
    pub fn find() -> Result<Self, Error> {
        let binaries = Self { folder: version_folder()?.join(fingerprint()?) };
        if binaries.is_complete() { Ok(binaries) } else { Err(Error::not_built()) }
    }

    /// Finds the programs, or builds them with the Go toolchain (minutes, and downloads, the first time).
    ///
    /// Of several processes at once one builds, the others wait.
    pub fn find_or_build() -> Result<Self, Error> {
        let version = version_folder()?;
        let binaries = Self { folder: version.join(fingerprint()?) };
        if !binaries.is_complete() {
            binaries.build(&version)?;
        }
        Ok(binaries)
    }

    /// The folder that holds the programs.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The path of one of the programs.
    pub fn program(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn is_complete(&self) -> bool {
        let mut programs = MODULES.iter().flat_map(|module| module.programs);
        programs.all(|(program, _)| self.program(program).is_file())
    }

    fn build(&self, version: &Path) -> Result<(), Error> {
        require_go()?;
        fs::create_dir_all(version).map_err(Error::io("creating", version))?;
        let lock = version.join("lock");
        let file = File::create(&lock).map_err(Error::io("opening", &lock))?;
        file.lock().map_err(Error::io("locking", &lock))?;
        if self.is_complete() {
            return Ok(());
        }
        let unfinished = version.join("unfinished");
        // Remains of an interrupted build.
        let _ = fs::remove_dir_all(&unfinished);
        fs::create_dir(&unfinished).map_err(Error::io("creating", &unfinished))?;
        MODULES.iter().try_for_each(|module| module.build(&unfinished))?;
        // An existing folder is incomplete: a program was removed from it.
        let _ = fs::remove_dir_all(&self.folder);
        fs::rename(&unfinished, &self.folder).map_err(Error::io("renaming to", &self.folder))
    }
}

impl Module {
    fn build(&self, folder: &Path) -> Result<(), Error> {
        for (program, package) in self.programs {
            let mut go = Command::new("go");
            go.current_dir(self.folder).env("CGO_ENABLED", "0");
            go.args(["build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-ldflags"]);
            go.arg(link_flags()).arg("-o").arg(folder.join(program)).arg(package);
            let answer = go.output().map_err(Error::io("running go build for", folder))?;
            if !answer.status.success() {
                return Err(Error::Build { output: last_lines(&answer.stderr) });
            }
        }
        Ok(())
    }

    /// The files that decide what is built.
    fn sources(&self) -> Result<Vec<PathBuf>, Error> {
        let module = Path::new(self.folder);
        let mut sources = vec![module.join("go.mod"), module.join("go.sum")];
        for package in self.programs.iter().filter_map(|(_, package)| package.strip_prefix("./")) {
            collect(&module.join(package), &mut sources)?;
        }
        if module.join("internal").is_dir() {
            collect(&module.join("internal"), &mut sources)?;
        }
        sources.sort();
        Ok(sources)
    }
}

fn version_folder() -> Result<PathBuf, Error> {
    let variable =
        |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = variable("OPERETTA_CACHE")
        .or_else(|| variable("XDG_CACHE_HOME"))
        .or_else(|| variable("HOME").map(|home| home.join(".cache")))
        .ok_or_else(|| Error::unavailable("no cache directory: set OPERETTA_CACHE"))?;
    Ok(cache.join("operetta").join("controlplane").join(KUBERNETES_VERSION))
}

/// Changes with every source of the programs. An update of Rust that changes the hash costs one build.
fn fingerprint() -> Result<String, Error> {
    let mut hasher = DefaultHasher::new();
    (std::env::consts::OS, std::env::consts::ARCH, link_flags()).hash(&mut hasher);
    for module in &MODULES {
        for source in module.sources()? {
            fs::read(&source).map_err(missing(&source))?.hash(&mut hasher);
        }
    }
    Ok(format!("{:016x}", hasher.finish()))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Error> {
    for entry in fs::read_dir(folder).map_err(missing(folder))? {
        let path = entry.map_err(missing(folder))?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// The error of a test binary whose sources are not on this machine.
fn missing(path: &Path) -> impl FnOnce(std::io::Error) -> Error + use<> {
    let path = path.display().to_string();
    move |error| Error::unavailable(format!("cannot read {path} of the Go module: {error}"))
}

fn require_go() -> Result<(), Error> {
    match Command::new("go").arg("version").output() {
        Ok(answer) if answer.status.success() => Ok(()),
        Ok(answer) => {
            Err(Error::unavailable(format!("`go version`: {}", last_lines(&answer.stderr))))
        }
        Err(error) => {
            Err(Error::unavailable(format!("no Go toolchain to build the programs with ({error})")))
        }
    }
}

/// Without them the programs report version v0.0.0, and kubectl warns of a version skew.
fn link_flags() -> String {
    let mut parts = KUBERNETES_VERSION.trim_start_matches('v').split('.');
    let (major, minor) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let values = [
        ("gitVersion", KUBERNETES_VERSION),
        ("gitMajor", major),
        ("gitMinor", minor),
        ("gitCommit", ""),
    ];
    let set = ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"]
        .iter()
        .flat_map(|package| values.map(|(name, value)| format!(" -X {package}.{name}={value}")));
    std::iter::once("-s -w".to_owned()).chain(set).collect()
}

#[cfg(test)]
mod tests {
    use super::{KUBERNETES_VERSION, MODULES, fingerprint};
    use std::path::Path;

    #[test]
    fn the_go_module_pins_the_version_that_the_programs_name() {
        let go_mod = std::fs::read_to_string(Path::new(MODULES[0].folder).join("go.mod"))
            .expect("go.mod is there");
        assert!(go_mod.contains(&format!("k8s.io/kubernetes {KUBERNETES_VERSION}\n")));
    }

    #[test]
    fn the_same_sources_have_the_same_fingerprint() {
        let first = fingerprint().expect("the sources are there");
        assert_eq!(first, fingerprint().expect("the sources are there"));
    }
}
