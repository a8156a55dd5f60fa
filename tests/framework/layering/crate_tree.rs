//! The modules of one crate, read from its root along the `mod` declarations, without modules
//! that are compiled for tests only. Reads a folder, or the samples of a test. `names` resolves paths.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use super::module::Module;

/// The names of the modules that lead from the root of the crate to a module.
pub(crate) type ModulePath = Vec<String>;

/// A crate of the workspace.
pub(crate) struct CrateTree {
    pub(crate) modules: BTreeMap<ModulePath, Module>,
}

impl CrateTree {
    /// Reads the crate whose `lib.rs` is in a folder, given relative to the root of the workspace.
    pub(crate) fn read(folder: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        Self::follow(&|file| fs::read_to_string(folder.join(file)).ok())
    }

    /// Reads sources from memory: pairs of file name and text, one of them `lib.rs`.
    pub(crate) fn of_sources(sources: &[(&str, &str)]) -> Self {
        let sources: BTreeMap<_, _> = sources.iter().copied().collect();
        Self::follow(&|file| sources.get(file.to_str()?).map(ToString::to_string))
    }

    fn follow(text_of: &dyn Fn(&Path) -> Option<String>) -> Self {
        let mut tree = Self { modules: BTreeMap::new() };
        let mut open = vec![(Vec::new(), PathBuf::from("lib.rs"))];
        while let Some((path, file)) = open.pop() {
            let text = text_of(&file).unwrap_or_else(|| panic!("there is no {}", file.display()));
            for module in Module::read(path, &file, &text) {
                open.extend(module.declared.iter().map(|name| {
                    let child = [module.path.as_slice(), std::slice::from_ref(name)].concat();
                    let file = file_of(&child, text_of);
                    (child, file)
                }));
                tree.modules.insert(module.path.clone(), module);
            }
        }
        tree
    }
}

/// `a/b.rs` or `a/b/mod.rs`.
fn file_of(module: &[String], text_of: &dyn Fn(&Path) -> Option<String>) -> PathBuf {
    let folder: PathBuf = module.iter().collect();
    let flat = folder.with_extension("rs");
    if text_of(&flat).is_some() { flat } else { folder.join("mod.rs") }
}
