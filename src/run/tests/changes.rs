//! Changes by others in a script: between two reconciles, or during one.

use serde_json::{Value, json};

use super::{
    caches::Caches,
    world::{World, named},
};

/// Carries out a command that changes the world or the caches; returns whether it is one.
pub(super) fn change(
    (command, arguments): (&str, &str),
    input: &Value,
    world: &mut World,
    caches: &mut Caches,
) -> bool {
    let (name, manager) = arguments.split_once(' ').unwrap_or((arguments, "kubectl"));
    let id = named(name);
    match command {
        "object" => world.put(&id, input, manager),
        "edit" | "edit-unseen" => world.edit(&id, input, manager),
        "alter" | "alter-unseen" => world.alter(&id, input),
        "release" => world.release(&id, manager),
        "delete" | "delete-unseen" => world.delete(&id),
        "replace" | "replace-unseen" => world.replace(&id, input, manager),
        "terminate" | "terminate-unseen" => {
            let ending = json!({"metadata": {
                "deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 30,
            }});
            world.edit(&id, &ending, "kube-apiserver");
        }
        "policy" => world.policy = Some(input.clone()).filter(|policy| !policy.is_null()),
        "pause-operator" => caches.is_paused = true,
        "resume-operator" => caches.is_paused = false,
        "forget-schema" => caches.schema = None,
        "unpublish-schema" => caches.publish(None),
        "unsynced" => caches.unsync(arguments),
        "synced" => caches.sync(),
        "hide" => caches.hide(&id),
        "undecodable" => caches.mark_undecodable(&id),
        "spare" => caches.spare = arguments.parse().unwrap(),
        "related-pending" => caches.related_pending = true,
        "related-listed" => (caches.related_pending, caches.related_unavailable) = (false, None),
        "related-unavailable" => caches.related_unavailable = Some(arguments.to_owned()),
        "unavailable" => caches.unavailable = Some(arguments.to_owned()),
        _ => return false,
    }
    if matches!(
        command,
        "object" | "edit" | "alter" | "release" | "delete" | "replace" | "terminate"
    ) {
        caches.watch(world);
    }
    true
}
