//! What a member of a group says of itself, in an annotation of its Lease.
//!
//! The annotation has a seal: a hash of what it says, of the holder and of the time of the renewal. Without it, an edit by
//! hand could look like a member that gives buckets up. The seal is no secret; it finds mistakes, not attacks.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::bucket::{Buckets, fnv_1a};
use crate::election::Lease;

/// The label of the Leases of a group. Its value is the name of the group.
pub const SHARD_GROUP_LABEL: &str = "operetta.dev/shard-group";

/// The annotation with what a member says.
const SHARD_ANNOTATION: &str = "operetta.dev/shard";

/// What a member says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Standing {
    /// The buckets in which it may write.
    pub(crate) holds: Buckets,
    /// The buckets that its caches hold completely.
    pub(crate) warm: Buckets,
    /// Whether it stops, and others are to take its buckets.
    pub(crate) is_leaving: bool,
    /// Whether others are to take its buckets, because its caches could not be completed for its share.
    pub(crate) declines: bool,
    /// Where its web endpoint answers other members.
    pub(crate) url: Option<String>,
}

/// The text of the annotation.
#[derive(Serialize, Deserialize)]
struct Written {
    holds: String,
    warm: String,
    /// Whether it is given no buckets.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    leaving: bool,
    /// Whether that is so only until its caches are complete. Earlier versions do not know it, so that it is not sealed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    declines: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    seal: String,
}

impl Standing {
    /// Whether it can be given buckets.
    pub(super) fn takes(&self) -> bool {
        !self.is_leaving && !self.declines
    }

    /// The same in the Lease of a member, taken or renewed.
    pub(super) fn held_in(
        &self,
        lease: &Lease,
        (group, member): (&str, &str),
        duration: Duration,
        at: SystemTime,
    ) -> Lease {
        self.sealed(lease.held_by(member, duration, at), group)
    }

    /// The end of a member, which holds nothing any more.
    pub(super) fn released_in(lease: &Lease, group: &str, at: SystemTime) -> Lease {
        Self { is_leaving: true, ..Self::default() }.sealed(lease.released(at), group)
    }

    fn sealed(&self, lease: Lease, group: &str) -> Lease {
        let mut written = Written {
            holds: self.holds.to_string(),
            warm: self.warm.to_string(),
            leaving: !self.takes(),
            declines: self.declines,
            url: self.url.clone(),
            seal: String::new(),
        };
        written.seal = seal(&written, &lease);
        // It is text and booleans, which JSON can represent.
        let text = serde_json::to_string(&written).unwrap_or_default();
        lease.labelled(SHARD_GROUP_LABEL, group).annotated(SHARD_ANNOTATION, &text)
    }

    /// What a Lease says; `None` if its member did not write it so.
    pub(super) fn of(lease: &Lease) -> Option<Self> {
        let written: Written = serde_json::from_str(lease.annotation(SHARD_ANNOTATION)?).ok()?;
        if seal(&written, lease) != written.seal {
            return None;
        }
        Some(Self {
            holds: written.holds.parse().ok()?,
            warm: written.warm.parse().ok()?,
            is_leaving: written.leaving && !written.declines,
            declines: written.leaving && written.declines,
            url: written.url,
        })
    }
}

fn seal(written: &Written, lease: &Lease) -> String {
    let Written { holds, warm, leaving, declines: _, url, seal: _ } = written;
    let url = url.as_deref().unwrap_or_default();
    let (holder, renewed) = (lease.holder().unwrap_or_default(), lease.renewed());
    let sealed = format!("{holds}|{warm}|{leaving}|{url}|{holder}|{renewed}");
    format!("{:016x}", fnv_1a(sealed.as_bytes()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn standing() -> Standing {
        Standing {
            holds: "0-20,42".parse().unwrap(),
            warm: "0-63".parse().unwrap(),
            is_leaving: false,
            declines: false,
            url: Some("https://10.0.0.3:8443".to_owned()),
        }
    }

    fn held() -> Lease {
        let (lease, at) = (Lease::new("ns", "cooks-1"), SystemTime::UNIX_EPOCH);
        standing().held_in(&lease, ("cooks", "cooks-1"), Duration::from_secs(15), at)
    }

    #[test]
    fn what_a_member_says_is_read_as_it_was_written() {
        let lease = held();
        assert_eq!(Standing::of(&lease), Some(standing()));
        assert_eq!(
            lease.body()["metadata"]["labels"],
            json!({"operetta.dev/shard-group": "cooks"})
        );
        assert_eq!(lease.holder(), Some("cooks-1"));
        let released = Standing::released_in(&lease, "cooks", SystemTime::UNIX_EPOCH);
        let said = Standing::of(&released).unwrap();
        assert!(said.holds.is_empty() && said.is_leaving && released.holder().is_none());
    }

    /// Earlier versions do not know the reason, and give such a member no buckets either.
    #[test]
    fn a_member_that_declines_looks_as_if_it_left_to_who_does_not_know_that() {
        let (lease, at) = (Lease::new("ns", "cooks-1"), SystemTime::UNIX_EPOCH);
        let declines = Standing { declines: true, ..standing() };
        let lease = declines.held_in(&lease, ("cooks", "cooks-1"), Duration::from_secs(15), at);
        assert_eq!(Standing::of(&lease), Some(declines));
        let mut body = lease.body().clone();
        let text = body["metadata"]["annotations"][SHARD_ANNOTATION].as_str().unwrap();
        let unknown = text.replace(r#""declines":true,"#, "");
        assert!(unknown.contains(r#""leaving":true"#) && unknown != text, "{text}");
        body["metadata"]["annotations"][SHARD_ANNOTATION] = json!(unknown);
        let said = Standing::of(&Lease::of(body)).unwrap();
        assert!(said.is_leaving && !said.takes());
    }

    #[test]
    fn an_edit_by_hand_is_not_taken_for_what_the_member_says() {
        let edits: [fn(&mut Value); 5] = [
            |lease| lease["spec"]["holderIdentity"] = json!("somebody"),
            |lease| lease["spec"]["renewTime"] = json!("2026-01-01T00:00:00.000000Z"),
            |lease| lease["metadata"]["annotations"] = json!({}),
            |lease| {
                let text = lease["metadata"]["annotations"][SHARD_ANNOTATION].as_str().unwrap();
                let other = text.replace("0-20,42", "");
                lease["metadata"]["annotations"][SHARD_ANNOTATION] = json!(other);
            },
            |lease| lease["metadata"]["annotations"][SHARD_ANNOTATION] = json!("{}"),
        ];
        for edit in edits {
            let mut body = held().body().clone();
            edit(&mut body);
            assert_eq!(Standing::of(&Lease::of(body.clone())), None, "{body}");
        }
    }
}
