//! What the programs do differently. `docs/compare.md` shows the table, and `page.rs` holds the page against it.

use operetta::testkit::eventually;
use serde_json::{Value, json};

use crate::world::World;

/// What a program does, as it is written in its framework's usual way.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools, reason = "rows of a table")]
pub(crate) struct Peer {
    /// The name of the framework.
    pub(crate) name: &'static str,
    /// A field that somebody else added to the `ConfigMap` stays when the `ConfigMap` is repaired.
    pub(crate) keeps_fields_of_others: bool,
    /// A `ConfigMap` of somebody else that has the name is not modified.
    pub(crate) keeps_objects_of_others: bool,
    /// What was edited while the program was not running is repaired when it starts.
    pub(crate) repairs_after_start: bool,
    /// A status that somebody edited is written again.
    pub(crate) restores_status: bool,
    /// After a restart, three repairs are three writes: nothing is written that is as it should be.
    pub(crate) writes_only_changes: bool,
}

/// Every framework.
pub(crate) const PEERS: [Peer; 6] = [
    Peer {
        name: "Operetta",
        keeps_fields_of_others: true,
        keeps_objects_of_others: true,
        repairs_after_start: true,
        restores_status: true,
        writes_only_changes: true,
    },
    Peer {
        name: "kube-rs",
        keeps_fields_of_others: true,
        keeps_objects_of_others: false,
        repairs_after_start: true,
        restores_status: true,
        writes_only_changes: false,
    },
    Peer {
        name: "controller-runtime",
        keeps_fields_of_others: false,
        keeps_objects_of_others: false,
        repairs_after_start: true,
        restores_status: true,
        writes_only_changes: true,
    },
    Peer {
        name: "Kopf",
        keeps_fields_of_others: true,
        keeps_objects_of_others: false,
        repairs_after_start: true,
        restores_status: false,
        writes_only_changes: false,
    },
    Peer {
        name: "Metacontroller 1.5.20",
        keeps_fields_of_others: true,
        keeps_objects_of_others: true,
        repairs_after_start: true,
        restores_status: true,
        // It takes a number in a status for changed; later versions do not.
        writes_only_changes: false,
    },
    Peer {
        name: "roperator",
        keeps_fields_of_others: true,
        keeps_objects_of_others: true,
        repairs_after_start: true,
        restores_status: true,
        writes_only_changes: true,
    },
];

const REPAIRS: usize = 3;

/// The row of a framework.
pub(crate) fn of(name: &str) -> &'static Peer {
    PEERS.iter().find(|peer| peer.name == name).unwrap()
}

/// Asserts the row, in a world without Greetings.
pub(crate) async fn plays(world: &mut World, peer: &Peer) {
    world.greet("second", "world").await;
    world.until_greeted("second", "world").await;
    world.until_counted("second", 1).await;
    fields_of_others(world, peer).await;
    objects_of_others(world, peer).await;
    status(world, peer).await;
    edited_while_down(world, peer).await;
    writes(world, peer).await;
}

async fn fields_of_others(world: &World, peer: &Peer) {
    world.edit("second", json!({"hello": "edited", "other": "field"})).await;
    let repaired = world.until_greeted("second", "world").await;
    let stays = repaired["data"]["other"] == "field";
    assert_eq!(stays, peer.keeps_fields_of_others, "{repaired}");
}

async fn objects_of_others(world: &World, peer: &Peer) {
    world.create_config_map("taken", ("kept", "by others")).await;
    world.greet("taken", "world").await;
    if peer.keeps_objects_of_others {
        later(world, "after-taken").await;
        let config_map = world.config_map("taken").await;
        assert_eq!(config_map["data"], json!({"kept": "by others"}), "{config_map}");
        assert_eq!(config_map["metadata"]["ownerReferences"], Value::Null, "{config_map}");
    } else {
        world.until_greeted("taken", "world").await;
    }
    world.dismiss("taken").await;
}

async fn status(world: &World, peer: &Peer) {
    world.change_status("second", json!({"status": {"greeted": 7}})).await;
    if peer.restores_status {
        world.until_counted("second", 1).await;
    } else {
        later(world, "after-status").await;
        assert_eq!(world.greeting("second").await["status"]["greeted"], 7);
    }
}

async fn edited_while_down(world: &mut World, peer: &Peer) {
    world.kill();
    world.edit("second", json!({"hello": "edited"})).await;
    world.resume();
    if peer.repairs_after_start {
        world.until_greeted("second", "world").await;
    } else {
        later(world, "after-start").await;
        assert_eq!(world.config_map("second").await["data"]["hello"], "edited");
    }
}

async fn writes(world: &mut World, peer: &Peer) {
    world.kill();
    let before = world.writes().await.len();
    world.resume();
    for repair in 1..=REPAIRS {
        world.edit("second", json!({"hello": format!("edited {repair}")})).await;
        world.until_greeted("second", "world").await;
    }
    // The edits are writes too.
    let needed = 2 * REPAIRS;
    if peer.writes_only_changes {
        // A further write of it would come before the answer to a later change.
        later(world, "after-writes").await;
        let mut writes = world.writes().await.split_off(before);
        writes.retain(|write| write.contains("/second"));
        assert_eq!(writes.len(), needed, "{writes:#?}");
    } else {
        let writes = async || world.writes().await.split_off(before);
        let are_more = |writes: &Vec<String>| writes.len() > needed;
        eventually("writes that are not needed", writes, are_more).await;
    }
}

/// Waits until the program has answered to a Greeting that is created now.
async fn later(world: &World, name: &str) {
    world.greet(name, "later").await;
    world.until_greeted(name, "later").await;
    world.until_counted(name, 1).await;
}
