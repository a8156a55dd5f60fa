//! Runs the scripts in `tests/testdata/plan`. A script is a list of paragraphs:
//!
//! ```text
//! command arguments
//! input, in YAML
//! ----
//! expected output
//! ```
//!
//! `UPDATE_EXPECT=1` rewrites what is expected.
//!
//! | command | what it does |
//! |---|---|
//! | `types Pod=recreate ..` | declares the child types, or declares them otherwise |
//! | `sync` | plans for the children in the input (objects, or `object`, `ensure` and `config`), carries the plan out, prints both |
//! | `edit <child>` | another client changes a child, with a JSON merge patch |
//! | `held <child> <path> <manager>` | the server reports that another manager owns a field |
//! | `foreign` | another client creates the object in the input |
//! | `admission <kind> <pointer> <value>` | a policy sets a value in what is written |
//! | `unsync <kind>` | the store of a type is incomplete |
//! | `ended <child>` | the TTL of a Job removes it; the cache remembers its last version |
//! | `parent-deleted` | the parent is being deleted |
//! | `restart` | a new process remembers nothing |
//! | `show <child>` | prints an object |
//! | `owners <child>` | prints the uids of its owners |

mod server;

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use k8s_openapi::api::{
    batch::v1::Job,
    core::v1::{ConfigMap, Pod, Secret, Service},
};
use serde::Deserialize;
use serde_json::{Value, json};
use server::{MANAGER, Server};

use super::*;
use crate::{
    object::{K8sType, KeptManagers, Object},
    operator::{ChildConfig, Children, ConflictPolicy, OperatorConfig, OperatorName},
};

#[test]
fn the_scripts_produce_their_expected_output() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/testdata/plan"));
    let mut scripts: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    scripts.sort();
    assert!(!scripts.is_empty());
    for script in scripts {
        let before = fs::read_to_string(&script).unwrap();
        let after = World::new().run(&before);
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&script, after).unwrap();
        } else {
            assert_eq!(after, before, "{} (UPDATE_EXPECT=1 rewrites it)", script.display());
        }
    }
}

#[test]
fn an_operator_deletes_only_the_children_that_it_made() {
    let deleted = "delete ConfigMap.v1 ns/a undesired\n";
    for (managed_by, uid, expected) in [
        ("other", "parent-uid", ""),
        // The parent may carry this label, and an object of another client copy it.
        (MANAGER, "", ""),
        (MANAGER, "parent-uid", deleted),
    ] {
        let mut world = World::new();
        world.declare("ConfigMap=apply");
        world.foreign(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {
            "name": "a", "namespace": "ns",
            "labels": {
                "operetta.dev/parent-uid": uid, "app.kubernetes.io/managed-by": managed_by,
            },
            "ownerReferences": [{
                "apiVersion": "example.com/v1", "kind": "App", "name": "app", "uid": "parent-uid",
                "controller": true,
            }],
        }}));
        assert_eq!(world.sync(Vec::new()), expected, "{managed_by} {uid}");
    }
}

struct World {
    config: OperatorConfig,
    operator: OperatorName,
    parent: Value,
    server: Server,
    unsynced: Unsynced,
    last_applied: LastApplied,
    /// The hash of what was last written, of each child.
    written: BTreeMap<ChildId, u64>,
    ended_jobs: Vec<Object>,
}

fn kinds() -> [K8sType; 5] {
    [
        K8sType::of::<Job>(),
        K8sType::of::<Service>(),
        K8sType::of::<Pod>(),
        K8sType::of::<ConfigMap>(),
        K8sType::of::<Secret>(),
    ]
}

fn ty(kind: &str) -> K8sType {
    kinds().into_iter().find(|ty| ty.kind() == kind).unwrap()
}

fn child_id(text: &str) -> ChildId {
    let (kind, key) = text.split_once(' ').unwrap();
    ChildId { ty: ty(kind.split('.').next().unwrap()), key: key.parse().unwrap() }
}

fn yaml(text: &str) -> Vec<Value> {
    serde_yaml_ng::Deserializer::from_str(text)
        .map(|document| Value::deserialize(document).unwrap())
        .filter(|document| !document.is_null())
        .collect()
}

// === the script ===

impl World {
    fn new() -> Self {
        let parent = K8sType::namespaced("example.com/v1", "App", "apps");
        Self {
            config: OperatorConfig::new(MANAGER, parent),
            operator: OperatorName::new(MANAGER).unwrap(),
            parent: json!({"metadata": {
                "name": "app", "namespace": "ns", "uid": "parent-uid", "resourceVersion": "1",
            }}),
            server: Server::default(),
            unsynced: Unsynced::default(),
            last_applied: LastApplied::default(),
            written: BTreeMap::new(),
            ended_jobs: Vec::new(),
        }
    }

