//! The Go programs of tests in the user's cache directory. Tests find them; `operetta-controlplane build` builds them.

use std::ffi::OsString;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::last_lines;
use crate::{Error, Version};

/// A Go module with the file that pins its dependencies, and its programs with their packages.
struct Module {
    folder: &'static str,
    go_mod: PathBuf,
    programs: &'static [(&'static str, &'static str)],
}

/// One etcd and one helm for all versions of Kubernetes.
fn modules(version: Version) -> [Module; 3] {
    let etcd = concat!(env!("CARGO_MANIFEST_DIR"), "/etcd");
    let helm = concat!(env!("CARGO_MANIFEST_DIR"), "/../helm");
    [
        Module {
            folder: etcd,
            go_mod: Path::new(etcd).join("go.mod"),
            programs: &[("etcd", "./")],
        },
        Module {
            folder: env!("CARGO_MANIFEST_DIR"),
            go_mod: version.go_mod(),
            programs: &[
                ("kube-apiserver", "./cmd/kube-apiserver"),
                ("kube-controller-manager", "./cmd/kube-controller-manager"),
                ("kubectl", "./cmd/kubectl"),
            ],
        },
        Module {
            folder: helm,
            go_mod: Path::new(helm).join("go.mod"),
            programs: &[("helm", "helm.sh/helm/v3/cmd/helm")],
        },
    ]
}

/// A folder with etcd, kube-apiserver, kube-controller-manager, kubectl and helm.
#[derive(Debug, Clone)]
pub struct Binaries {
    version: Version,
    folder: PathBuf,
}

impl Binaries {
    /// Finds the programs of the version that the embedded server is held to.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where they have not been built.
    pub fn find() -> Result<Self, Error> {
        Self::find_of(Version::REFERENCE)
    }

    /// Finds the programs of a version.
    ///
    /// They are in `operetta/controlplane/<version>/<sources>` under `$OPERETTA_CACHE`, `$XDG_CACHE_HOME` or
    /// `~/.cache`; `<sources>` changes with the Go modules.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where they have not been built.
    pub fn find_of(version: Version) -> Result<Self, Error> {
        let binaries = Self::wanted(version)?;
        if binaries.is_complete() { Ok(binaries) } else { Err(Error::not_built(version)) }
    }

    /// Finds the programs, or builds them with the Go toolchain (minutes, and downloads, the first time).
    ///
    /// Of several processes at once one builds, the others wait.
    pub fn find_or_build(version: Version) -> Result<Self, Error> {
        let binaries = Self::wanted(version)?;
        if !binaries.is_complete() {
            binaries.build(&version_folder(version)?)?;
        }
        Ok(binaries)
    }

    fn wanted(version: Version) -> Result<Self, Error> {
        Ok(Self { version, folder: version_folder(version)?.join(fingerprint(version)?) })
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
        let modules = modules(self.version);
        let mut programs = modules.iter().flat_map(|module| module.programs);
        programs.all(|(program, _)| self.program(program).is_file())
    }

    fn build(&self, all: &Path) -> Result<(), Error> {
        require_go()?;
        fs::create_dir_all(all).map_err(Error::io("creating", all))?;
        let lock = all.join("lock");
        let file = File::create(&lock).map_err(Error::io("opening", &lock))?;
        file.lock().map_err(Error::io("locking", &lock))?;
        if self.is_complete() {
            return Ok(());
        }
        let unfinished = all.join("unfinished");
        // Remains of an interrupted build.
        let _ = fs::remove_dir_all(&unfinished);
        fs::create_dir(&unfinished).map_err(Error::io("creating", &unfinished))?;
        modules(self.version).iter().try_for_each(|it| it.build(self.version, &unfinished))?;
        // An existing folder is incomplete: a program was removed from it.
        let _ = fs::remove_dir_all(&self.folder);
        fs::rename(&unfinished, &self.folder).map_err(Error::io("renaming to", &self.folder))
    }
}

impl Module {
    fn build(&self, version: Version, folder: &Path) -> Result<(), Error> {
        let mut modfile = OsString::from("-modfile=");
        modfile.push(&self.go_mod);
        for (program, package) in self.programs {
            let mut go = Command::new("go");
            go.current_dir(self.folder).env("CGO_ENABLED", "0");
            go.args(["build", "-trimpath", "-buildvcs=false", "-mod=readonly"]).arg(&modfile);
            go.arg("-ldflags")
                .arg(link_flags(version))
                .arg("-o")
                .arg(folder.join(program))
                .arg(package);
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
        let mut sources = vec![self.go_mod.clone(), self.go_mod.with_extension("sum")];
        for package in self.programs.iter().filter_map(|(_, package)| package.strip_prefix("./")) {
            collect(&module.join(package), &mut sources)?;
        }
        if module.join("internal").is_dir() {
            collect(&module.join("internal"), &mut sources)?;
        }
        sources.sort();
        sources.dedup();
        Ok(sources)
    }
}

fn version_folder(version: Version) -> Result<PathBuf, Error> {
    let variable =
        |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = variable("OPERETTA_CACHE")
        .or_else(|| variable("XDG_CACHE_HOME"))
        .or_else(|| variable("HOME").map(|home| home.join(".cache")))
        .ok_or_else(|| Error::unavailable("no cache directory: set OPERETTA_CACHE"))?;
    Ok(cache.join("operetta").join("controlplane").join(version.name()))
}

/// Changes with every source of the programs. An update of Rust that changes the hash costs one build.
fn fingerprint(version: Version) -> Result<String, Error> {
    let mut hasher = DefaultHasher::new();
    (std::env::consts::OS, std::env::consts::ARCH, link_flags(version)).hash(&mut hasher);
    for module in &modules(version) {
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
fn link_flags(version: Version) -> String {
    let (major, minor) = version.minor().split_once('.').unwrap_or_default();
    let values = [
        ("gitVersion", version.name()),
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
    use super::fingerprint;
    use crate::Version;

    #[test]
    fn the_same_sources_have_the_same_fingerprint_and_each_version_its_own() {
        let all =
            || Version::ALL.map(|version| fingerprint(version).expect("the sources are there"));
        let mut prints = all();
        assert_eq!(prints, all());
        prints.sort();
        assert!(prints.windows(2).all(|two| two[0] != two[1]), "{prints:?}");
    }
}
