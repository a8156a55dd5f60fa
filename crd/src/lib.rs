//! Rust types from CRDs: the macro `operetta::crd!`.
//!
//! ```text
//!  file -- read --> definitions -- schema --> model -- tokens, resource --> code
//!                                  names, description
//! ```
//!
//! Only `expand` reads a file. The model is plain values, and no server is asked.
//!
//! Invariants: the same file always has the same code; the code names nothing of the program, and no other crate than
//! `operetta`.

mod arguments;
mod description;
mod error;
mod expand;
mod model;
mod names;
mod read;
mod resource;
mod schema;
mod tokens;

use proc_macro::TokenStream;

/// Makes Rust types of the CRDs in a file, for children and related objects that have no crate.
///
/// ```ignore
/// operetta::crd!("crds/certificate.yaml");
/// operetta::crd!("crds/gateway.yaml", version = "v1beta1");
/// ```
///
/// The path is relative to the folder of the program's `Cargo.toml`. The file is YAML or JSON. It may have several
/// documents: each definition becomes its types, and the others are ignored. Without `version` it is the storage version if
/// that is served, else the first served one. A change of the file compiles the program again.
///
/// - **The resource**, `Certificate`, has `metadata` and the fields of the schema: `spec`, `status`, others. It is a
///   [`kube::Resource`], so it is a child type (`child::<Certificate>`) and a related one. `Certificate::new(name, spec)` makes
///   one.
/// - **Types within it** are named by their path: `CertificateSpec`, `CertificateSpecPrivateKey`. Those of the items of a list
///   have the name of the list. Each is `Clone`, `Debug`, `PartialEq` and `Default`: `..Default::default()` completes one.
/// - **Fields** are in snake case: `private_key`. One that is required is a value. One that may be absent is an `Option`, and so
///   is one that has a default, which the server sets.
/// - **Texts with known values** are enums. `Other(text)` is a value that the schema does not have. It is also the
///   default, and empty: the server refuses it by name.
/// - **Values of any kind**, embedded objects and objects without fields are [`serde_json::Value`]s. Numbers or texts are
///   `IntOrString`. An object with fields that keeps unknown ones has them in `other_fields`.
/// - **Reading** is lenient, because an object may be older or newer than the file: an absent field has its default, and unknown
///   fields are ignored. A field of another JSON type is an error, and so is an object of another type.
///
/// Names that would be the same get a number: `PortSpec2`. Types of two files, whose names may be the same, go into
/// modules of their own: `mod certificates { operetta::crd!("crds/certificate.yaml"); }`.
///
/// [`kube::Resource`]: https://docs.rs/kube/latest/kube/trait.Resource.html
/// [`serde_json::Value`]: https://docs.rs/serde_json/latest/serde_json/enum.Value.html
///
/// # Errors
/// Compile errors at the path: the file does not exist, is no YAML, or has no definition or no schema. A version that is
/// not served is one too, which lists those that are.
#[proc_macro]
pub fn crd(input: TokenStream) -> TokenStream {
    let parsed = syn::parse::<arguments::Arguments>(input);
    parsed.map_or_else(|error| error.to_compile_error(), |it| expand::expand(&it)).into()
}
