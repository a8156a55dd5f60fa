//! The stuck benchmark: causes that keep a parent from being ready, each planted as it happens in a cluster. The first
//! line of the explanation names the object and the field, and the first command that it prints cures the parent: it is
//! run as it is printed, in a shell.
//!
//! ```text
//!   rig      operators over a cluster, and a namespace for each cause
//!   cause    what is planted, what the first line has to name, how a file is edited, what others do then
//!   causes   all of them: what is refused, limited, held by others, returned by a handler, .. each in a file
//!   shell    runs a command with the rig's kubectl
//! ```
//!
//! `docs/stuck.md` has the table. `UPDATE_EXPECT=1` writes it.

mod cause;
mod causes;
mod connection;
mod handled;
mod handler;
mod held;
mod limits;
mod mounts;
mod namespaces;
mod order;
mod pods;
mod ports;
mod refused;
mod rig;
mod rights;
mod scheduling;
mod shell;
mod types;
mod volumes;
mod workloads;

use std::{fmt::Write, fs, panic::AssertUnwindSafe};

use futures::{FutureExt, future::join};
use serde_json::{Value, json};

use self::{
    cause::{Cause, Cured, End, Step},
    rig::{Place, Rig},
};
use crate::{
    needs::{Chosen, Need, needs},
    world::{NAMESPACE, eventually, is_ready},
};

/// What was seen.
struct Seen {
    cause: &'static str,
    what: String,
    /// The first command, or what others have to do.
    action: String,
    by: Cured,
    /// Why the command failed.
    error: Option<String>,
}

impl Place<'_> {
    async fn step(&self, step: Option<Step>) {
        if let Some(step) = step {
            step(self).await;
        }
    }

    /// The name of the parent; one without a namespace has that of the place.
    fn parent_of<'a>(&'a self, cause: &'a Cause) -> &'a str {
        if cause.parent.kind.is_cluster_scoped() { &self.namespace } else { cause.parent.name }
    }

    /// Waits for what the cure leads to.
    async fn until_cured(&self, cause: &Cause) {
        let (kind, what) = (cause.parent.kind, format!("{}: the parent", cause.name));
        match cause.end {
            End::Gone => drop(self.until(kind, cause.parent.name, &what, Value::is_null).await),
            End::Ready("") => drop(self.until(kind, &self.namespace, &what, is_ready).await),
            End::Ready(name) => drop(self.until(kind, name, &what, is_ready).await),
        }
    }
}

/// The explanation of the parent, once its first line names all that it has to.
async fn explained(place: &Place<'_>, cause: &Cause) -> Value {
    let namespace = (!cause.parent.kind.is_cluster_scoped()).then_some(&*place.namespace);
    let namespace = namespace.map(|name| format!("{name}/")).unwrap_or_default();
    let (operator, name) = (cause.parent.operator, place.parent_of(cause));
    let path = format!("/api/v1/operators/{operator}/parents/{namespace}{name}");
    let why = || async {
        let (_, body) = place.rig.operators.http(&path).await;
        serde_json::from_str::<Value>(&body).unwrap_or_default()["why"].take()
    };
    let names_all = |why: &Value| {
        let what = why["what"].as_str().unwrap_or_default();
        cause.names.iter().all(|name| what.contains(name))
    };
    eventually(&format!("{}: {:?}", cause.name, cause.names), why, names_all).await
}

/// The first command that is not for the author of the handler, or the first thing that others have to do.
fn first_action(why: &Value, by: Cured) -> String {
    let actions = why["actions"].as_array().into_iter().flatten();
    let mut theirs = actions.filter(|action| action["inCode"] == false);
    let field = match by {
        Cured::ByCommand => "command",
        Cured::ByOthers => "text",
    };
    theirs.find_map(|action| action[field].as_str()).unwrap_or_default().to_owned()
}

