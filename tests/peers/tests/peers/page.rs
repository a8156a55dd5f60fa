//! The tables of the pages are what these tests find.

use std::{env, fs, path::Path};

use crate::differences::{PEERS, Peer, of};

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");

/// Each page, and the framework that it compares with Operetta.
const PAGES: [(&str, &str); 5] = [
    ("from/kube-rs.md", "kube-rs"),
    ("from/controller-runtime.md", "controller-runtime"),
    ("from/kopf.md", "Kopf"),
    ("from/metacontroller.md", "Metacontroller 1.5.20"),
    ("from/roperator.md", "roperator"),
];

/// Around the tables.
const MARKS: [&str; 2] = ["<!-- tests/peers -->\n", "<!-- end of tests/peers -->\n"];

/// What is the same for all.
const COMMON: &str =
    "makes the ConfigMap, repairs it, makes it again, follows its parent, counts it";

type Row = (&'static str, fn(&Peer) -> bool);

const ROWS: [Row; 5] = [
    ("repairs at its start what was edited meanwhile", |peer| peer.repairs_after_start),
    ("leaves fields that others added to the ConfigMap", |peer| peer.keeps_fields_of_others),
    ("leaves a ConfigMap of others that has the name", |peer| peer.keeps_objects_of_others),
    ("writes its status again when others edited it", |peer| peer.restores_status),
    ("sends no write when nothing differs", |peer| peer.writes_only_changes),
];

#[operetta_harness::test]
fn the_pages_show_what_is_found() {
    let (operetta, others) = PEERS.split_first().unwrap();
    for (page, peer) in PAGES {
        shows(page, &[of(peer), operetta]);
    }
    shows("compare.md", &[operetta].into_iter().chain(others).collect::<Vec<_>>());
}

fn shows(page: &str, peers: &[&Peer]) {
    let path = Path::new(DOCS).join(page);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{page}: {error}"));
    let (before, rest) = text.split_once(MARKS[0]).unwrap_or_else(|| panic!("{page}: {MARKS:?}"));
    let (shown, after) = rest.split_once(MARKS[1]).unwrap_or_else(|| panic!("{page}: {MARKS:?}"));
    let found = table(peers);
    if env::var_os("UPDATE_EXPECT").is_some() {
        let [open, close] = MARKS;
        fs::write(&path, format!("{before}{open}{found}{close}{after}")).unwrap();
    } else {
        assert_eq!(shown, found, "{page}: UPDATE_EXPECT=1 rewrites it");
    }
}

fn table(peers: &[&Peer]) -> String {
    let row = |first: &str, cell: &dyn Fn(&Peer) -> &'static str| {
        let cells = peers.iter().map(|peer| format!(" {} |", cell(peer)));
        format!("| {first} |{}\n", cells.collect::<String>())
    };
    let answer = |is: bool| if is { "yes" } else { "no" };
    let head = [row("the program", &|peer| peer.name), row("---", &|_| "---")];
    let common = [row(COMMON, &|_| "yes")];
    let rows = ROWS.map(|(what, is)| row(what, &|peer| answer(is(peer))));
    head.into_iter().chain(common).chain(rows).collect()
}
