//! The stuck benchmark: causes that keep a parent from being ready, each planted as it happens in a cluster. The first
//! line of the explanation names the object and the field, and the first command that it prints cures the parent: it is
//! run as it is printed, in a shell.
//!
//! ```text
//!   causes   what is planted, what the first line has to name, how a file is edited, what others do then
//!   shell    runs a command with the rig's kubectl
//! ```
//!
//! `docs/stuck.md` has the table. `UPDATE_EXPECT=1` writes it.

mod causes;
mod handler;
mod pods;
mod shell;

use std::{fmt::Write, fs};

use futures::{FutureExt, future::BoxFuture};
use kube::{
    Api,
    api::{DynamicObject, Patch, PatchParams, PostParams},
};
use operetta::testkit::until_ready;
use serde_json::{Value, json};

use self::shell::Shell;
use crate::{
    needs::{Chosen, Need, needs},
    recipe::RECIPE,
    world::{Kind, NAMESPACE, Operators, World, eventually, object},
};

/// A cause.
pub(super) struct Cause {
    /// As in the table.
    name: &'static str,
    /// What the first line has to contain.
    names: &'static [&'static str],
    plant: for<'a> fn(&'a Place<'a>) -> BoxFuture<'a, ()>,
    /// The expression of sed by which a user corrects what an editor shows.
    edit: &'static str,
    /// What others do when the command has been run, such as a scheduler that no test has.
    then: Option<for<'a> fn(&'a Place<'a>) -> BoxFuture<'a, ()>>,
    /// The name of the parent that is then ready.
    ready: &'static str,
}

/// Where a cause is planted: a namespace of its own.
pub(super) struct Place<'a> {
    world: &'a World,
    namespace: String,
}

/// What was seen.
struct Seen {
    cause: &'static str,
    what: String,
    command: String,
    cured: Result<(), String>,
}

impl Place<'_> {
    fn api(&self, kind: Kind) -> Api<DynamicObject> {
        let namespace = (!kind.is_cluster_scoped()).then_some(self.namespace.as_str());
        self.world.api_in(kind, namespace)
    }

    async fn create(&self, kind: Kind, body: Value) -> DynamicObject {
        self.api(kind).create(&PostParams::default(), &object(kind, body)).await.unwrap()
    }

    async fn patch(&self, kind: Kind, name: &str, patch: Value) {
        let params = PatchParams { field_manager: Some("by-hand".to_owned()), ..<_>::default() };
        self.api(kind).patch(name, &params, &Patch::Merge(patch)).await.unwrap();
    }

    async fn patch_status(&self, kind: Kind, name: &str, status: Value) {
        let patch = Patch::Merge(json!({"status": status}));
        self.api(kind).patch_status(name, &PatchParams::default(), &patch).await.unwrap();
    }

    async fn get(&self, kind: Kind, name: &str) -> Value {
        serde_json::to_value(self.api(kind).get_opt(name).await.unwrap()).unwrap()
    }

    async fn until(&self, kind: Kind, name: &str, what: &str, is_right: impl Fn(&Value) -> bool) {
        eventually(what, || self.get(kind, name), is_right).await;
    }

    /// A parent that returns these children.
    async fn parent(&self, children: &[Value]) {
        self.create(RECIPE, crate::recipe::recipe("r", children)).await;
    }

    async fn until_ready(&self, name: &str) {
        until_ready(&self.api(RECIPE), name).await;
    }
}

/// The explanation of the parent, once its first line names all that it has to.
async fn explained(operators: &Operators, place: &Place<'_>, cause: &Cause, name: &str) -> Value {
    let path = format!("/api/v1/operators/{}/parents/{}/{name}", handler::NAME, place.namespace);
    let why = || async {
        let (_, body) = operators.http(&path).await;
        serde_json::from_str::<Value>(&body).unwrap_or_default()["why"].take()
    };
    let names_all = |why: &Value| {
        let what = why["what"].as_str().unwrap_or_default();
        cause.names.iter().all(|name| what.contains(name))
    };
    eventually(&format!("{}: {:?}", cause.name, cause.names), why, names_all).await
}

/// The first command that is not for the author of the handler.
fn first_command(why: &Value) -> Option<String> {
    let actions = why["actions"].as_array().into_iter().flatten();
    let mut theirs = actions.filter(|action| action["inCode"] == false);
    theirs.find_map(|action| action["command"].as_str()).map(str::to_owned)
}

async fn play(
    world: &World,
    operators: &Operators,
    shell: &Shell,
    number: usize,
    cause: &Cause,
) -> Seen {
    let place = Place { world, namespace: format!("{}-{number}", world.namespace) };
    world.create(NAMESPACE, json!({"metadata": {"name": place.namespace}})).await;
    (cause.plant)(&place).await;
    let parent = if cause.ready == "r" { "r" } else { handler::DOTTED };
    let why = explained(operators, &place, cause, parent).await;
    let what = why["what"].as_str().unwrap_or_default().replace(&place.namespace, "shop");
    let command = first_command(&why).unwrap_or_default();
    let cured = match shell.run(&command, cause.edit).await {
        Ok(_) => {
            let then = cause.then.map_or_else(|| async {}.boxed(), |then| then(&place));
            tokio::join!(then, place.until_ready(cause.ready));
            Ok(())
        }
        Err(error) => Err(error),
    };
    let command = command.replace(&place.namespace, "shop");
    Seen { cause: cause.name, what, command, cured }
}

#[operetta_harness::test(server)]
async fn each_cause_is_named_and_cured_by_the_first_command_as_it_is_printed() {
    needs(Need::Policies);
    let world = World::new().await;
    let shell = Shell::of(&world);
    let operators = world.start(handler::register).await;
    let mut seen = Vec::new();
    for (number, cause) in causes::all().iter().enumerate() {
        seen.push(play(&world, &operators, &shell, number, cause).await);
    }
    causes::clear(&world).await;
    operators.stop().await;
    let cured = seen.iter().filter(|it| it.cured.is_ok()).count();
    println!("figure: {} causes named, {cured} cured by the first command", seen.len());
    let failed: Vec<String> = seen
        .iter()
        .filter_map(|it| {
            Some(format!("{}: {}: {}", it.cause, it.command, it.cured.as_ref().err()?))
        })
        .collect();
    assert!(failed.is_empty(), "{failed:#?}");
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
    for Seen { cause, what, command, .. } in seen {
        let cell = |text: &str| steady(text).replace('|', "\\|");
        let _ = writeln!(table, "| {cause} | {} | `{}` |", cell(what), cell(command));
    }
    let written = format!("{before}{table}");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(file, written).unwrap();
    } else {
        assert_eq!(book, written, "run it with UPDATE_EXPECT=1");
    }
}
