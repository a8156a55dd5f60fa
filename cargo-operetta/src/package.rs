//! The package that is added to: its operators, and how its program serves webhooks. Reads files, and writes none.

use std::{fs, path::Path};

use anyhow::{Context, bail};

use super::{
    files::File,
    insert::{chained, dependency_feature},
    names::snake,
};

/// The source of the library, where the first operator is.
pub(crate) const LIBRARY: &str = "src/lib.rs";

/// The source of the program, which registers operators and webhooks.
pub(crate) const PROGRAM: &str = "src/main.rs";

/// What begins the declaration of an operator.
pub(crate) const DECLARATION: &str = "OperatorConfig::custom::<";

pub(crate) const DEPLOY: &str =
    "Permissions and manifests follow: cargo run -- manifests; cargo run -- manifests --helm";

/// The source file of an operator.
#[derive(Debug)]
pub(crate) struct OperatorSource {
    /// Such as `src/till.rs`.
    pub(crate) file: String,
    pub(crate) text: String,
    /// The kind of its parents.
    pub(crate) parent: String,
    /// Its module in the crate; none of the library.
    pub(crate) module: Option<String>,
}

impl OperatorSource {
    /// The operator of parents of this kind, or that of the library.
    pub(crate) fn find(folder: &Path, of: Option<&str>) -> anyhow::Result<Self> {
        let module = of.map(snake).filter(|it| folder.join(format!("src/{it}.rs")).exists());
        // The first operator is in the library.
        let file = module.as_ref().map_or(LIBRARY.to_owned(), |module| format!("src/{module}.rs"));
        let text = read(folder, &file)?;
        let parent = text.split(DECLARATION).nth(1).and_then(|rest| rest.split('>').next());
        let parent = parent.with_context(|| format!("{file} has no `{DECLARATION}..>(..)`"))?;
        if let Some(of) = of.filter(|of| *of != parent) {
            bail!(
                "{file} has the operator of {parent}, and none of {of}: leave out --of, or correct it"
            );
        }
        let parent = parent.to_owned();
        Ok(Self { file, text, parent, module })
    }

    /// The path of its module in a crate of this name.
    pub(crate) fn path_in(&self, krate: &str) -> String {
        self.module.as_ref().map_or(krate.to_owned(), |module| format!("{krate}::{module}"))
    }
}

/// The name of the package.
pub(crate) fn package_name(folder: &Path) -> anyhow::Result<String> {
    let manifest = read(folder, "Cargo.toml")?;
    let name = quoted(&manifest, "name = \"").context("Cargo.toml has no `name = \"..\"`")?;
    Ok(name.to_owned())
}

/// The name of its crate.
pub(crate) fn crate_name(folder: &Path) -> anyhow::Result<String> {
    Ok(package_name(folder)?.replace('-', "_"))
}

/// The program and the manifest with this call that adds something the API server calls. The first one needs an address,
/// and certificates.
pub(crate) fn serving(folder: &Path, call: &str) -> anyhow::Result<[File; 2]> {
    let program = read(folder, PROGRAM)?;
    let is_served = program.contains(".webhooks(");
    let address = if is_served { "" } else { "\n.webhooks(\"0.0.0.0:9443\")" };
    let program = chained(PROGRAM, &program, ".register(", &format!("{call}{address}"))?;
    let manifest = read(folder, "Cargo.toml")?;
    let manifest = dependency_feature("Cargo.toml", &manifest, "operetta", "certificates")?;
    Ok([File::new(PROGRAM, program), File::new("Cargo.toml", manifest)])
}

pub(crate) fn read(folder: &Path, file: &str) -> anyhow::Result<String> {
    let hint =
        "call `cargo operetta add` in the folder of a package that `cargo operetta new` wrote";
    fs::read_to_string(folder.join(file)).with_context(|| format!("{file} cannot be read: {hint}"))
}

/// The text between these words and the next quotation mark.
pub(crate) fn quoted<'a>(text: &'a str, begin: &str) -> Option<&'a str> {
    text.split(begin).nth(1)?.split('"').next()
}
