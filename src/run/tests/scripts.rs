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
//! | `operator <option> ..` | begins; see `options` for the options |
//! | `wants` | the new spec, and the children that the handler returns: by name, with their data; before the name options of its own, `ensure`, `stage:<n>`, `after:<name>` |
//! | `wants-otherwise` | the same without a change of the spec |
//! | `status` | the status that the handler returns |
//! | `puts` | the `labels` and `annotations` that a decorator puts on the parent |
//! | `events` | the Events that the handler returns, also with an error |
//! | `stages` | the options of each stage |
//! | `handler <behaviour>` | it `works`, `fails`, `fails-for-good`, is still `finalizing`, or returns after its deadline: `late`, or `later` than the report of that |
//! | `answer <kind> <nth> <code> [seconds]` | the fault of a request, or `lost`, `undecodable`, `unserved`; with `field` and `message` of its cause, and `from` whom |
//! | `meanwhile <kind> <nth> <change> ..` | the change happens before this request is answered; of `call`: while the handler is called |
//! | `restart` | a new process without memory |
//! | `wait <seconds>` | as named |
//! | `bodies` | from now on the requests are shown with what they send |
//! | `settle` | reconciles until nothing is written; shows how often |
//! | `reconcile` | reconciles once; shows each event with its facts and effects (`>`) |
//! | `reconcile briefly` | the same; shows requests, answers, the changes by others that it read, and the facts that explain its end |
//! | `case <title>` | all paragraphs before the first case, the commands of the input, `reconcile briefly` |
//! | `preview` | the same for a preview, and the steps of its plan |
//! | `report` | what the last reconcile reports; and its Events |
//! | `messages` | the conditions of the parent, with their messages |
//! | `show <name>` | data, conditions, managers of an object |
//!
//! A name is that of a `ConfigMap` beside the parent, `Secret/<name>`, or `<namespace>/<name>`.
//!
//! | change | what others do |
//! |---|---|
//! | `object <name> <manager>` | they create an object |
//! | `edit <name> <manager>`, `delete <name>` | they do that, and the watch delivers it |
//! | `alter <name>` | they change an object, and manage no field of it |
//! | `release <name> <manager>` | the manager leaves its fields to the operator |
//! | `replace <name>` | they delete an object, and create another of its name |
//! | `terminate <name>` | they delete an object that has a grace period |
//! | `<change>-unseen ..` | the watch has not delivered it yet |
//! | `policy` | the server merges this into every object that is applied, and every status |
//! | `unsynced <name> ..`, `synced` | the type of these objects is not synced |
//! | `hide <name>` | the cache loses an object, until the next event |
//! | `undecodable <name>` | the watch could not decode the newest version of an object |
//! | `spare <n>` | this number of requests may be sent beside the first |
//! | `unavailable <why>` | the children cannot be listed |
//! | `related-pending`, `related-unavailable <why>`, `related-listed` | the state of the related objects |
//! | `pause-operator`, `resume-operator`, `forget-schema`, `unpublish-schema` | as named |

use std::{fmt::Write as _, fs, path::Path, time::Duration};

use serde_json::{Value, json};
use serde_yaml_ng::Mapping;

use super::{
    changes,
    driver::Driver,
    faults::{Fault, Refused},
    options,
    script::Script,
    shown,
    world::named,
};
use crate::{plan::Step, report::Report, run::Cache, schedule::Finished};

#[test]
fn the_scripts_of_reconciles_give_the_expected_output() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/testdata/run"));
    let mut scripts: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    scripts.sort();
    assert!(!scripts.is_empty());
    let mut failed = Vec::new();
    for script in scripts {
        let before = fs::read_to_string(&script).unwrap();
        let after = play(&before);
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&script, after).unwrap();
        } else if after != before {
            let differs = |(after, before): &(&str, &str)| after != before;
            let line = after.lines().zip(before.lines()).find(differs);
            failed.push(format!("{}: {line:?}", script.display()));
        }
    }
    assert!(failed.is_empty(), "{failed:#?} (UPDATE_EXPECT=1 rewrites them)");
}

/// Plays a script, and returns it with its output.
pub(super) fn play(script: &str) -> String {
    Player::default().run(script)
}

struct Player {
    play: Play,
    /// The commands before the first case.
    base: Vec<(String, Value)>,
    has_cases: bool,
}

/// One operator, its parent and its handler.
struct Play {
    driver: Driver,
    scenario: Script,
    after_writes: u32,
    report: Report,
}

impl Default for Player {
    fn default() -> Self {
        Self { play: Play::new(""), base: Vec::new(), has_cases: false }
    }
}