    fn run(&mut self, script: &str) -> String {
        let paragraph = |paragraph: &str| {
            let is_comment = paragraph.lines().all(|line| line.starts_with('#'));
            if is_comment { format!("{}\n", paragraph.trim()) } else { self.paragraph(paragraph) }
        };
        script.trim().split("\n\n").map(paragraph).collect::<Vec<_>>().join("\n")
    }

    fn paragraph(&mut self, paragraph: &str) -> String {
        let asked = format!("{paragraph}\n");
        let asked = asked.split_once("----\n").map_or(asked.as_str(), |(asked, _)| asked);
        let (line, input) = asked.split_once('\n').unwrap();
        let (command, arguments) = line.split_once(' ').unwrap_or((line, ""));
        let output = self.command(command, arguments, input);
        format!("{asked}----\n{output}")
    }

    fn command(&mut self, command: &str, arguments: &str, input: &str) -> String {
        match command {
            "types" => self.declare(arguments),
            "sync" => return self.sync(yaml(input)),
            "edit" => self.server.edit(&child_id(arguments), &yaml(input)[0]),
            "held" => self.held(arguments),
            "foreign" => self.foreign(yaml(input).remove(0)),
            "ended" => self.ended_jobs.extend(self.server.remove(&child_id(arguments))),
            "admission" => self.admission(arguments),
            "unsync" => self.unsynced.extend([ty(arguments)]),
            "parent-deleted" => self.parent["metadata"]["deletionTimestamp"] = json!("now"),
            "restart" => self.last_applied = LastApplied::default(),
            "show" => return self.show(&child_id(arguments)),
            "owners" => return self.owners(&child_id(arguments)),
            other => panic!("unknown command {other}"),
        }
        String::new()
    }

    fn declare(&mut self, arguments: &str) {
        for argument in arguments.split_whitespace() {
            let (kind, strategy) = argument.split_once('=').unwrap();
            let child = match strategy {
                "apply" => ChildConfig::apply(),
                "adopt" => ChildConfig::apply().adopting(),
                "orphan" => ChildConfig::apply().orphan_on_delete(),
                "recreate" => ChildConfig::recreate(),
                "recreate-orphan" => ChildConfig::recreate().orphan_on_delete(),
                "on-delete" => ChildConfig::on_delete(),
                other => panic!("unknown strategy {other}"),
            };
            self.config.children.retain(|declared| declared.ty != ty(kind));
            self.config = self.config.clone().child_of_type(ty(kind), child);
        }
    }

    fn foreign(&mut self, body: Value) {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let key =
            format!("{}/{}", text(&body["metadata"]["namespace"]), text(&body["metadata"]["name"]));
        let id = ChildId { ty: ty(&text(&body["kind"])), key: key.parse().unwrap() };
        self.server.put(id, body);
    }

    fn held(&mut self, arguments: &str) {
        let [kind, key, path, manager] = arguments.split(' ').collect::<Vec<_>>()[..] else {
            panic!("held <kind> <key> <path> <manager>")
        };
        let id = child_id(&format!("{kind} {key}"));
        let held = vec![HeldField { path: path.to_owned(), manager: Some(manager.to_owned()) }];
        let (desired_hash, left) = (self.written[&id], self.server.get(&id).unwrap());
        let policy = ConflictPolicy::Yield;
        self.last_applied.contest(Contested { id, desired_hash, left, held, policy });
    }

    fn admission(&mut self, arguments: &str) {
        let [kind, pointer, value] = arguments.split(' ').collect::<Vec<_>>()[..] else {
            panic!("admission <kind> <pointer> <value>")
        };
        self.server.policies.push((ty(kind), pointer.to_owned(), json!(value)));
    }

    fn owners(&self, id: &ChildId) -> String {
        let owners =
            self.server.get(id).unwrap().field("metadata").unwrap()["ownerReferences"].take();
        let owners = owners.as_array().into_iter().flatten();
        owners.fold(String::new(), |output, owner| output + &format!("{}\n", owner["uid"]))
    }

    fn show(&self, id: &ChildId) -> String {
        let Some(object) = self.server.get(id) else { return "gone\n".to_owned() };
        let mut value = object.to_value();
        let metadata = value["metadata"].as_object_mut().unwrap();
        metadata.retain(|name, _| ["labels", "annotations"].contains(&name.as_str()));
        serde_yaml_ng::to_string(&value).unwrap()
    }
}

