//! The priority of a new Pod, which follows from its class, and the class of Pods that name none.

use serde_json::{Value, json};

use super::{attributes::Attributes, kind::Operation, pass::Pass};
use crate::{
    cluster::Cluster,
    group_resource::GroupResource,
    log::{ObjectKey, Scope},
    status::StatusError,
};

const GROUP: &str = "scheduling.k8s.io";
/// What preemption is like without a class.
const USUAL_PREEMPTION: &str = "PreemptLowerPriority";

/// Gives a new Pod the priority of its class; refuses one that it does not have.
pub(super) fn mutate(pass: &Pass<'_>, object: &mut Option<Value>) -> Result<(), StatusError> {
    if !is_write_of(pass, "", "pods") || pass.operation != Operation::Create {
        return Ok(());
    }
    let Some(pod) = object.as_ref() else { return Ok(()) };
    let forbidden = |why: String| forbidden(&pass.attributes(Some(pod)), &why);
    let named = text(&pod["spec"]["priorityClassName"]);
    let class = match named {
        "" => default_class(pass.cluster),
        name => Some(
            class(pass.cluster, name)
                .ok_or_else(|| forbidden(format!("no PriorityClass with name {name} was found")))?,
        ),
    };
    let (name, priority, preemption) = match &class {
        Some(class) => (
            text(&class["metadata"]["name"]),
            class["value"].as_i64().unwrap_or_default(),
            text(&class["preemptionPolicy"]),
        ),
        None => ("", 0, USUAL_PREEMPTION),
    };
    let computed = "must not be provided in pod spec; priority admission controller computed";
    let from = "from the given PriorityClass name";
    if let Some(given) = pod["spec"]["priority"].as_i64().filter(|given| *given != priority) {
        let what = format!("the integer value of priority ({given})");
        return Err(forbidden(format!("{what} {computed} {priority} {from}")));
    }
    if let Some(given) = pod["spec"]["preemptionPolicy"].as_str().filter(|it| *it != preemption) {
        let what = format!("the string value of PreemptionPolicy ({given})");
        return Err(forbidden(format!("{what} {computed} {preemption} {from}")));
    }
    let mut set = vec![("priority", json!(priority)), ("preemptionPolicy", json!(preemption))];
    set.extend((!name.is_empty()).then(|| ("priorityClassName", json!(name))));
    if let Some(pod) = object {
        for (field, value) in set {
            pod["spec"][field] = value;
        }
    }
    Ok(())
}

/// Refuses a second class for the Pods that name none.
pub(super) fn validate(pass: &Pass<'_>, object: Option<&Value>) -> Result<(), StatusError> {
    let is_write = matches!(pass.operation, Operation::Create | Operation::Update);
    let Some(class) = object.filter(|_| is_write && is_write_of(pass, GROUP, "priorityclasses"))
    else {
        return Ok(());
    };
    let default = default_class(pass.cluster).filter(|_| class["globalDefault"] == true);
    let Some(default) = default else { return Ok(()) };
    let name = text(&default["metadata"]["name"]);
    if pass.operation == Operation::Update && name == text(&class["metadata"]["name"]) {
        return Ok(());
    }
    let why = "is already marked as default. Only one default can exist";
    Err(forbidden(&pass.attributes(Some(class)), &format!("PriorityClass {name} {why}")))
}

/// The class of Pods that name none; of several the lowest.
fn default_class(cluster: &Cluster) -> Option<Value> {
    let (_, entries) = cluster.log.entries(&classes(), &Scope::All);
    let values = entries.iter().map(|(_, class)| class.value());
    let defaults = values.filter(|class| class["globalDefault"] == true);
    defaults.min_by_key(|class| class["value"].as_i64().unwrap_or_default())
}

fn class(cluster: &Cluster, name: &str) -> Option<Value> {
    Some(cluster.log.get(&classes(), &ObjectKey::new("", name))?.value())
}

fn classes() -> GroupResource {
    GroupResource::new(GROUP, "priorityclasses")
}

fn is_write_of(pass: &Pass<'_>, group: &str, plural: &str) -> bool {
    let asked = pass.asked;
    let id = &asked.resource.id;
    asked.subresource.is_empty() && (id.group.as_str(), id.plural.as_str()) == (group, plural)
}

fn forbidden(attributes: &Attributes<'_>, why: &str) -> StatusError {
    StatusError::forbidden(&attributes.asked.resource.id, attributes.shown_name(), why)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
