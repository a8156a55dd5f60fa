//! Whether the replicas kept their promises, by the writes that the server received.
//!
//! A replica may write for a parent while its Lease says that it holds the parent's bucket, and has not expired. When another
//! one writes for the same bucket, the Lease of the earlier one has said otherwise meanwhile, or has expired.
//!
//! A request took effect between two times. Only what is wrong whenever that was is a finding.

use std::collections::BTreeMap;

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::{
    load::{Parents, children_of},
    log::Write,
    replica::LEASE,
};

const BUCKETS: u64 = 64;

/// A Lease as it was written: what its holder may write in since then.
#[derive(Debug, Clone)]
struct Claim {
    received: Timestamp,
    answered: Timestamp,
    /// A bit for each bucket.
    holds: u64,
    /// Whether the write took effect.
    is_sure: bool,
}

/// A write for a parent.
#[derive(Debug, Clone, Copy)]
struct Work<'a> {
    write: &'a Write,
    bucket: u64,
}

/// What is wrong: writes without a claim, and two replicas that wrote in one bucket.
pub(super) fn findings(writes: &[Write], parents: &Parents) -> Vec<String> {
    let claims = claims(writes);
    let works: Vec<Work<'_>> = writes.iter().filter_map(|write| work(write, parents)).collect();
    let unclaimed = works.iter().filter(|work| !may_write(&claims, work));
    let mut findings: Vec<String> =
        unclaimed.map(|work| format!("written without a claim: {}", shown(work.write))).collect();
    for bucket in 0..BUCKETS {
        let here: Vec<Work<'_>> = works.iter().filter(|it| it.bucket == bucket).copied().collect();
        findings.extend(overlaps(&claims, &here));
    }
    findings
}

/// How many writes of how many parents are judged, for the figure of a run.
pub(super) fn extent(writes: &[Write], parents: &Parents) -> String {
    let judged = writes.iter().filter(|write| work(write, parents).is_some()).count();
    let leases = writes.iter().filter(|write| write.resource == "leases").count();
    format!("{judged} writes for {} parents, {leases} of Leases", parents.len())
}

/// The children that were not created once, or not deleted once where users took them away.
pub(super) fn miscounted(writes: &[Write], parents: &Parents) -> Vec<String> {
    let children = || writes.iter().filter(|write| write.resource == "configmaps");
    let created = counted(children().filter(|write| write.code == 201));
    let deleted = counted(children().filter(|write| write.verb == "delete" && write.is_sure()));
    let unknown = counted(children().filter(|write| !write.is_sure()));
    let count = |counts: &BTreeMap<&str, i32>, name: &str| counts.get(name).copied().unwrap_or(0);
    let wanted = parents.iter().flat_map(|(name, wanted)| children_of(name, wanted));
    let wrong = wanted.filter_map(|(name, is_there)| {
        let (made, gone) = (count(&created, &name), count(&deleted, &name));
        // One of those may be what is missing.
        let missing = 1 - made + i32::from(!is_there) - gone;
        let is_right =
            made <= 1 && gone <= i32::from(!is_there) && missing <= count(&unknown, &name);
        (!is_right).then(|| format!("{name}: created {made} times, deleted {gone} times"))
    });
    wrong.collect()
}

fn counted<'a>(writes: impl Iterator<Item = &'a Write>) -> BTreeMap<&'a str, i32> {
    let mut counts = BTreeMap::new();
    for write in writes {
        *counts.entry(write.name.as_str()).or_insert(0) += 1;
    }
    counts
}

/// What each replica said in its Lease, in the order in which it said so.
fn claims(writes: &[Write]) -> BTreeMap<&str, Vec<Claim>> {
    let mut claims: BTreeMap<&str, Vec<Claim>> = BTreeMap::new();
    for write in writes {
        let is_own = write.name == format!("{}-{}", super::GROUP, write.replica);
        if write.resource == "leases" && write.verb != "delete" && is_own {
            let holds = holds(&write.body);
            let Write { received, answered, .. } = *write;
            let is_sure = write.is_sure();
            let claim = Claim { received, answered, holds, is_sure };
            claims.entry(&write.replica).or_default().push(claim);
        }
    }
    claims
}

