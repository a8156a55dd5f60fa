//! A parent with a name that fits.

use super::kubectl;
use crate::{history::Action, plan::ChildId};

/// A name cannot be changed: the object is created again with another.
pub(super) fn renamed(parent: &ChildId) -> Action {
    let name = &parent.key.name;
    let shorter: String = name.chars().filter(|letter| *letter != '.').take(30).collect();
    let shorter = shorter.trim_end_matches('-');
    let (get, delete) = (kubectl::on("get", parent), kubectl::on("delete", parent));
    let copy = format!(
        "{get} -o json | jq 'del(.status) | .metadata = {{name: {shorter:?}, namespace: .metadata.namespace, labels: \
         .metadata.labels}}' | kubectl create -f - && {delete}"
    );
    Action::command("Create it again with a name that fits, and delete this one", copy)
}
