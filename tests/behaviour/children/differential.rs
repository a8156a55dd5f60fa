//! Compares plans with what an apply changes on the server, for random desired objects and edits by
//! others. The values are in `tests/testdata/differential.yaml`; a failure shows the seed.

use std::collections::BTreeMap;

use kube::api::{Patch, PatchParams};
use operetta::{
    object::{KeptManagers, Object},
    operator::{Children, OperatorName},
    prelude::*,
    testkit::internals::plan::{
        FinishedJobs, LastApplied, Plan, PlanInput, Settled, Step, Unsynced, Write, plan,
    },
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::world::{CONFIG_MAP, CRD, Kind, World, eventually};

const STEPS: usize = 25;
const RECONCILES: u64 = 4;
const THEIRS: &str = "example.com/theirs";

#[derive(Deserialize)]
struct Data {
    definition: Value,
    types: Vec<Type>,
}

#[derive(Deserialize)]
struct Type {
    /// `apiVersion`, kind and plural.
    #[serde(rename = "type")]
    names: String,
    base: Value,
    fields: BTreeMap<String, Vec<Value>>,
}

/// Xorshift, with reproducible values.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

impl Type {
    fn kind(&self) -> Kind {
        Kind::read(&self.names)
    }

    /// A desired object with about half of the fields.
    fn desired(&self, random: &mut Random) -> Value {
        let mut desired = self.base.clone();
        desired["apiVersion"] = json!(self.kind().0);
        desired["kind"] = json!(self.kind().1);
        desired["metadata"]["name"] = json!("c");
        for (pointer, values) in &self.fields {
            if random.below(2) == 0 {
                *at(&mut desired, pointer) = random.one(values).clone();
            }
        }
        desired
    }

    /// A merge patch that sets or removes a field.
    fn edit(&self, random: &mut Random) -> Value {
        let fields: Vec<_> = self.fields.iter().collect();
        let (pointer, values) = *random.one(&fields);
        let mut patch = json!({});
        let is_required = self.base.pointer(pointer).is_some();
        if is_required || random.below(3) > 0 {
            *at(&mut patch, pointer) = random.one(values).clone();
        } else {
            *at(&mut patch, pointer) = Value::Null;
        }
        patch
    }
}

fn at<'v>(value: &'v mut Value, pointer: &str) -> &'v mut Value {
    pointer.split('/').skip(1).fold(value, |value, name| &mut value[name])
}

/// An operator's view of one child.
struct Case<'w> {
    world: &'w World,
    kind: Kind,
    config: OperatorConfig,
    parent: Object,
    last_applied: LastApplied,
    /// How often the server answered a dry run.
    judged: usize,
}

impl Case<'_> {
    fn ty(&self) -> K8sType {
        K8sType::namespaced(self.kind.0, self.kind.1, self.kind.2)
    }

    fn object(&self, live: &Value) -> Object {
        Object::from_value(&self.ty(), live, &KeptManagers::new(["op"])).unwrap()
    }

    fn plan(&self, desired: &Value, live: &Value, last_applied: &LastApplied) -> Plan {
        let live = live.is_object().then(|| self.object(live));
        plan(PlanInput {
            sets_labels: false,
            config: &self.config,
            operator: &OperatorName::new("op").unwrap(),
            parent: &self.parent,
            desired: vec![desired.clone().into()].into(),
            observed: &Children::new([(self.ty(), live.into_iter().collect())]),
            unsynced: &Unsynced::default(),
            finished_jobs: &FinishedJobs::default(),
            ended_jobs: &[],
            defaults: &BTreeMap::new(),
            keeps_undesired: false,
            last_applied,
        })
        .unwrap()
    }

    /// The apply of a desired object; the server refuses it if the object is no longer `live`.
    fn body(&self, desired: &Value, live: &Value) -> Value {
        let plan = self.plan(desired, &Value::Null, &LastApplied::default());
        let Some(Step::Create(Write { mut body, .. })) = plan.steps.into_iter().next() else {
            panic!("no create for {desired}")
        };
        body["metadata"]["resourceVersion"] = live["metadata"]["resourceVersion"].clone();
        body["metadata"]["uid"] = live["metadata"]["uid"].clone();
        body
    }

    async fn apply(&self, manager: &str, body: &Value, is_dry_run: bool) -> kube::Result<Value> {
        let params = PatchParams { dry_run: is_dry_run, ..PatchParams::apply(manager).force() };
        let reply = self.world.api(self.kind).patch("c", &params, &Patch::Apply(body)).await?;
        Ok(serde_json::to_value(reply).unwrap())
    }

    /// Lets another manager edit the child; the server may refuse that.
    async fn edit_by_others(&self, ty: &Type, random: &mut Random) -> String {
        let api = self.world.api(self.kind);
        let params = PatchParams { field_manager: Some("hand".to_owned()), ..<_>::default() };
        if random.below(4) == 0 {
            let desired = ty.desired(random);
            let _ = self.apply("other", &desired, false).await;
            return format!("other applies {desired}");
        }
        let unmanage = json!({"metadata": {"managedFields": [{}]}});
        let patch = if random.below(6) == 0 { unmanage } else { ty.edit(random) };
        let _ = api.patch("c", &params, &Patch::Merge(&patch)).await;
        format!("patch {patch}")
    }

    /// Plans, compares the plan with a dry run, and writes. Returns what is wrong.
    async fn settle(&mut self, desired: &Value) -> Result<(), String> {
        loop {
            let live = self.world.get(self.kind, "c").await;
            let plan = self.plan(desired, &live, &self.last_applied);
            self.last_applied = plan.last_applied;
            let verdict = match plan.steps.into_iter().next() {
                None => self.changes_nothing(desired, &live, "missed").await,
                Some(Step::Create(write) | Step::Update(write)) => self.write(desired, write).await,
                Some(Step::Delete(_)) => Verdict::Wrong("a deletion".to_owned()),
            };
            match verdict {
                Verdict::Right => return Ok(()),
                Verdict::Wrong(what) => return Err(what),
                Verdict::Outdated => {}
            }
        }
    }

    async fn changes_nothing(&mut self, desired: &Value, live: &Value, what: &str) -> Verdict {
        let reply = match self.apply("op", &self.body(desired, live), true).await {
            Ok(reply) => reply,
            Err(kube::Error::Api(status)) if status.is_conflict() => return Verdict::Outdated,
            Err(_) => return Verdict::Right,
        };
        self.judged += 1;
        let (live, reply) = (content(live), content(&reply));
        if live == reply {
            return Verdict::Right;
        }
        Verdict::Wrong(format!("{what}\n{live}\n{reply}"))
    }

    async fn write(&mut self, desired: &Value, write: Write) -> Verdict {
        // Not every desired object is valid together with the fields of others.
        let Ok(reply) = self.apply("op", &write.body, false).await else { return Verdict::Right };
        let operator = OperatorName::new("op").unwrap();
        let settled = Settled::new(&write, &self.object(&reply), &operator);
        self.last_applied.remember(&settled);
        let again = self.plan(desired, &reply, &self.last_applied);
        if !again.steps.is_empty() {
            return Verdict::Wrong(format!("written again: {:?}", again.steps));
        }
        let restarted = self.plan(desired, &reply, &LastApplied::default());
        if restarted.steps.is_empty() {
            return Verdict::Right;
        }
        let what = format!("not done by one write: {:?}", restarted.steps);
        self.changes_nothing(desired, &reply, &what).await
    }
}

