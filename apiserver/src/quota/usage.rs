//! What an object uses.

use serde_json::Value;

use super::{
    amounts::{self, Amounts},
    pod,
};
use crate::{group_resource::GroupResource, quantity::Quantity};

/// Resources that are counted by their plain name too.
const ALIASES: [&str; 4] = ["configmaps", "replicationcontrollers", "resourcequotas", "secrets"];
/// Between the name of a storage class and what is used of it.
const STORAGE_CLASS: &str = ".storageclass.storage.k8s.io/";

/// What an object of a resource uses.
pub(super) fn of(resource: &GroupResource, object: &Value) -> Amounts {
    let one = Quantity::whole(1);
    let mut usage = Amounts::from([(format!("count/{resource}"), one)]);
    if !resource.group.is_empty() {
        return usage;
    }
    match resource.plural.as_str() {
        "pods" if !has_ended(object) => {
            amounts::add(&mut usage, &of_pod(object));
        }
        "services" => usage.extend(of_service(object)),
        "persistentvolumeclaims" => usage.extend(of_claim(object)),
        plural if ALIASES.contains(&plural) => {
            usage.insert(plural.to_owned(), one);
        }
        _ => {}
    }
    usage
}

/// Whether a quota of this name is about the resource.
pub(super) fn counts(resource: &GroupResource, name: &str) -> bool {
    if name == format!("count/{resource}") {
        return true;
    }
    if !resource.group.is_empty() {
        return false;
    }
    match resource.plural.as_str() {
        "pods" => counts_pods(name),
        "services" => {
            matches!(name, "services" | "services.nodeports" | "services.loadbalancers")
        }
        "persistentvolumeclaims" => {
            let (_, what) = name.split_once(STORAGE_CLASS).unwrap_or(("", name));
            matches!(what, "persistentvolumeclaims" | "requests.storage")
        }
        plural => ALIASES.contains(&plural) && name == plural,
    }
}

fn counts_pods(name: &str) -> bool {
    let bare = name.strip_prefix("requests.").or_else(|| name.strip_prefix("limits."));
    let is_compute = |name: &str| matches!(name, "cpu" | "memory" | "ephemeral-storage");
    name == "pods"
        || is_compute(bare.unwrap_or(name))
        || name.starts_with("hugepages-")
        || name.starts_with("requests.hugepages-")
        || name
            .strip_prefix("requests.")
            .is_some_and(|extended| extended.contains('/') && !extended.contains("kubernetes.io/"))
}

/// What a pod or a container uses with these requests and limits.
pub(super) fn computed(requests: &Amounts, limits: &Amounts) -> Amounts {
    let mut usage = Amounts::from([("pods".to_owned(), Quantity::whole(1))]);
    for (name, request) in requests {
        let is_compute = matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage");
        if is_compute || name.starts_with("hugepages-") {
            usage.insert(name.clone(), *request);
        }
        if is_compute || name.starts_with("hugepages-") || name.contains('/') {
            usage.insert(format!("requests.{name}"), *request);
        }
    }
    for name in ["cpu", "memory", "ephemeral-storage"] {
        if let Some(limit) = limits.get(name) {
            usage.insert(format!("limits.{name}"), *limit);
        }
    }
    usage
}

fn of_pod(object: &Value) -> Amounts {
    computed(&pod::resources(object, "requests"), &pod::resources(object, "limits"))
}

fn has_ended(object: &Value) -> bool {
    matches!(object["status"]["phase"].as_str(), Some("Failed" | "Succeeded"))
}

fn of_service(service: &Value) -> Amounts {
    let spec = &service["spec"];
    let ports = spec["ports"].as_array().map_or(&[][..], Vec::as_slice);
    let ty = spec["type"].as_str().unwrap_or_default();
    let with_node_port = ports.iter().filter(|port| port["nodePort"].as_i64().unwrap_or(0) != 0);
    let node_ports = match ty {
        "LoadBalancer" if spec["allocateLoadBalancerNodePorts"] == false => with_node_port.count(),
        "NodePort" | "LoadBalancer" => ports.len(),
        _ => 0,
    };
    let count = |count: usize| Quantity::whole(i64::try_from(count).unwrap_or(i64::MAX));
    Amounts::from([
        ("services".to_owned(), count(1)),
        ("services.nodeports".to_owned(), count(node_ports)),
        ("services.loadbalancers".to_owned(), count(usize::from(ty == "LoadBalancer"))),
    ])
}

fn of_claim(claim: &Value) -> Amounts {
    const OLD_CLASS: &str = "volume.beta.kubernetes.io/storage-class";
    let mut usage = Amounts::from([("persistentvolumeclaims".to_owned(), Quantity::whole(1))]);
    if let Some(storage) = Quantity::of(&claim["spec"]["resources"]["requests"]["storage"]) {
        usage.insert("requests.storage".to_owned(), storage);
    }
    let class = claim["metadata"]["annotations"][OLD_CLASS].as_str();
    let class = class.or_else(|| claim["spec"]["storageClassName"].as_str());
    if let Some(class) = class.filter(|class| !class.is_empty()) {
        let of_class = |(name, amount)| (format!("{class}{STORAGE_CLASS}{name}"), amount);
        usage.extend(usage.clone().into_iter().map(of_class));
    }
    usage
}