impl Player {
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
        let output = self.line(line, input);
        format!("{asked}----\n{output}")
    }

    fn line(&mut self, line: &str, input: &str) -> String {
        if line.starts_with("case ") {
            return self.case(&serde_yaml_ng::from_str(input).unwrap());
        }
        let input = serde_yaml_ng::from_str::<Value>(input).unwrap();
        if line.starts_with("operator") {
            (self.base, self.has_cases) = (Vec::new(), false);
        }
        if !self.has_cases {
            self.base.push((line.to_owned(), input.clone()));
        }
        self.play.command(line, &input)
    }

    fn case(&mut self, commands: &Mapping) -> String {
        self.has_cases = true;
        self.play = Play::new("");
        for (line, input) in &self.base {
            self.play.command(line, input);
        }
        for (line, input) in commands {
            let input = serde_json::to_value(input).unwrap();
            self.play.command(line.as_str().unwrap(), &input);
        }
        self.play.command("reconcile briefly", &Value::Null)
    }
}

impl Play {
    fn new(options: &str) -> Self {
        let (mut driver, scenario) = options::operator(options);
        driver.world.put(&named("parent"), &json!({"spec": {}}), "kubectl");
        driver.caches.watch(&driver.world);
        Self { driver, scenario, after_writes: 0, report: Report::default() }
    }

    fn command(&mut self, line: &str, input: &Value) -> String {
        let (command, arguments) = line.split_once(' ').unwrap_or((line, ""));
        let Driver { world, caches, .. } = &mut self.driver;
        match command {
            "operator" => *self = Self::new(arguments),
            "wants" => self.want(input),
            "wants-otherwise" => self.scenario.wants = input.clone(),
            "puts" => self.scenario.puts = input.clone(),
            "status" => self.scenario.status = Some(input.clone()),
            "events" => self.scenario.events = serde_json::from_value(input.clone()).unwrap(),
            "stages" => self.scenario.stages = serde_json::from_value(input.clone()).unwrap(),
            "handler" => self.scenario.behaviour = arguments.parse().unwrap(),
            "answer" => self.answer(arguments, input),
            "meanwhile" => self.scenario.meanwhile(arguments, input),
            "restart" => self.driver.restart(),
            "wait" => self.driver.wait(Duration::from_secs(arguments.parse().unwrap())),
            "bodies" => self.scenario.shows_bodies = true,
            "settle" => return self.settle(),
            "reconcile" if arguments == "briefly" => return shown::brief(&self.reconcile()),
            "reconcile" => return self.reconcile(),
            "preview" => return self.preview(),
            "report" => {
                let Driver { memory, events, .. } = &self.driver;
                return shown::report(&self.report, memory, events);
            }
            "messages" => return shown::messages(world.get(&named("parent")).unwrap()),
            "show" => {
                let object = world.get(&named(arguments));
                return object.map_or_else(|| "not there\n".to_owned(), shown::object);
            }
            _ => {
                let is_known = changes::change((command, arguments), input, world, caches);
                assert!(is_known, "unknown command {command}");
            }
        }
        String::new()
    }

    /// Changes the spec, and the children of the handler.
    fn want(&mut self, children: &Value) {
        let id = named("parent");
        self.driver.world.edit(&id, &json!({"spec": children}), "kubectl");
        let parent = self.driver.world.object(&id).unwrap();
        self.driver.caches.learn(Cache::Saw(parent));
        self.scenario.wants = children.clone();
    }

    fn answer(&mut self, arguments: &str, input: &Value) {
        let words: Vec<_> = arguments.split(' ').collect();
        let [kind, nth, code, ..] = words[..] else { panic!("answer <kind> <nth> <code>") };
        let retry_after = words.get(3).map(|it| Duration::from_secs(it.parse().unwrap()));
        let text = |name: &str| input[name].as_str().map(str::to_owned);
        let fault = match code {
            "lost" => Fault::Lost,
            "undecodable" => Fault::Undecodable,
            "unserved" => Fault::Unserved,
            code => Fault::Refused(Refused {
                code: code.parse().unwrap(),
                retry_after,
                field: text("field"),
                message: text("message"),
                from: text("from"),
            }),
        };
        self.driver.world.faults.plan(kind, nth.parse().unwrap(), fault);
    }

    fn reconcile(&mut self) -> String {
        self.scenario.log.clear();
        self.report = self.driver.reconcile(self.after_writes, &mut self.scenario);
        let finished = self.report.finished(self.driver.caches.settings.config());
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
        for child in &previewed.plan.ensured {
            writeln!(shown, "= keep {child}").unwrap();
        }
        for (child, why) in &previewed.contested {
            writeln!(shown, "= {child}: {why}").unwrap();
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
}
