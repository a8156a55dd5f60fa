//! Which rules nobody may hand out who does not hold them.

use std::collections::BTreeMap;

use super::rule::{Rule, covers_url};

const ALL: &str = "*";

/// What the wanted rules allow beyond the held ones, as messages list it.
pub(super) fn missing(held: &[Rule], wanted: &[Rule]) -> Vec<String> {
    let atoms = wanted.iter().flat_map(atoms);
    let missing = atoms.filter(|atom| !held.iter().any(|rule| covers(rule, atom))).collect();
    let mut shown: Vec<String> = compact(missing).iter().map(Rule::shown).collect();
    shown.sort();
    shown.dedup();
    shown
}

/// The same rule as many, each with one verb, one group, one resource or path, and one name at most.
fn atoms(rule: &Rule) -> Vec<Rule> {
    let one = |text: &String| vec![text.clone()];
    let names: Vec<Vec<String>> =
        if rule.names.is_empty() { vec![Vec::new()] } else { rule.names.iter().map(one).collect() };
    let mut atoms = Vec::new();
    for group in &rule.groups {
        for resource in &rule.resources {
            for verb in &rule.verbs {
                atoms.extend(names.iter().map(|names| Rule {
                    verbs: one(verb),
                    groups: one(group),
                    resources: one(resource),
                    names: names.clone(),
                    urls: Vec::new(),
                }));
            }
        }
    }
    for url in &rule.urls {
        let of_verb = |verb| Rule { verbs: one(verb), urls: one(url), ..Rule::default() };
        atoms.extend(rule.verbs.iter().map(of_verb));
    }
    atoms
}

fn covers(held: &Rule, atom: &Rule) -> bool {
    let all = |held: &[String], wanted: &[String]| {
        held.iter().any(|it| it == ALL) || wanted.iter().all(|it| held.contains(it))
    };
    let url = |path: &String| held.urls.iter().any(|named| covers_url(named, path));
    let resource = |resource: &String| {
        let part = resource.split_once('/').map(|(_, part)| format!("*/{part}"));
        held.resources.contains(resource) || part.is_some_and(|it| held.resources.contains(&it))
    };
    let names = !atom.names.is_empty() && atom.names.iter().all(|it| held.names.contains(it));
    all(&held.verbs, &atom.verbs)
        && all(&held.groups, &atom.groups)
        && (held.resources.iter().any(|it| it == ALL) || atom.resources.iter().all(resource))
        && (held.names.is_empty() || names)
        && atom.urls.iter().all(url)
}

/// Joins rules about the same resource that differ in their verb.
fn compact(atoms: Vec<Rule>) -> Vec<Rule> {
    let mut by_resource: BTreeMap<Rule, Vec<String>> = BTreeMap::new();
    let mut compacted = Vec::new();
    for atom in atoms {
        if atom.urls.is_empty() {
            let bare = Rule { verbs: Vec::new(), ..atom };
            by_resource.entry(bare).or_default().extend(atom.verbs);
        } else {
            compacted.push(atom);
        }
    }
    compacted.extend(by_resource.into_iter().map(|(bare, verbs)| Rule { verbs, ..bare }));
    compacted
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rule(verbs: &[&str], groups: &[&str], resources: &[&str], names: &[&str]) -> Rule {
        Rule::read(&json!({
            "verbs": verbs, "apiGroups": groups, "resources": resources, "resourceNames": names,
        }))
    }

    #[test]
    fn what_is_not_held_is_listed_by_resource() {
        let held = [rule(&["get"], &[""], &["pods"], &[])];
        let wanted = [rule(&["get", "list", "watch"], &["", "apps"], &["pods"], &[])];
        let expected = [
            r#"{APIGroups:[""], Resources:["pods"], Verbs:["list" "watch"]}"#,
            r#"{APIGroups:["apps"], Resources:["pods"], Verbs:["get" "list" "watch"]}"#,
        ];
        assert_eq!(missing(&held, &wanted), expected);
    }

    #[test]
    fn a_wildcard_covers_and_is_covered_by_a_wildcard_alone() {
        let all = Rule::everything();
        assert!(missing(&all, &all).is_empty());
        let held = [rule(&["get"], &["*"], &["*/scale"], &[])];
        assert!(missing(&held, &[rule(&["get"], &["apps"], &["x/scale"], &[])]).is_empty());
        assert_eq!(missing(&held, &[rule(&["get"], &["apps"], &["x"], &[])]).len(), 1);
        assert_eq!(missing(&[rule(&["get"], &[""], &["pods"], &[])], &all).len(), 2);
    }

    #[test]
    fn a_right_to_one_object_is_no_right_to_all() {
        let held = [rule(&["get"], &[""], &["pods"], &["a", "b"])];
        assert!(missing(&held, &[rule(&["get"], &[""], &["pods"], &["a"])]).is_empty());
        assert_eq!(missing(&held, &[rule(&["get"], &[""], &["pods"], &["c"])]).len(), 1);
        assert_eq!(missing(&held, &[rule(&["get"], &[""], &["pods"], &[])]).len(), 1);
    }
}