// === carrying out a plan ===

impl World {
    fn parent(&self) -> Object {
        let ty = &self.config.parent;
        Object::from_value(ty, &self.parent, &KeptManagers::default()).unwrap()
    }

    /// The objects in a store whose watch selects by label.
    fn observed(&self) -> Children {
        let label = |object: &Object| object.labels().contains_key("operetta.dev/parent-uid");
        let of =
            |ty: &K8sType| self.server.objects().filter(|o| o.ty() == ty && label(o)).collect();
        Children::new(kinds().map(|ty| (ty.clone(), of(&ty))))
    }

    fn sync(&mut self, desired: Vec<Value>) -> String {
        let (parent, observed) = (self.parent(), self.observed());
        let planned = plan(PlanInput {
            sets_labels: false,
            config: &self.config,
            operator: &self.operator,
            parent: &parent,
            desired: desired
                .into_iter()
                .map(|it| serde_json::from_value(it).unwrap())
                .collect::<Vec<_>>()
                .into(),
            observed: &observed,
            unsynced: &self.unsynced,
            keeps_undesired: false,
            finished_jobs: &FinishedJobs::default(),
            ended_jobs: &self.ended_jobs,
            defaults: &BTreeMap::new(),
            last_applied: &self.last_applied,
        });
        match planned {
            Ok(plan) => self.carry_out(plan),
            Err(refusals) => refusals
                .iter()
                .fold(String::new(), |output, refusal| output + &format!("refused {refusal}\n")),
        }
    }

    fn carry_out(&mut self, plan: Plan) -> String {
        let mut output = String::new();
        for WaitingChild { id, why } in &plan.waiting {
            writeln!(output, "wait {id}: {why}").unwrap();
        }
        if plan.last_applied.len() > 0 {
            writeln!(output, "unchanged {}", plan.last_applied.len()).unwrap();
        }
        if !plan.finished_jobs.is_empty() {
            writeln!(output, "{}", plan.finished_jobs).unwrap();
        }
        for contested in plan.last_applied.contested() {
            writeln!(output, "left {contested}").unwrap();
        }
        self.last_applied = plan.last_applied;
        for step in plan.steps {
            output += &match step {
                Step::Create(write) => self.write(write, "create"),
                Step::Update(write) => self.write(write, "update"),
                Step::Delete(deletion) => self.delete(&deletion),
            };
        }
        output
    }

    fn write(&mut self, write: Write, verb: &str) -> String {
        let output = format!("{verb} {} {}", write.id, write.paths.join(" "));
        let output = format!("{}\n", output.trim_end());
        let Ok(reply) = self.server.apply(&write.id, write.sent()) else {
            return output + &self.conflict(write);
        };
        self.last_applied.remember(&Settled::new(&write, &reply, &self.operator));
        self.written.insert(write.id, write.desired_hash);
        output
    }

    fn conflict(&mut self, write: Write) -> String {
        let live = self.server.get(&write.id);
        let parent = self.parent();
        match after_conflict(&self.config, &self.operator, &parent, write, live.as_ref()) {
            AfterConflict::CreateAgain(write) => self.write(write, "  409: create"),
            AfterConflict::ApplyWithUid(write) => self.write(write, "  409: update"),
            AfterConflict::Recreate(deletion) => format!("  409: {}", self.delete(&deletion)),
            AfterConflict::Settled => "  409: up to date\n".to_owned(),
            AfterConflict::Wait(why) => format!("  409: wait, {why}\n"),
            AfterConflict::Adopt(_) => "  409: adopt\n".to_owned(),
            AfterConflict::Claim(write) => self.write(write, "  409: claim"),
            AfterConflict::Foreign(foreign) => format!("  409: {}\n", foreign.owner),
        }
    }

    fn delete(&mut self, deletion: &Deletion) -> String {
        let Deletion { id, uid, version, why, irreplaceable } = deletion;
        let why = match why {
            DeletionReason::Undesired => "undesired".to_owned(),
            DeletionReason::Recreate { paths, .. } | DeletionReason::Immutable { paths, .. } => {
                format!("recreate {}", paths.join(" "))
            }
        };
        let careful = if *irreplaceable { ", read live before" } else { "" };
        self.server.delete(id, &uid.to_string(), &version.to_string()).unwrap();
        self.last_applied.forget(id);
        format!("delete {id} {why}{careful}\n")
    }
}
