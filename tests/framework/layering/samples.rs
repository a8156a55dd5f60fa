//! Tests of the checks: sample crates that violate the rules in every syntax, and crates that only look as if
//! they did.

use super::{
    crate_tree::CrateTree,
    cycles::{Dependency, cycles},
    layers,
};

const LAYERS: &[(&str, u8)] = &[("low", 0), ("high", 1)];
const RESERVED: &[(&str, &[&str])] = &[("engine", &["high"]), ("net::Client", &["high"])];

/// Checks a crate of two modules, with this source in the lower one.
fn too_high(low: &str) -> Vec<String> {
    layers::too_high(&two_modules(low), LAYERS, &[])
}

fn not_permitted(low: &str) -> Vec<String> {
    layers::not_permitted(&two_modules(low), LAYERS, RESERVED)
}

fn two_modules(low: &str) -> CrateTree {
    CrateTree::of_sources(&[
        ("lib.rs", "mod high; mod low; pub use high::Shown;"),
        ("low.rs", low),
        ("high/mod.rs", "pub mod inner; pub struct Shown; pub fn call() {}"),
        ("high/inner.rs", "pub struct Deep; pub fn time() {}"),
    ])
}

/// The cyclic dependencies of a crate with the modules `a` and `b`, as `from:line to`.
fn cyclic(sources: &[(&str, &str)]) -> Vec<String> {
    let root = ("lib.rs", "mod a; mod b;");
    let tree = CrateTree::of_sources(&[&[root], sources].concat());
    let description = |Dependency { file, line, needed }: &Dependency| {
        format!("{}:{line} {}", file.display(), needed.display())
    };
    cycles(&tree).iter().map(description).collect()
}

#[test]
fn every_way_to_use_a_higher_module_is_found_with_its_line() {
    for low in [
        "\nuse crate::high::Shown;",
        "\nuse crate::{high::inner::Deep};",
        "use crate::{\nhigh::{\ninner::{self, Deep as D}}};",
        "\npub use crate::high as h;",
        "\npub(crate) use super::high::*;",
        "\nuse crate::Shown;",
        "\nuse self::super::high::call;",
        "fn f() {\ncrate::high::call(); }",
        "fn f() {\nuse crate::high::call; call() }",
        "fn f() -> u8 {\nsuper::high::SIZE }",
        "use super::low;\nfn f(it: Option<crate::high::Shown>) {}",
        "fn f() {\nlog!(\"{}\", crate::high::call()); }",
        "macro_rules! m { () => {\n$crate::high::call() } }",
        "mod inside {\nuse super::super::high::Shown; }",
        "struct It { #[serde(serialize_with =\n\"crate::high::inner::time\")] at: u8 }",
        "impl From<\ncrate::high::Shown> for u8 {}",
        "#[cfg(not(test))]\nuse crate::high::Shown;",
        "#[cfg(any(unix, test))]\nuse crate::high::Shown;",
    ] {
        let found = too_high(low);
        let lines = ["low.rs:2: low uses high", "low.rs:3: low uses high"];
        assert!(!found.is_empty(), "{low}");
        assert!(found.iter().all(|it| lines.contains(&it.as_str())), "{low}: {found:?}");
    }
}

#[test]
fn code_that_only_looks_like_a_use_of_a_higher_module_is_accepted() {
    for low in [
        "// use crate::high::Shown;",
        "/* crate::high::call() */",
        "//! See [`call`](crate::high::call).",
        "/// As [`crate::high::Shown`].\nfn f() {}",
        "const TEXT: &str = \"use crate::high::Shown;\";",
        "#[doc = \"crate::high::call\"] fn f() {}",
        "#[cfg(test)]\nmod tests { use crate::high::Shown; }",
        "#[cfg(test)]\nuse crate::high::Shown;",
        "#[cfg(all(unix, test))]\nfn f() { crate::high::call() }",
        "#[test]\nfn f() { crate::high::call() }",
        "struct It; impl It { #[cfg(test)] fn f() { crate::high::call() } }",
        "mod high { pub fn call() {} }\nfn f() { high::call() }",
        "use other::high;\nfn f() { high::call(); other::high::call() }",
        "pub(in crate::low) fn high() {}",
        "fn f(high: u8) -> u8 { high }",
    ] {
        assert_eq!(too_high(low), Vec::<String>::new(), "{low}");
    }
}

