//! Stable texts of the events, effects and facts of a reconcile: one line each. They show names, versions,
//! paths and codes, never content.

use serde_json::Value;

use super::world::parent_type;
use crate::{
    journal::{Decorated, Fact, Failure, Left, Planned, RequestFailure, Wait, Written},
    object::Redactor,
    plan::{ChildId, Settled},
    reply::{ApiError, Deleted},
    run::{Answer, Cache, DryRun, Effect, Event, Force, Reply, Request, Response},
};

// === events ===

pub(super) fn event(event: &Event) -> String {
    match event {
        Event::Started(_) => "started".to_owned(),
        Event::HandlerReturned(Ok(Response::Related(_))) => "related returned".to_owned(),
        Event::HandlerReturned(Ok(Response::Synced(_))) => "sync returned".to_owned(),
        Event::HandlerReturned(Ok(Response::Finalized(_))) => "finalize returned".to_owned(),
        Event::HandlerReturned(Err(error)) => format!("handler: {}", failure(&error.failure)),
        Event::HandlerTimeout(_) => "handler timeout".to_owned(),
        Event::Answered(id, answered) => format!("answered {id}: {}", answer(answered)),
        Event::Reserved(reserved) => {
            format!("deletions {}", if reserved.is_ok() { "reserved" } else { "too many" })
        }
        Event::RelatedRead(_) => "related read".to_owned(),
        Event::Resumed => "resumed".to_owned(),
        Event::SchemaRead(_) => "schema read".to_owned(),
    }
}

fn answer(answer: &Answer) -> String {
    match answer {
        Ok(Reply::Object(Some(object))) => format!("at {}", object.resource_version()),
        Ok(Reply::Object(None) | Reply::Whole(None)) => "not there".to_owned(),
        Ok(Reply::Whole(Some(_))) => "all of it".to_owned(),
        Ok(Reply::Written(object)) => format!("written at {}", object.resource_version()),
        Ok(Reply::Scaled) => "scaled".to_owned(),
        Ok(Reply::Deleted(Deleted::Gone)) => "gone".to_owned(),
        Ok(Reply::Deleted(Deleted::Terminating(object))) => {
            format!("terminating at {}", object.resource_version())
        }
        Ok(Reply::Listed(objects)) => format!("{} listed", objects.len()),
        Err(error) => code(error),
    }
}

fn code(error: &ApiError) -> String {
    error.code().map_or_else(|| "no answer".to_owned(), |code| code.to_string())
}

// === effects ===

pub(super) fn effect(effect: &Effect) -> String {
    match effect {
        Effect::Call(method, _) => format!("call {method:?}").to_lowercase(),
        Effect::Send(id, sent) => format!("send {id}: {}", request(sent)),
        Effect::Ask(_, asks) => {
            let asks: Vec<_> = asks.iter().map(|(ty, ask)| format!("{ty} {ask}")).collect();
            format!("ask({})", asks.join(", ")).to_lowercase()
        }
        Effect::ReadRelated(_) => "read the related objects".to_owned(),
        Effect::Cache(cached) => format!("cache {}", cache(cached)),
        Effect::Reserve(_, deletions) => format!("reserve {deletions} deletions"),
        Effect::Release(_, deleted) => format!("release all but {deleted} deletions"),
        Effect::ReadSchema(_) => "read the schema".to_owned(),
        Effect::Resume => "resume".to_owned(),
        Effect::ShowNow(failure) => format!("show {}", failure.reason()),
        Effect::Finished => "finished".to_owned(),
    }
}

/// What a request sends, without labels, owners and conditions.
pub(super) fn body(effect: &Effect) -> Option<String> {
    let Effect::Send(_, request) = effect else { return None };
    let kept = |body: &Value| {
        let mut kept = body.clone();
        let mut remove = |path: &str, names: &[&str]| {
            if let Some(object) = kept.pointer_mut(path).and_then(Value::as_object_mut) {
                object.retain(|name, _| !names.contains(&name.as_str()));
            }
        };
        remove("/metadata", &["labels", "ownerReferences", "name", "namespace", "managedFields"]);
        remove("/status", &["conditions"]);
        remove("", &["apiVersion", "kind"]);
        kept.to_string()
    };
    match request {
        Request::Apply { id, body, .. } if id.ty == parent_type() => {
            let metadata = &body["metadata"];
            Some(["labels", "annotations", "uid"].map(|it| metadata[it].to_string()).join(" "))
        }
        Request::Apply { body, .. }
        | Request::ApplyStatus { body, .. }
        | Request::Patch(_, body)
        | Request::PatchStatus(_, body) => Some(kept(body)),
        Request::Delete { uid, version, propagation, .. } => {
            Some(format!("{uid} at {version}, {propagation:?}"))
        }
        Request::Scale { version, replicas, .. } => Some(format!("{replicas} at {version}")),
        Request::Read(_) | Request::ReadWhole(_) | Request::List { .. } => None,
    }
}

