//! The files of a kubeconfig, merged: of two entries of one name the first counts. A missing file of a list is
//! ignored.

use std::{
    collections::BTreeMap,
    env,
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
};

use kube::config::{Kubeconfig, KubeconfigError as Unread};

use super::error::{Entry, Kind, KubeconfigError};

/// The files of a list, together.
#[derive(Debug, Default)]
pub(super) struct Merged {
    pub(super) kubeconfig: Kubeconfig,
    /// Those that exist.
    pub(super) files: Vec<PathBuf>,
    origins: BTreeMap<(Kind, String), PathBuf>,
}

/// The named file, or the files of `KUBECONFIG`, or the file in the home directory.
pub(super) fn files(
    named: Option<&Path>,
    list: Option<&OsStr>,
) -> Result<Vec<PathBuf>, KubeconfigError> {
    if let Some(named) = named {
        return Ok(vec![named.to_owned()]);
    }
    let listed = list.into_iter().flat_map(env::split_paths);
    let listed: Vec<_> = listed.filter(|file| !file.as_os_str().is_empty()).collect();
    if !listed.is_empty() {
        return Ok(listed);
    }
    let home = env::home_dir().filter(|home| !home.as_os_str().is_empty());
    Ok(vec![home.ok_or(KubeconfigError::Homeless)?.join(".kube/config")])
}

/// Reads them in their order.
pub(super) fn read(files: &[PathBuf]) -> Result<Merged, KubeconfigError> {
    let mut merged = Merged::default();
    for file in files {
        if let Some(kubeconfig) = read_one(file)? {
            merged.add(file, kubeconfig)?;
        }
    }
    if merged.files.is_empty() {
        return Err(KubeconfigError::Missing { files: files.to_vec() });
    }
    Ok(merged)
}

/// `None` if the file does not exist.
fn read_one(file: &Path) -> Result<Option<Kubeconfig>, KubeconfigError> {
    let malformed = |line, why| KubeconfigError::Malformed { file: file.to_owned(), line, why };
    match Kubeconfig::read_from(file) {
        Ok(read) if read.kind.as_ref().is_some_and(|kind| kind != "Config") => {
            Err(malformed(None, "its `kind` is not `Config`"))
        }
        Ok(read) if read.api_version.as_ref().is_some_and(|version| version != "v1") => {
            Err(malformed(None, "its `apiVersion` is not `v1`"))
        }
        Ok(read) => Ok(Some(read)),
        Err(Unread::ReadConfig(why, _)) if why.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(Unread::ReadConfig(why, _)) => {
            Err(KubeconfigError::Unreadable { file: file.to_owned(), why })
        }
        // Its text may quote the file.
        Err(Unread::Parse(error)) => Err(malformed(
            error.location().map(|at| at.line()),
            "it is not YAML, or not in the form of a kubeconfig",
        )),
        Err(_) => Err(malformed(None, "its documents contradict each other")),
    }
}

impl Merged {
    fn add(&mut self, file: &Path, mut next: Kubeconfig) -> Result<(), KubeconfigError> {
        self.note(file, Kind::Context, next.contexts.iter().map(|it| &it.name))?;
        self.note(file, Kind::Cluster, next.clusters.iter().map(|it| &it.name))?;
        self.note(file, Kind::User, next.auth_infos.iter().map(|it| &it.name))?;
        next.current_context = next.current_context.filter(|name| !name.is_empty());
        // What kube compares, and is checked already.
        (next.kind, next.api_version) = (None, None);
        let before = std::mem::take(&mut self.kubeconfig);
        let contradiction = "it contradicts a file before it";
        self.kubeconfig = before.merge(next).map_err(|_| KubeconfigError::Malformed {
            file: file.to_owned(),
            line: None,
            why: contradiction,
        })?;
        self.files.push(file.to_owned());
        Ok(())
    }

    /// Of two files the first has the entry; within one it is unclear which is meant.
    fn note<'a>(
        &mut self,
        file: &Path,
        kind: Kind,
        names: impl Iterator<Item = &'a String>,
    ) -> Result<(), KubeconfigError> {
        let mut seen = Vec::new();
        for name in names {
            if seen.contains(&name) {
                let entry = Entry { kind, name: name.clone(), file: Some(file.to_owned()) };
                return Err(entry.is_wrong("the file has two entries of this name"));
            }
            seen.push(name);
            self.origins.entry((kind, name.clone())).or_insert_with(|| file.to_owned());
        }
        Ok(())
    }

    /// The entry of this name, which may not exist.
    pub(super) fn entry(&self, kind: Kind, name: &str) -> Entry {
        let name = name.to_owned();
        let file = self.origins.get(&(kind, name.clone())).cloned();
        Entry { kind, name, file }
    }

    pub(super) fn contexts(&self) -> Vec<String> {
        self.kubeconfig.contexts.iter().map(|it| it.name.clone()).collect()
    }
}