#[test]
fn a_module_may_use_a_lower_one_and_an_allowed_one_of_its_layer() {
    let tree = CrateTree::of_sources(&[
        ("lib.rs", "mod high; mod low;"),
        ("low.rs", "use crate::low::inside;"),
        ("high.rs", "use crate::low::It;"),
    ]);
    assert_eq!(layers::too_high(&tree, LAYERS, &[]), Vec::<String>::new());
    let same = &[("low", 0), ("high", 0)];
    assert_eq!(layers::too_high(&tree, same, &[]), ["high.rs:1: high uses low"]);
    assert_eq!(layers::too_high(&tree, same, &[("high", "low")]), Vec::<String>::new());
}

#[test]
fn a_use_of_a_reserved_crate_is_found_under_any_name() {
    for low in [
        "\nuse engine::start;",
        "\nuse engine;",
        "\nuse engine as e;",
        "\nuse net::{Other, Client};",
        "use net;\nfn f() { net::Client::new() }",
        "use net as n;\nfn f() { n::Client::new() }",
        "\nfn f() { ::engine::start() }",
        "\n#[engine::main] fn f() {}",
        "\nfn f() { engine::run!(1) }",
    ] {
        let found = not_permitted(low);
        let expected = ["low.rs:2: low uses engine", "low.rs:2: low uses net::Client"];
        assert!(found.len() == 1 && expected.contains(&found[0].as_str()), "{low}: {found:?}");
    }
    for low in [
        "use net::Other;",
        "use engines::start;",
        "mod engine {} use self::engine::start;",
        "use net::client::Client;",
        "#[cfg(test)] mod tests { use engine::start; }",
    ] {
        assert_eq!(not_permitted(low), Vec::<String>::new(), "{low}");
    }
}

#[test]
fn modules_without_a_layer_and_layers_without_a_module_are_found() {
    let tree = CrateTree::of_sources(&[
        ("lib.rs", "mod low; mod new; mod names; #[cfg(test)] mod tests;"),
        ("low.rs", ""),
        ("new/mod.rs", ""),
        ("names.rs", ""),
    ]);
    let wrong = layers::mismatched(&tree, LAYERS, &["names"]);
    assert_eq!(wrong, ["new/mod.rs:1: has no layer", "high: has a layer and is no module"]);
}

#[test]
fn a_layer_that_is_drawn_otherwise_is_found() {
    let right = "//! Text.\n//!  1  high\n//!  0  low\n//! 2 words";
    assert_eq!(layers::not_drawn(right, LAYERS), ["layer 2 is drawn otherwise"]);
    let wrong = "//! 1  high low\nmod low;";
    let expected = ["layer 0 is drawn otherwise", "layer 1 is drawn otherwise"];
    assert_eq!(layers::not_drawn(wrong, LAYERS), expected);
    assert_eq!(layers::not_drawn("//! 1 high\n//! 0 low", LAYERS), Vec::<String>::new());
}

#[test]
fn files_that_use_each_other_are_a_cycle_in_every_syntax() {
    for (a, b) in [
        ("use super::b::B; pub struct A;", "use crate::a::A; pub struct B;"),
        (
            "use super::{b::{B as It}}; pub struct A;",
            "use super::a; fn f() { a::A; } pub struct B;",
        ),
        ("fn f() { crate::b::B; } pub struct A;", "fn f() { vec![super::a::A]; } pub struct B;"),
        ("pub use super::b::*; pub struct A;", "pub use super::a::*; pub struct B;"),
    ] {
        let found = cyclic(&[("a.rs", a), ("b.rs", b)]);
        assert_eq!(found, ["a.rs:1 b.rs", "b.rs:1 a.rs"], "{a} / {b}");
    }
}