/// The result of the comparison of a plan with the server.
enum Verdict {
    Right,
    Wrong(String),
    /// A controller has written the object meanwhile, so that the comparison is repeated.
    Outdated,
}

/// The object without the fields of the server. An emptied list is removed from a custom resource with its
/// last item, and only a second apply would leave `[]`.
fn content(object: &Value) -> Value {
    let mut content = object.clone();
    if content["spec"]["keyed"] == json!([]) {
        content["spec"].as_object_mut().unwrap().remove("keyed");
    }
    content.as_object_mut().unwrap().remove("status");
    let metadata = content["metadata"].as_object_mut().unwrap();
    metadata.retain(|name, _| ["labels", "annotations", "ownerReferences"].contains(&&**name));
    content
}

async fn run(case: &mut Case<'_>, ty: &Type, random: &mut Random) -> Result<(), String> {
    let (mut desired, mut done) = (ty.desired(random), Vec::new());
    let (theirs, mut is_shared) = (json!({"metadata": {"labels": {THEIRS: "x"}}}), false);
    for step in 0..STEPS {
        match random.below(4) {
            0 => desired = ty.desired(random),
            1 => case.last_applied = LastApplied::default(),
            // A foreign object would never become a child.
            _ if step == 0 => {}
            _ => done.push(case.edit_by_others(ty, random).await),
        }
        done.push(format!("desired {desired}"));
        let settled = case.settle(&desired).await;
        settled.map_err(|wrong| format!("{}\n{wrong}", done.join("\n")))?;
        if !is_shared && case.world.get(case.kind, "c").await.is_object() {
            case.world.patch(case.kind, "c", theirs.clone()).await;
            is_shared = true;
        }
    }
    let live = case.world.get(case.kind, "c").await;
    let is_left = !is_shared || live["metadata"]["labels"][THEIRS] == "x";
    if is_left { Ok(()) } else { Err(format!("{}\ntheirs is gone", done.join("\n"))) }
}

#[operetta_harness::test(server)]
async fn nothing_is_planned_if_and_only_if_an_apply_would_change_nothing() {
    let world = World::new().await;
    let data = include_str!("../../testdata/differential.yaml");
    let data: Data = serde_yaml_ng::from_str(data).unwrap();
    world.apply(CRD, data.definition.clone()).await;
    let things = data.types[0].kind();
    let served = || async { world.api(things).get_opt("c").await.is_ok() };
    eventually("the type", served, |is_served| *is_served).await;
    let parent = world.create(CONFIG_MAP, json!({"metadata": {"name": "parent"}})).await;
    let parent_type = K8sType::namespaced(CONFIG_MAP.0, CONFIG_MAP.1, CONFIG_MAP.2);
    for ty in &data.types {
        let mut judged = 0;
        for seed in 1..=RECONCILES {
            let kind = ty.kind();
            let config = OperatorConfig::new("op", parent_type.clone());
            let child = K8sType::namespaced(kind.0, kind.1, kind.2);
            let config = config.child_of_type(child, ChildConfig::apply());
            let parent = Object::from_value(&parent_type, &parent, &<_>::default()).unwrap();
            let last_applied = LastApplied::default();
            let mut case = Case { world: &world, kind, config, parent, last_applied, judged: 0 };
            let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let outcome = run(&mut case, ty, &mut random).await;
            assert!(outcome.is_ok(), "{} of seed {seed}: {}", kind.1, outcome.unwrap_err());
            judged += case.judged;
            let params = kube::api::DeleteParams::default();
            let _ = world.api(kind).delete("c", &params).await;
            world.until(kind, "c", "its end", Value::is_null).await;
        }
        assert!(judged > 0, "{}: the server never answered a dry run", ty.names);
    }
}
