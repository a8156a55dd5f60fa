//! Checks `docs/threat-model.md`: who can do what is proven by tests, or is out of scope.

use std::fs;

use crate::proofs::{backticked, root, rows, tests};

#[test]
fn each_line_of_who_can_do_what_names_its_tests() {
    let text = fs::read_to_string(root().join("docs/threat-model.md")).unwrap();
    let (tests, rows) = (tests(), rows(&text, "## Who can do what"));
    assert!(rows.len() >= 10, "{} rows", rows.len());
    for row in rows {
        let proof = row.trim_end_matches('|').rsplit('|').next().unwrap();
        let named: Vec<&str> = backticked(proof).collect();
        let is_proven = !named.is_empty() && named.iter().all(|name| tests.contains(*name));
        assert!(is_proven || proof.trim() == "out of scope", "{row}");
    }
}