#[test]
fn only_the_files_of_a_long_cycle_are_reported() {
    let found = cyclic(&[
        ("a.rs", "\nuse super::b::c::C; pub struct A;"),
        ("b/mod.rs", "pub mod c; pub mod d;"),
        ("b/c.rs", "use std::fmt;\nuse super::d; fn f() { d::D::new(); } pub struct C;"),
        ("b/d.rs", "\n\nuse crate::a::A; pub struct D;"),
    ]);
    assert_eq!(found, ["a.rs:2 b/c.rs", "b/c.rs:2 b/d.rs", "b/d.rs:3 a.rs"]);
}

#[test]
fn an_import_depends_on_the_file_that_defines_the_item() {
    let a = "pub use one::One; use two::Two as Second; mod one; mod two;";
    let two = "use super::One; pub struct Two;";
    let harmless = [("a/mod.rs", a), ("a/one.rs", "pub struct One;"), ("a/two.rs", two)];
    assert_eq!(cyclic(&[&harmless[..], &[("b.rs", "")]].concat()), Vec::<String>::new());
    let one = "use super::Second; pub struct One;";
    let cycle = cyclic(&[("a/mod.rs", a), ("a/one.rs", one), ("a/two.rs", two), ("b.rs", "")]);
    assert_eq!(cycle, ["a/one.rs:1 a/two.rs", "a/two.rs:1 a/one.rs"]);
}

#[test]
fn a_re_export_is_followed_through_other_modules_and_globs() {
    let found = cyclic(&[
        ("a.rs", "pub use crate::b::*; pub struct A;"),
        ("b/mod.rs", "mod c; pub use c::*; pub use c::Named as Renamed;"),
        ("b/c.rs", "use crate::a::Renamed; pub struct Named; pub struct C;"),
    ]);
    assert_eq!(found, Vec::<String>::new(), "it is defined in the file itself");
    let found = cyclic(&[
        ("a.rs", "pub use crate::b::Renamed; pub struct A;"),
        ("b/mod.rs", "mod c; pub use c::Named as Renamed;"),
        ("b/c.rs", "use crate::a::A; pub struct Named;"),
    ]);
    assert_eq!(found, ["a.rs:1 b/c.rs", "b/c.rs:1 a.rs"]);
}

#[test]
fn a_child_module_that_uses_an_item_of_its_parent_is_a_cycle() {
    let child = "use super::helper; pub fn call() {}";
    let parent = "mod child; fn helper() {} fn f() { child::call() }";
    let found = cyclic(&[("a/mod.rs", parent), ("a/child.rs", child), ("b.rs", "")]);
    assert_eq!(found, ["a/child.rs:1 a/mod.rs", "a/mod.rs:1 a/child.rs"]);
}

#[test]
fn a_function_is_distinguished_from_the_module_of_the_same_name() {
    let a = "mod run; pub use run::run; mod other;";
    let other = "use super::run; fn f() { run(); run::more() }";
    let run = "pub fn run() {} pub fn more() {}";
    let files = [("a/mod.rs", a), ("a/run.rs", run), ("a/other.rs", other), ("b.rs", "")];
    assert_eq!(cyclic(&files), Vec::<String>::new());
    let run = "use super::other::It; pub fn run() {} pub fn more() {}";
    let files = [("a/mod.rs", a), ("a/run.rs", run), ("a/other.rs", other), ("b.rs", "")];
    assert_eq!(cyclic(&files), ["a/other.rs:1 a/run.rs", "a/run.rs:1 a/other.rs"]);
}

#[test]
fn tests_and_comments_make_no_cycle() {
    let found = cyclic(&[
        ("a.rs", "use super::b::B; pub struct A;"),
        ("b.rs", "// use super::a::A;\npub struct B;\n#[cfg(test)] mod tests { use crate::a::A; }"),
    ]);
    assert_eq!(found, Vec::<String>::new());
}