async fn play(rig: &Rig, number: usize, cause: &Cause) -> Seen {
    let place = Place { rig, namespace: format!("{}-{number}", rig.world.namespace) };
    rig.world.create(NAMESPACE, json!({"metadata": {"name": place.namespace}})).await;
    (cause.plant)(&place).await;
    let why = explained(&place, cause).await;
    let action = first_action(&why, cause.cured);
    let ran = match cause.cured {
        Cured::ByCommand => {
            join(rig.shell.run(&action, cause.edit), place.step(cause.meanwhile)).await.0
        }
        Cured::ByOthers => Ok(String::new()),
    };
    if ran.is_ok() {
        join(place.step(cause.then), place.until_cured(cause)).await;
    }
    let shown = |text: &str| {
        text.replace(&place.namespace, "shop").replace(&*rig.world.namespace, "kitchen")
    };
    let what = shown(why["what"].as_str().unwrap_or_default());
    Seen { cause: cause.name, what, action: shown(&action), by: cause.cured, error: ran.err() }
}

/// One that fails does not hide the others.
async fn played(rig: &Rig, number: usize, cause: &Cause) -> Seen {
    let seen = AssertUnwindSafe(play(rig, number, cause)).catch_unwind().await;
    seen.unwrap_or_else(|panic| {
        let why = panic.downcast_ref::<String>().cloned().unwrap_or_default();
        let (what, action) = <_>::default();
        Seen { cause: cause.name, what, action, by: cause.cured, error: Some(why) }
    })
}

#[operetta_harness::test(server)]
async fn each_cause_is_named_and_cured_by_the_first_command_as_it_is_printed() {
    needs(Need::Policies);
    needs(Need::Rbac);
    let mut seen = Vec::new();
    for group in causes::all() {
        let rig = (group.start)().await;
        for (number, cause) in group.causes.iter().enumerate() {
            seen.push(played(&rig, number, cause).await);
        }
        causes::clear(&rig.world).await;
        rig.operators.stop().await;
    }
    let failed: Vec<String> = seen
        .iter()
        .filter_map(|it| Some(format!("{}: {}: {}", it.cause, it.action, it.error.as_ref()?)))
        .collect();
    assert!(failed.is_empty(), "{failed:#?}");
    let cured = seen.iter().filter(|it| it.by == Cured::ByCommand).count();
    println!("figure: {} causes named, {cured} cured by the first command", seen.len());
    assert!(seen.len() >= 60 && cured >= 55, "{} named, {cured} cured", seen.len());
    if Chosen::from_environment() == Chosen::Embedded {
        is_in_the_book(&seen);
    }
}

/// Without what differs from run to run: the code of an approval, which is that of uids, and the size of an object.
fn steady(text: &str) -> String {
    for (before, after, instead) in [("allow-deletion=", "", "CODE"), ("it has ", " bytes", "N")] {
        if let Some((begin, rest)) = text.split_once(before)
            && let Some(at) = rest.rfind(after)
        {
            return format!("{begin}{before}{instead}{}", &rest[at..]);
        }
    }
    text.to_owned()
}

/// The table of `docs/stuck.md`.
fn is_in_the_book(seen: &[Seen]) {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/stuck.md");
    let book = fs::read_to_string(file).unwrap();
    let (before, _) = book.split_once("| cause |").expect("a table in docs/stuck.md");
    let mut table = String::from("| cause | what | the first command |\n|---|---|---|\n");
    for Seen { cause, what, action, by, .. } in seen {
        let cell = |text: &str| steady(text).replace('|', "\\|");
        let action = match by {
            Cured::ByCommand => format!("`{}`", cell(action)),
            Cured::ByOthers => format!("none: {}", cell(action)),
        };
        let _ = writeln!(table, "| {cause} | {} | {action} |", cell(what));
    }
    let written = format!("{before}{table}");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(file, written).unwrap();
    } else {
        assert_eq!(book, written, "run it with UPDATE_EXPECT=1");
    }
}
