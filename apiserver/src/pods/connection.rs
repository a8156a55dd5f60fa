//! Connections to Pods, Services and nodes: logs, exec, attach, port-forward and proxies.
//!
//! Nothing runs here. What can be answered without a running container is answered as the real server does; the
//! rest is refused with the reason.

use serde_json::Value;

use crate::{
    cluster::Cluster,
    group_resource::GroupResource,
    log::ObjectKey,
    resource::Resource,
    status::{Result, StatusError},
};

/// The annotation of Pods and of the node that says that they are simulated.
pub(crate) const SIMULATED: &str = "simulation.operetta.dev/simulated";
/// The log of a simulated Pod.
const SIMULATED_LOG: &str =
    "This Pod is simulated: it runs no containers, so that it has no log.\n";

/// What a client wants to be connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Connection {
    /// The log of a container.
    Log,
    /// A command in a container, or its first process.
    Exec,
    /// The ports of a Pod.
    PortForward,
    /// A Pod, a Service or a node by HTTP.
    Proxy,
}

/// Answers a request for a connection with a text; the log of a Pod without a node is empty.
pub(crate) fn connect(
    cluster: &Cluster,
    resource: &Resource,
    key: &ObjectKey,
    (connection, subresource): (Connection, &str),
    container: Option<&str>,
) -> Result<&'static str> {
    let (name, port) = match connection {
        Connection::Proxy => proxied(&key.name),
        _ => (&*key.name, ""),
    };
    let key = ObjectKey::new(key.namespace.clone(), name);
    let Some((_, object)) = cluster.read(resource, &key) else {
        return Err(StatusError::not_found(&resource.id, name));
    };
    match (resource.id.plural.as_str(), connection) {
        ("services", _) => check_endpoints(cluster, &key, &object, port)?,
        ("pods", Connection::Proxy) if object["status"]["podIP"].is_null() => {
            return Err(StatusError::bad_request("address not allowed"));
        }
        ("pods", Connection::Log | Connection::Exec | Connection::PortForward) => {
            if connection != Connection::PortForward {
                check_container(&object, name, container)?;
            }
            let is_simulated = object["metadata"]["annotations"].get(SIMULATED).is_some();
            match node_of(&object) {
                Some(node) => check_node(cluster, &resource.id, node)?,
                None if connection == Connection::Log => return Ok(""),
                None => {
                    let message = format!("pod {name} does not have a host assigned");
                    return Err(StatusError::bad_request(message));
                }
            }
            if is_simulated && connection == Connection::Log {
                return Ok(SIMULATED_LOG);
            }
        }
        _ => {}
    }
    Err(nothing_runs(&resource.id, subresource))
}

/// The real server asks the node of a Pod, and names it as if it were the Pod.
fn check_node(cluster: &Cluster, pods: &GroupResource, node: &str) -> Result<()> {
    let nodes = GroupResource::new("", "nodes");
    match cluster.log.get(&nodes, &ObjectKey::new("", node)) {
        Some(_) => Ok(()),
        None => Err(StatusError::not_found(pods, node)),
    }
}

/// Refuses a port that the Service does not have, and a Service without endpoints.
fn check_endpoints(cluster: &Cluster, key: &ObjectKey, service: &Value, port: &str) -> Result<()> {
    let name = &key.name;
    if let Ok(number) = port.parse::<i64>() {
        let mut ports = service["spec"]["ports"].as_array().into_iter().flatten();
        if !ports.any(|port| port["port"] == number) {
            let why = format!("no service port {number} found for service {:?}", &**name);
            return Err(StatusError::unavailable(&why));
        }
    }
    let endpoints = cluster.log.get(&GroupResource::new("", "endpoints"), key);
    let endpoints = endpoints.map(|endpoints| endpoints.value()).unwrap_or_default();
    let mut subsets = endpoints["subsets"].as_array().into_iter().flatten();
    if subsets.any(|subset| subset["addresses"].as_array().is_some_and(|all| !all.is_empty())) {
        return Ok(());
    }
    Err(StatusError::unavailable(&format!("no endpoints available for service {:?}", &**name)))
}

/// The refusal of what would need a running container.
pub(crate) fn nothing_runs(id: &GroupResource, subresource: &str) -> StatusError {
    let what = format!("{}/{subresource}: it runs no containers", id.plural);
    StatusError::not_implemented(&what)
}

/// The name and the port in `scheme:name:port`.
fn proxied(id: &str) -> (&str, &str) {
    match id.split(':').collect::<Vec<_>>().as_slice() {
        [_, name, port] | [name, port] => (name, port),
        _ => (id, ""),
    }
}

fn node_of(pod: &Value) -> Option<&str> {
    pod["spec"]["nodeName"].as_str().filter(|node| !node.is_empty())
}

/// Refuses a container that the Pod does not have, and no name where it has several.
fn check_container(pod: &Value, name: &str, container: Option<&str>) -> Result<()> {
    let names = |list: &str| -> Vec<String> {
        let list = pod["spec"][list].as_array().into_iter().flatten();
        list.filter_map(|one| one["name"].as_str().map(str::to_owned)).collect()
    };
    let regular = names("containers");
    let all = [names("initContainers"), regular.clone(), names("ephemeralContainers")].concat();
    let problem = match container {
        Some(given) if all.iter().any(|known| known == given) => return Ok(()),
        Some(given) => format!("container {given} is not valid for pod {name}"),
        None if regular.len() == 1 => return Ok(()),
        None if regular.is_empty() => format!("a container name must be specified for pod {name}"),
        None => format!(
            "a container name must be specified for pod {name}, choose one of: [{}]",
            all.join(" ")
        ),
    };
    Err(StatusError::bad_request(problem))
}
