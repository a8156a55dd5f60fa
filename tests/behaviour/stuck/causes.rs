//! All causes, by the operators under which they are planted.

use super::{
    cause::Group, connection, handled, handler, held, limits, mounts, namespaces, order, pods,
    ports, refused, rights, scheduling, types, volumes, workloads,
};
use crate::world::World;

pub(super) fn all() -> Vec<Group> {
    let usual = [
        refused::all(),
        limits::all(),
        ports::all(),
        held::all(),
        namespaces::all(),
        handled::all(),
        pods::all(),
        mounts::all(),
        scheduling::all(),
        volumes::all(),
        workloads::all(),
        order::all(),
    ];
    let usual = usual.into_iter().flatten().collect();
    let mut groups = vec![Group { start: handler::usual, causes: usual }];
    groups.extend([rights::group(), types::group(), types::converted()]);
    groups.extend([connection::elected(), connection::cut(), connection::refused()]);
    groups
}

/// Removes what has no namespace.
pub(super) async fn clear(world: &World) {
    refused::clear(world).await;
    limits::clear(world).await;
    types::clear(world).await;
    volumes::clear(world).await;
}