fn holds(lease: &Value) -> u64 {
    let said = lease["metadata"]["annotations"]["operetta.dev/shard"].as_str();
    let said: Value = serde_json::from_str(said.expect("the Lease says what it holds")).unwrap();
    let number = |text: &str| text.parse::<u32>().unwrap();
    let ranges = said["holds"].as_str().unwrap().split(',').filter(|range| !range.is_empty());
    ranges.fold(0, |all, range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        (number(first)..=number(last)).fold(all, |all, bucket| all | 1 << bucket)
    })
}

/// A write of a parent, its status, its finalizers or its children.
fn work<'a>(write: &'a Write, parents: &Parents) -> Option<Work<'a>> {
    let parent = match write.resource.as_str() {
        "recipes" => write.name.as_str(),
        "configmaps" => write.name.rsplit_once('-')?.0,
        _ => return None,
    };
    let uid = &parents.get(parent)?.uid;
    Some(Work { write, bucket: bucket(uid) })
}

/// The top six bits of FNV-1a.
fn bucket(uid: &str) -> u64 {
    let hash = uid.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash >> 58
}

/// Whether the Lease of the replica may have said so, and may not have expired.
fn may_write(claims: &BTreeMap<&str, Vec<Claim>>, work: &Work<'_>) -> bool {
    let claims = claims.get(&*work.write.replica).map_or(&[][..], Vec::as_slice);
    let Write { received, answered, .. } = *work.write;
    claims.iter().enumerate().any(|(at, claim)| {
        let mut later = claims[at + 1..].iter();
        let is_replaced = later.any(|next| next.is_sure && next.answered < received);
        let is_expired = claim.answered + lease() < received;
        claim.holds >> work.bucket & 1 == 1
            && claim.received <= answered
            && !is_replaced
            && !is_expired
    })
}

/// Where one replica wrote after another one that still held the bucket.
fn overlaps(claims: &BTreeMap<&str, Vec<Claim>>, works: &[Work<'_>]) -> Vec<String> {
    let mut last: BTreeMap<&str, &Write> = BTreeMap::new();
    let mut found = Vec::new();
    for Work { write, bucket } in works {
        for (replica, earlier) in last.iter().filter(|(replica, _)| **replica != write.replica) {
            if still_held(&claims[replica], *bucket, earlier, write) {
                let (one, other) = (shown(earlier), shown(write));
                found.push(format!("two wrote in bucket {bucket}: {one}, then {other}"));
            }
        }
        last.insert(&write.replica, write);
    }
    found
}

/// Whether a replica held a bucket without a break, from its own write to that of another one.
fn still_held(claims: &[Claim], bucket: u64, own: &Write, other: &Write) -> bool {
    let is_before = |claim: &Claim| claim.is_sure && claim.answered <= own.received;
    let begin = claims.iter().rposition(is_before).unwrap_or_default();
    let end = claims.partition_point(|claim| claim.received < other.answered);
    let between = claims.get(begin..end).unwrap_or_default();
    let is_held = between.iter().all(|claim| claim.holds >> bucket & 1 == 1);
    let sure: Vec<&Claim> = between.iter().filter(|claim| claim.is_sure).collect();
    let renewed = sure.iter().skip(1).map(|claim| claim.answered).chain([other.answered]);
    let is_renewed = sure.iter().zip(renewed).all(|(claim, next)| next < claim.received + lease());
    is_held && is_renewed && !sure.is_empty()
}

fn lease() -> SignedDuration {
    LEASE.try_into().expect("it is short")
}

fn shown(write: &Write) -> String {
    let Write { replica, verb, resource, name, code, received, answered, body: _ } = write;
    format!("{replica} {verb} {resource} {name} ({code}) from {received} to {answered}")
}
