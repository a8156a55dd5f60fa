//! A version of a type out of the source of its operator: a copy of it, and conversions. Text in, text out.
//!
//! ```text
//! source ─ items ──> the struct of the kind, and all that it is made of
//!        ├ imports ──> the imports that these need
//!        └ conversions ──> `From` in both directions, which change nothing
//! ```
//!
//! **Invariants.** The source keeps the type, with the name of the new version: handlers and tests are not changed. Only types
//! and functions of the same file are copied; what is imported is the same type in both versions.

mod conversions;
mod imports;
mod items;

use std::ops::Range;

use self::{
    conversions::Unconvertible,
    items::{Attributes, Found},
};

/// A source whose version cannot be copied.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CopyError {
    #[error("{file}, line {line}: {why}")]
    Unreadable { file: String, line: usize, why: String },
    #[error(
        "{file} has no struct with `#[kube(.., version = \"..\", kind = \"{kind}\")]`: declare the versions yourself, with \
         `Versions::hub::<{kind}>()`"
    )]
    NoType { file: String, kind: String },
    #[error(transparent)]
    Unconvertible(#[from] Unconvertible),
}

/// The type of an operator as it was before it got a new version.
pub(crate) struct OldVersion<'a> {
    text: &'a str,
    kind: String,
    /// Its name, such as `v1alpha1`.
    pub(crate) version: String,
    /// Where its name is in the source.
    place: Range<usize>,
    /// The struct of its spec.
    spec: String,
    has_status: bool,
    parsed: syn::File,
}

impl<'a> OldVersion<'a> {
    pub(crate) fn find(file: &str, text: &'a str, kind: &str) -> Result<Self, CopyError> {
        let parsed = syn::parse_file(text).map_err(|error| CopyError::Unreadable {
            file: file.to_owned(),
            line: error.span().start().line,
            why: error.to_string(),
        })?;
        let found = items::of_kind(&parsed, kind);
        let Some(Attributes { version, place, spec, has_status }) = found else {
            return Err(CopyError::NoType { file: file.to_owned(), kind: kind.to_owned() });
        };
        Ok(Self { text, kind: kind.to_owned(), version, place, spec, has_status, parsed })
    }

    /// The source with a new version in its place.
    pub(crate) fn replaced_by(&self, version: &str) -> String {
        let Range { start, end } = self.place;
        format!("{}\"{version}\"{}", &self.text[..start], &self.text[end..])
    }

    /// The source of a module below the one of the operator, with this path: the old version, and its conversions. rustfmt
    /// shapes it afterwards.
    pub(crate) fn module(&self, path: &str) -> Result<String, CopyError> {
        let found = Found::from(&self.parsed, self.text, &self.spec);
        let Self { kind, version, .. } = self;
        let imports = imports::needed(&self.parsed, &found, kind);
        let conversions = conversions::of(&found, kind, self.has_status)?;
        let items = found.texts().collect::<Vec<_>>().join("\n\n");
        Ok(format!(
            "//! `{kind}` in the version `{version}`, and how it is converted. The operator has the newest version.\n\n\
             {imports}\n{items}\n\n{conversions}\n\
             #[cfg(test)]\n\
             mod tests {{\n\
             use operetta::testkit::assert_round_trips;\n\n\
             use {path}::{{{kind}, {version}, versions}};\n\n\
             #[test]\n\
             fn no_field_is_lost() {{\n\
             assert_round_trips::<{kind}, {version}::{kind}>(&versions(), 500);\n\
             }}\n\
             }}\n"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOP: &str = r#"//! Shops.
use std::collections::{BTreeMap, HashSet};

use kube::CustomResource;
use operetta::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Größe.
#[derive(CustomResource, Serialize, Deserialize)]
#[kube(group = "example.dev", version = "v1alpha1", kind = "Shop")]
pub struct ShopSpec {
    /// How many, see `config`.
    #[serde(default = "few")]
    pub rooms: u32,
    pub shelves: BTreeMap<String, Vec<Shelf>>,
}

#[derive(Serialize, Deserialize)]
pub enum Shelf {
    None,
    Wide(u32),
    Deep { r#type: Option<Box<Shelf>> },
}

struct Other(HashSet<u8>);

fn few() -> u32 {
    2
}

pub fn config() -> OperatorConfig {
    OperatorConfig::custom::<Shop>("shop")
}
"#;

    #[test]
    fn what_the_type_is_made_of_is_copied_with_its_imports() {
        let old = OldVersion::find("src/lib.rs", SHOP, "Shop").unwrap();
        let module = old.module("crate").unwrap();
        for part in [
            "use std::collections::BTreeMap;\nuse kube::CustomResource;\nuse serde::{Deserialize, Serialize};\n\n/// Größe.",
            "pub enum Shelf {",
            "fn few() -> u32 {",
            "let ShopSpec { rooms, shelves } = old;",
            "Self { metadata, spec: spec.into() }",
            "Shelf::Deep { r#type } => Self::Deep { r#type: r#type.map(|it| Box::new((*it).into())) },",
            "super::Shelf::Wide(a0) => Self::Wide(a0),",
        ] {
            assert!(module.contains(part), "{part} in\n{module}");
        }
        for part in ["struct Other", "config()", "json", "prelude"] {
            assert!(!module.contains(part), "{part} in\n{module}");
        }
        assert!(old.replaced_by("v1").contains("version = \"v1\", kind = \"Shop\""));
    }

    #[test]
    fn what_cannot_be_copied_is_named() {
        let error_of = |text: &str| {
            let old = OldVersion::find("src/lib.rs", text, "Shop");
            old.and_then(|old| old.module("crate")).unwrap_err().to_string()
        };
        let unknown = error_of(&SHOP.replace("Vec<Shelf>", "Chest<Shelf>"));
        assert!(
            unknown.starts_with("`ShopSpec` has `BTreeMap < String , Chest < Shelf > >`"),
            "{unknown}"
        );
        assert!(error_of("struct Shop;").starts_with("src/lib.rs has no struct with `#[kube("));
        assert!(error_of("\nstruct {").starts_with("src/lib.rs, line 2: "));
    }
}
