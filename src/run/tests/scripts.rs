//! Runs the scripts in `tests/testdata/run`. A script is a list of paragraphs, as those of `plan` are:
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
//! | `operator <strategy> ..` | begins, with the child strategy, `finalizer`, `predecessor` |
//! | `wants` | the new spec, and the children that the handler returns: by name, with their data |
//! | `wants-otherwise` | the same without a change of the spec |
//! | `status` | the status that the handler returns |
//! | `handler <behaviour>` | it `works`, `fails`, `fails-for-good`, is still `finalizing` |
//! | `object <name> <manager>` | someone else creates an object |
//! | `edit <name> <manager>`, `delete <name>` | someone else does that, and the watch delivers it |
//! | `edit-unseen ..`, `delete-unseen ..` | the watch has not delivered it yet |
//! | `answer <kind> <nth> <code> [seconds]` | the fault of a request, or `lost` |
//! | `restart` | a new process without memory |
//! | `forget-schema`, `pause-operator`, `wait <seconds>` | as named |
//! | `settle` | reconciles until nothing is written; shows how often |
//! | `reconcile` | reconciles once; shows each event with its facts and effects (`>`) |
//! | `preview` | the same for a preview, and the steps of its plan |
//! | `show <name>` | data, conditions, managers of an object |

use std::{fmt::Write as _, fs, path::Path, time::Duration};

use serde_json::{Value, json};

use super::{driver::Driver, faults::Fault, script::Script, world::named};
use crate::{
    operator::{ChildConfig, ConflictPolicy, OperatorConfig, Predecessor},
    plan::Step,
    run::{Cache, tests::world::parent_type},
    schedule::Finished,
};

#[test]
fn the_scripts_of_reconciles_give_the_expected_output() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/testdata/run"));
    let mut scripts: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    scripts.sort();
    assert!(!scripts.is_empty());
    for script in scripts {
        let before = fs::read_to_string(&script).unwrap();
        let after = Play::new("apply").run(&before);
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&script, after).unwrap();
        } else {
            assert_eq!(after, before, "{} (UPDATE_EXPECT=1 rewrites it)", script.display());
        }
    }
}

struct Play {
    driver: Driver,
    scenario: Script,
    after_writes: u32,
}

impl Play {
    fn new(arguments: &str) -> Self {
        let (mut config, mut child) = (OperatorConfig::new("op", parent_type()), None);
        let mut scenario = Script::default();
        for argument in arguments.split_whitespace() {
            match argument {
                "apply" => child = Some(ChildConfig::apply()),
                "recreate" => child = Some(ChildConfig::recreate()),
                "adopting" => child = Some(ChildConfig::apply().adopting()),
                "yielding" => {
                    child = Some(ChildConfig::apply().with_conflicts(ConflictPolicy::Yield));
                }
                "recreating-immutable" => {
                    child = Some(ChildConfig::apply().recreate_if_immutable());
                }
                "finalizer" => scenario.has_finalizer = true,
                "predecessor" => {
                    let (field_managers, finalizers) = (vec!["old".to_owned()], Vec::new());
                    config.predecessor = Predecessor { field_managers, finalizers };
                }
                other => panic!("unknown option {other}"),
            }
        }
        let config = config.child_of_type(named("any").ty, child.unwrap_or(ChildConfig::apply()));
        let mut driver = Driver::new(config, &scenario);
        driver.world.may_adopt = arguments.contains("adopting");
        driver.world.put(&named("parent"), &json!({"spec": {}}), "kubectl");
        driver.caches.watch(&driver.world);
        Self { driver, scenario, after_writes: 0 }
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
        let yaml = || serde_yaml_ng::from_str::<Value>(input).unwrap();
        let Driver { world, caches, .. } = &mut self.driver;
        let is_watched = matches!(command, "object" | "edit" | "delete");
        let (name, manager) = arguments.split_once(' ').unwrap_or((arguments, "kubectl"));
        let id = named(name);
        match command {
            "operator" => *self = Self::new(arguments),
            "wants" => self.want(yaml()),
            "wants-otherwise" => self.scenario.wants = yaml(),
            "status" => self.scenario.status = Some(yaml()),
            "handler" => self.scenario.behaviour = arguments.parse().unwrap(),
            "object" => world.put(&id, &yaml(), manager),
            "edit" | "edit-unseen" => world.edit(&id, &yaml(), manager),
            "delete" | "delete-unseen" => world.delete(&id),
            "answer" => self.answer(arguments),
            "forget-schema" => caches.schema = None,
            "restart" => self.driver.memory = <_>::default(),
            "pause-operator" => caches.is_paused = true,
            "wait" => self.driver.wait(Duration::from_secs(arguments.parse().unwrap())),
            "settle" => return self.settle(),
            "reconcile" => return self.reconcile(),
            "preview" => return self.preview(),
            "show" => return self.show(name),
            other => panic!("unknown command {other}"),
        }
        if is_watched {
            self.driver.caches.watch(&self.driver.world);
        }
        String::new()
    }

