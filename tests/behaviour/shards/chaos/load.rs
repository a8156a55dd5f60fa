//! Parents that are created, changed and deleted all the time, and what has to come of them.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use kube::{
    Api, ResourceExt,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams},
};
use operetta_harness::random::Random;
use serde_json::{Value, json};
use tokio::{task::JoinHandle, time::MissedTickBehavior};

use crate::{
    recipe::{RECIPE, config_map, recipe},
    world::{CONFIG_MAP, World, eventually, is_synced, object},
};

/// How many parents there are, about.
const PARENTS: usize = 60;
/// How many children a new parent has.
const CHILDREN: usize = 3;
/// How often something changes.
const PERIOD: Duration = Duration::from_millis(100);

/// What users want of all parents that there ever were, by name.
pub(super) type Parents = BTreeMap<String, Wanted>;

#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub(super) uid: String,
    /// What its children hold.
    mark: usize,
    /// How many children it has; `None` if it was deleted.
    pub(super) children: Option<usize>,
}

impl Wanted {
    pub(super) fn new(uid: impl Into<String>, children: Option<usize>) -> Self {
        Self { uid: uid.into(), mark: 0, children }
    }
}

/// Changes in progress.
pub(super) struct Load {
    has_ended: Arc<AtomicBool>,
    changing: JoinHandle<Parents>,
}

struct User {
    recipes: Api<DynamicObject>,
    random: Random,
    parents: Parents,
    changes: usize,
}

impl Load {
    /// Creates the parents, and begins to change them.
    pub(super) async fn begin(world: &World, seed: u64) -> Self {
        let (random, parents) = (Random::new(seed), Parents::new());
        let mut user = User { recipes: world.api(RECIPE), random, parents, changes: 0 };
        for _ in 0..PARENTS {
            user.create().await;
        }
        let has_ended = Arc::new(AtomicBool::new(false));
        let changing = tokio::spawn(user.change_until(Arc::clone(&has_ended)));
        Self { has_ended, changing }
    }

    /// Changes nothing more.
    pub(super) async fn end(self) -> Parents {
        self.has_ended.store(true, Ordering::SeqCst);
        self.changing.await.unwrap()
    }
}

impl User {
    async fn change_until(mut self, has_ended: Arc<AtomicBool>) -> Parents {
        let mut ticks = tokio::time::interval(PERIOD);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !has_ended.load(Ordering::SeqCst) {
            ticks.tick().await;
            self.act().await;
        }
        self.parents
    }

    async fn act(&mut self) {
        let present = self.parents.iter().filter(|(_, wanted)| wanted.children.is_some());
        let present: Vec<&String> = present.map(|(name, _)| name).collect();
        let count = present.len();
        let name = present[self.random.below(count)].clone();
        match self.random.below(20) {
            0 if count > PARENTS => self.delete(&name).await,
            1 => self.shrink(&name).await,
            2 if count < PARENTS + 10 => self.create().await,
            _ => self.change(&name).await,
        }
    }

    async fn create(&mut self) {
        let name = format!("r-{}", self.parents.len());
        let body = recipe(&name, &children(&name, 0, CHILDREN));
        let created =
            self.recipes.create(&PostParams::default(), &object(RECIPE, body)).await.unwrap();
        let uid = created.uid().unwrap();
        self.parents.insert(name, Wanted::new(uid, Some(CHILDREN)));
    }

    async fn change(&mut self, name: &str) {
        self.changes += 1;
        let wanted = self.parents.get_mut(name).expect("it is known");
        wanted.mark = self.changes;
        let children = children(name, wanted.mark, wanted.children.unwrap_or_default());
        let patch = Patch::Merge(json!({"spec": {"children": children}}));
        self.recipes.patch(name, &PatchParams::default(), &patch).await.unwrap();
    }

    /// Takes the last child away, once for each parent.
    async fn shrink(&mut self, name: &str) {
        if self.is_up_to_date(name).await {
            self.parents.get_mut(name).expect("it is known").children = Some(CHILDREN - 1);
        }
        self.change(name).await;
    }

    /// Only parents that have their children are deleted: how many were created is known then.
    async fn delete(&mut self, name: &str) {
        if self.is_up_to_date(name).await {
            self.recipes.delete(name, &DeleteParams::background()).await.unwrap();
            self.parents.get_mut(name).expect("it is known").children = None;
        }
    }

    async fn is_up_to_date(&self, name: &str) -> bool {
        let parent = self.recipes.get(name).await.unwrap();
        is_synced(&serde_json::to_value(parent).unwrap())
    }
}

fn children(parent: &str, mark: usize, count: usize) -> Vec<Value> {
    let child = |number| config_map(&child(parent, number), json!({"mark": mark.to_string()}));
    (0..count).map(child).collect()
}

fn child(parent: &str, number: usize) -> String {
    format!("{parent}-{number}")
}

/// The children that a parent has or had by name, and whether each is there at the end.
pub(super) fn children_of(name: &str, wanted: &Wanted) -> Vec<(String, bool)> {
    let is_there = |number| wanted.children.is_some_and(|count| number < count);
    (0..CHILDREN).map(|number| (child(name, number), is_there(number))).collect()
}

/// Deletes all parents.
pub(super) async fn delete_all(world: &World, parents: &mut Parents) {
    for (name, wanted) in parents.iter_mut().filter(|(_, wanted)| wanted.children.is_some()) {
        world.delete(RECIPE, name).await;
        wanted.children = None;
    }
}

/// Waits until all parents are synced and have the children that users want, and those that were deleted are gone.
pub(super) async fn until_up_to_date(world: &World, parents: &Parents) {
    let outdated = || outdated(world, parents);
    eventually("no parents or children that are out of date", outdated, Vec::is_empty).await;
}

/// The names of what is not as users want it.
async fn outdated(world: &World, parents: &Parents) -> Vec<String> {
    let mut seen = Vec::new();
    for parent in list(world.api(RECIPE)).await {
        seen.push((parent["metadata"]["name"].as_str().unwrap().to_owned(), is_synced(&parent)));
    }
    for child in list(world.api(CONFIG_MAP)).await {
        let name = child["metadata"]["name"].as_str().unwrap().to_owned();
        let parent = name.rsplit_once('-').and_then(|(parent, _)| parents.get(parent));
        let Some(parent) = parent else { continue };
        seen.push((name, child["data"]["mark"].as_str() == Some(parent.mark.to_string().as_str())));
    }
    let there = |(name, wanted): (&String, &Wanted)| {
        let own = wanted.children.map(|_| name.clone());
        let children = children_of(name, wanted).into_iter().filter(|(_, is_there)| *is_there);
        own.into_iter().chain(children.map(|(name, _)| name)).collect::<Vec<_>>()
    };
    let mut wanted: BTreeMap<String, bool> =
        parents.iter().flat_map(there).map(|name| (name, false)).collect();
    // What is there but should not be stays, as does what is out of date.
    for (name, is_right) in seen {
        let is_wanted = wanted.contains_key(&name);
        wanted.insert(name, is_wanted && is_right);
    }
    wanted.into_iter().filter(|(_, is_right)| !is_right).map(|(name, _)| name).collect()
}

async fn list(api: Api<DynamicObject>) -> Vec<Value> {
    let all = api.list(&ListParams::default()).await.unwrap();
    all.into_iter().map(|object| serde_json::to_value(object).unwrap()).collect()
}