fn request(request: &Request) -> String {
    let how = match request {
        Request::Apply { dry_run: DryRun::OfNew, .. } => " as a new object",
        Request::Apply { force: Force::No, .. } | Request::ApplyStatus { force: Force::No, .. } => {
            " without force"
        }
        Request::Apply { body, .. } if body["metadata"]["resourceVersion"] == "1" => " if absent",
        _ => "",
    };
    // The name in a dry run of a new object is random.
    let what = format!("{request:?}");
    let what = what.split_once("operetta-trial-").map_or(&*what, |(what, _)| what);
    format!("{what}{how}")
}

fn cache(cache: &Cache) -> String {
    match cache {
        Cache::Wrote(object) => {
            format!("wrote {} at {}", ChildId::of(object), object.resource_version())
        }
        Cache::Saw(object) => {
            format!("saw {} at {}", ChildId::of(object), object.resource_version())
        }
        Cache::Deleted(id, _) => format!("deleted {id}"),
        Cache::Absent(id, _) => format!("absent {id}"),
    }
}

// === facts ===

/// A new kind of fact needs a text here.
pub(super) fn fact(fact: &Fact) -> String {
    match fact {
        Fact::Began(version) => format!("Began at {version}"),
        Fact::Parent(end) => format!("Parent {end:?}"),
        Fact::BeganPaused(by) => format!("BeganPaused by the {}", by.name()),
        Fact::Paused(pause) => format!("Paused by the {}: {}", pause.by.name(), pause.held),
        Fact::PauseKnown(_, pause) => format!("PauseKnown: {pause}"),
        Fact::ParentWaits(why) => format!("ParentWaits: {why}"),
        Fact::Answered { has_failed, generation, is_deleting } => {
            let failed = if *has_failed { ", failed" } else { "" };
            let deleting = if *is_deleting { ", deleting" } else { "" };
            format!("Answered for generation {generation}{failed}{deleting}")
        }
        Fact::EventsReturned { of_error, events } => {
            let names: Vec<_> = events.iter().map(|event| event.reason.as_str()).collect();
            let error = if *of_error { " for its error" } else { "" };
            format!("EventsReturned{error}: {}", names.join(", "))
        }
        Fact::Resync(after) => format!("Resync after {after:?}"),
        Fact::Failed(failed) => format!("Failed: {}", failure(failed)),
        Fact::Planned(plan) => planned(plan),
        Fact::TerminatingChildren { expected, blocked, .. } => {
            let blocked = if blocked.is_empty() { "" } else { ", some are blocked" };
            format!("TerminatingChildren: {expected} expected back soon{blocked}")
        }
        Fact::Judged { held: None, .. } => "Judged".to_owned(),
        Fact::Judged { held: Some(held), .. } => format!("Judged: {} held", names(&held.children)),
        Fact::WritesEnded { existing, unknown } => {
            let unknown = if unknown.is_empty() { "" } else { ", not all synced" };
            format!("WritesEnded: {existing} existed{unknown}")
        }
        Fact::WritesHeld(existing) => format!("WritesHeld: {existing} existed"),
        Fact::UpToDate(child) => format!("UpToDate {child}"),
        Fact::DryRunUnchanged(known) => format!("DryRunUnchanged {}", settled(known)),
        Fact::DryRunDiffers(known) => format!("DryRunDiffers {}", settled(known)),
        Fact::Waits { child, why, is_put_off } => waits(child, why, *is_put_off),
        Fact::Written(write) => written(write),
        Fact::WroteNothing { paths, settled: known } => {
            format!("WroteNothing {}{}", settled(known), at(paths))
        }
        Fact::MayBeDeleted { child, .. } => format!("MayBeDeleted {child}"),
        Fact::RequestFailed { failure, .. } => format!("RequestFailed {}", failed_request(failure)),
        Fact::Foreign(foreign) => format!("Foreign {}: {}", foreign.id, foreign.owner),
        Fact::NotForeign(child) => format!("NotForeign {child}"),
        Fact::Unwatched => "Unwatched".to_owned(),
        Fact::ConflictFound(child) => format!("ConflictFound {child}"),
        Fact::Contested(contested) => format!("Contested {contested}"),
        Fact::WaitedFor(stages) => format!("WaitedFor stages {stages:?}"),
        Fact::RolledOut(far) => format!("RolledOut {far}"),
        Fact::StageDue(left) => format!("StageDue in {} s", left.as_secs()),
        fact => drift(fact),
    }
}