    /// Changes the spec, and the children of the handler.
    fn want(&mut self, children: Value) {
        let id = named("parent");
        self.driver.world.edit(&id, &json!({"spec": children}), "kubectl");
        let parent = self.driver.world.object(&id).unwrap();
        self.driver.caches.learn(Cache::Saw(parent));
        self.scenario.wants = children;
    }

    fn answer(&mut self, arguments: &str) {
        let words: Vec<_> = arguments.split(' ').collect();
        let [kind, nth, code, ..] = words[..] else { panic!("answer <kind> <nth> <code>") };
        let seconds = words.get(3).map(|it| Duration::from_secs(it.parse().unwrap()));
        let fault = match code {
            "lost" => Fault::Lost,
            code => Fault::Refused(code.parse().unwrap(), seconds),
        };
        self.driver.world.faults.plan(kind, nth.parse().unwrap(), fault);
    }

    fn reconcile(&mut self) -> String {
        self.scenario.log.clear();
        let report = self.driver.reconcile(self.after_writes, &mut self.scenario);
        let finished = report.finished(self.driver.caches.settings.config());
        let has_written = matches!(finished, Finished::Wrote | Finished::Recreating);
        self.after_writes = if has_written { self.after_writes + 1 } else { 0 };
        assert_eq!(self.driver.world.violations, Vec::<String>::new());
        format!("{}= {finished:?}\n", self.scenario.log)
    }

    fn preview(&mut self) -> String {
        self.scenario.log.clear();
        let before = self.driver.world.writes;
        let previewed = self.driver.preview(&mut self.scenario);
        assert_eq!(self.driver.world.writes, before);
        let mut shown = self.scenario.log.clone();
        for step in &previewed.plan.steps {
            let what = match step {
                Step::Create(_) => "create",
                Step::Update(_) => "update",
                Step::Delete(_) => "delete",
            };
            writeln!(shown, "= {what} {}", step.id()).unwrap();
        }
        shown
    }

    fn settle(&mut self) -> String {
        let first = self.driver.world.writes;
        for times in 1..10 {
            let before = self.driver.world.writes;
            self.reconcile();
            if self.driver.world.writes == before {
                return format!("writes: {}, reconciles: {times}\n", before - first);
            }
        }
        panic!("it does not settle");
    }

    fn show(&self, name: &str) -> String {
        let Some(value) = self.driver.world.get(&named(name)) else {
            return "not there\n".to_owned();
        };
        let mut shown = String::new();
        for (name, data) in value["data"].as_object().into_iter().flatten() {
            writeln!(shown, "data {name}: {data}").unwrap();
        }
        if let Some(phase) = value["status"].get("phase") {
            writeln!(shown, "phase: {phase}").unwrap();
        }
        for condition in value["status"]["conditions"].as_array().into_iter().flatten() {
            let text = |name: &str| condition[name].as_str().unwrap_or_default();
            let (ty, status, reason) = (text("type"), text("status"), text("reason"));
            writeln!(shown, "condition {ty}: {status}, {reason}").unwrap();
        }
        if let Some(finalizers) = value["metadata"].get("finalizers") {
            writeln!(shown, "finalizers: {finalizers}").unwrap();
        }
        for entry in value["metadata"]["managedFields"].as_array().into_iter().flatten() {
            let text = |name: &str| entry[name].as_str().unwrap_or_default();
            writeln!(shown, "managed by {}: {}", text("manager"), text("operation")).unwrap();
        }
        shown
    }
}
