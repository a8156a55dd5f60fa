//! The steps of a lifecycle, made by a user.

use super::*;
use crate::recipe::{config_map, recipe};

/// One change by a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    Create,
    /// Children and the status change, and one child is added.
    Change,
    /// A pod changes and must be recreated.
    Recreate,
    /// Another user deletes a child and edits another.
    EditByOthers,
    /// Two children are no longer desired, one of them a Secret.
    Drop,
    /// A child in another namespace is no longer desired.
    DropElsewhere,
    /// The handler makes a last backup before the parent goes.
    Delete,
}

impl Step {
    pub(super) const ALL: [Self; 7] = [
        Self::Create,
        Self::Change,
        Self::Recreate,
        Self::EditByOthers,
        Self::Drop,
        Self::DropElsewhere,
        Self::Delete,
    ];

    pub(super) async fn make(self, world: &World, elsewhere: &str) {
        match self {
            Self::EditByOthers => {
                world.delete(CONFIG_MAP, "deleted").await;
                world.patch(CONFIG_MAP, "changed", json!({"data": {"salt": "by hand"}})).await;
            }
            Self::Delete => world.delete(RECIPE, "r").await,
            _ => {
                world.apply(RECIPE, self.parent(elsewhere)).await;
            }
        }
    }

    /// Whether the operator has completed the step, in an undisturbed run.
    pub(super) fn is_done(self, now: &state::Objects) -> bool {
        let parent = now.get("recipes/here/r");
        match self {
            Self::Delete => {
                let is_there = |name| now.contains_key(&format!("configmaps/here/{name}"));
                parent.is_none() && !["deleted", "backup"].into_iter().any(is_there)
            }
            Self::EditByOthers => {
                let salt = |data: &Value| data["data"]["salt"] == "2";
                now.contains_key("configmaps/here/deleted")
                    && now.get("configmaps/here/changed").is_some_and(salt)
            }
            _ => parent.is_some_and(crate::world::is_synced),
        }
    }

    fn parent(self, elsewhere: &str) -> Value {
        let mut parent = recipe("r", &self.children(elsewhere));
        let taste = if self == Self::Create { "raw" } else { "fine" };
        parent["spec"]["status"] = json!({"taste": taste});
        parent
    }

    fn children(self, elsewhere: &str) -> Vec<Value> {
        let there = |name: &str, data| {
            let mut child = config_map(name, data);
            child["metadata"]["namespace"] = json!(elsewhere);
            child
        };
        let image = if self < Self::Recreate { "soup:1" } else { "soup:2" };
        let mut children = vec![config_map("deleted", json!({"salt": "much"})), pod(image)];
        if self == Self::Create {
            children.push(config_map("changed", json!({"salt": "1", "pepper": "1"})));
            children.push(there("far", json!({"salt": "1"})));
        } else {
            children.push(config_map("changed", json!({"salt": "2"})));
            children.push(there("far", json!({"salt": "2"})));
            children.push(config_map("late", json!({})));
        }
        if self < Self::Drop {
            children.push(config_map("dropped", json!({})));
            children.push(json!({"apiVersion": "v1", "kind": "Secret",
                "metadata": {"name": "dropped"}, "stringData": {"pin": "1234"}}));
        }
        if self < Self::DropElsewhere {
            children.push(there("dropped", json!({})));
        }
        children
    }
}

fn pod(image: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "main", "image": image}]}})
}
