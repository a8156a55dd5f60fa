//! Which process works for a parent.

use std::fmt;

use tokio::runtime::Handle;

use super::{
    client::{Asked, PeerAnswer, PeerError, ask},
    sought::Sought,
};
use crate::{
    board::{Board, Group},
    election::{Bucket, Standing},
    object::Uid,
    web::{access::Reviewing, tls::Certificates},
};

/// The other processes of the group. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Peers {
    /// The connection by which uids are read, once it is there.
    cluster: Reviewing,
    /// Where requests are sent.
    runtime: Handle,
    certificates: Option<Certificates>,
}

/// Who works for a parent.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// This process, or nobody, or there is no such parent.
    Here,
    /// Another one, and where it answers.
    There { member: String, url: Option<String> },
}

impl Peers {
    pub(crate) fn new(
        cluster: Reviewing,
        runtime: Handle,
        certificates: Option<Certificates>,
    ) -> Self {
        Self { cluster, runtime, certificates }
    }

    /// Reads the uid of a parent, which says who works for it.
    pub(super) async fn owner(&self, sought: &Sought, board: &Board) -> Result<Owner, PeerError> {
        let (Some(group), Some(cluster)) = (board.group(), self.cluster.get().cloned()) else {
            return Ok(Owner::Here);
        };
        let Sought { ty, key } = sought.clone();
        let reading = self.runtime.spawn(async move { cluster.read_whole(&ty, &key).await });
        let read = reading.await.map_err(|_| PeerError::Stopping)?;
        let parent = read.map_err(|error| PeerError::Unread(error.to_string()))?;
        let uid = parent.as_ref().and_then(|parent| parent["metadata"]["uid"].as_str());
        Ok(uid.map_or(Owner::Here, |uid| of(&group, &Uid::new(uid))))
    }

    /// Asks another process.
    pub(in crate::web) async fn ask(
        &self,
        url: &str,
        asked: Asked,
    ) -> Result<PeerAnswer, PeerError> {
        let (url, certificates) = (url.to_owned(), self.certificates.clone());
        let asking = self.runtime.spawn(async move { ask(&url, asked, certificates).await });
        asking.await.map_err(|_| PeerError::Stopping)?
    }
}

fn of(group: &Group, uid: &Uid) -> Owner {
    let bucket = Bucket::of(uid);
    let holds = |said: &Standing| said.holds.has(bucket);
    if group.works.has(bucket) {
        return Owner::Here;
    }
    let mut others =
        group.others.iter().filter_map(|(member, said)| Some((member, said.as_ref()?)));
    match others.find(|(_, said)| holds(said)) {
        Some((member, said)) => Owner::There { member: member.clone(), url: said.url.clone() },
        None => Owner::Here,
    }
}

impl fmt::Debug for Peers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Peers")
    }
}