fn drift(fact: &Fact) -> String {
    match fact {
        Fact::Drifted(child, rewrite) => format!("Drifted {child}{}", at(&rewrite.paths)),
        Fact::RivalFound { subject, rival, .. } => {
            format!("RivalFound {}: {subject:?}", rival.as_deref().unwrap_or("nobody"))
        }
        Fact::Repeated(repeat) => {
            let (times, subject) = (repeat.times, &repeat.subject);
            format!("Repeated {subject:?}{}, {times} times too often", at(&repeat.paths))
        }
        Fact::FinalizersChanged => "FinalizersChanged".to_owned(),
        Fact::FinalizersDelayed(times) => format!("FinalizersDelayed, {times} times too often"),
        Fact::Slowed { now, deferred } => format!("Slowed now {now:?}, deferred {deferred:?}"),
        Fact::ChildrenNotRetried => "ChildrenNotRetried".to_owned(),
        Fact::Flapping(why, _) => format!("Flapping {}", why.name()),
        fact => decoration(fact),
    }
}

fn decoration(fact: &Fact) -> String {
    match fact {
        Fact::Decorated(Decorated { parent, paths, .. }) => {
            format!("Decorated {parent}{}", at(paths))
        }
        Fact::DecorationHeld { in_status, .. } => format!("DecorationHeld, in status: {in_status}"),
        Fact::DecorationFree { in_status } => format!("DecorationFree, in status: {in_status}"),
        Fact::DecorationDelayed(times) => format!("DecorationDelayed, {times} times too often"),
        Fact::ParentHeld(conflict) => format!("ParentHeld: {conflict}"),
        fact => status(fact),
    }
}

fn status(fact: &Fact) -> String {
    match fact {
        Fact::StatusUpToDate { parent: Some(version), .. } => {
            format!("StatusUpToDate at {version}")
        }
        Fact::StatusUpToDate { parent: None, .. } => "StatusUpToDate".to_owned(),
        Fact::StatusSent { is_kept: true, .. } => "StatusSent".to_owned(),
        Fact::StatusSent { is_kept: false, .. } => "StatusSent: nothing kept".to_owned(),
        Fact::StatusWritten => "StatusWritten".to_owned(),
        Fact::StatusDue => "StatusDue".to_owned(),
        Fact::StatusFailed(failure) => format!("StatusFailed {}", failed_request(failure)),
        Fact::StatusRefused { shows_conditions, .. } => {
            let shown =
                if *shows_conditions { "the conditions are written" } else { "nothing is written" };
            format!("StatusRefused: {shown}")
        }
        Fact::StatusBegan => "StatusBegan".to_owned(),
        Fact::ReadyReturned => "ReadyReturned".to_owned(),
        Fact::NotReady(why) => format!("NotReady: {}", why.shown(&Redactor::Nothing)),
        Fact::Undeclared(fields) => {
            let paths: Vec<_> = fields.iter().map(|field| field.path.clone()).collect();
            format!("Undeclared{}", at(&paths))
        }
        Fact::Overruled(_) => "Overruled".to_owned(),
        other => panic!("a fact without text: {other:?}"),
    }
}

fn failure(failure: &Failure) -> String {
    let is_final = if failure.is_for_good() { " for good" } else { "" };
    format!("{}{is_final}", failure.reason())
}

fn failed_request(failure: &RequestFailure) -> String {
    format!("{}: {}{}", failure.what, code(&failure.error), failure.hint)
}

fn planned(Planned { up_to_date, replacing, children, .. }: &Planned) -> String {
    let replacing = match replacing.len() {
        0 => String::new(),
        count => format!(", {count} terminating"),
    };
    let of_each = |(child, plan): &(ChildId, _)| format!(", {child} {plan:?}");
    let each: String = children.iter().flatten().map(of_each).collect();
    format!("Planned: {up_to_date} up to date{replacing}{each}")
}

fn waits(child: &ChildId, why: &Wait, is_put_off: bool) -> String {
    let put_off = if is_put_off { " (put off)" } else { "" };
    format!("Waits {child}{put_off}: {why}")
}

fn written(Written { child, verb, paths, rewrite, left }: &Written) -> String {
    let again = rewrite.as_ref().map(|it| format!(", again: {:?}", it.why)).unwrap_or_default();
    let left = match left {
        Left::As(_) | Left::Gone => "",
        Left::ToRecreate { .. } => ", to recreate",
    };
    format!("Written {verb:?} {child}{}{again}{left}", at(paths))
}

fn settled(settled: &Settled) -> String {
    settled.id.to_string()
}

fn names(children: &[ChildId]) -> String {
    children.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn at(paths: &[String]) -> String {
    if paths.is_empty() { String::new() } else { format!(" at {}", paths.join(" ")) }
}
