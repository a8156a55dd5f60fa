//! How users reach the leader where several processes run: each labels its Pod while it leads, and a Service selects that
//! label. With one replica there is nothing of it.

use serde_json::{Value, json};

use super::{
    role,
    setting::{Setting, merged},
    workload,
};
use crate::election::LEADER_LABEL;

/// The variable of a container that has the name of its Pod.
const POD_NAME: &str = "POD_NAME";

const NAME_LABEL: &str = "app.kubernetes.io/name";

/// The Service, and the permission of the processes to label their Pods.
pub(super) fn objects(setting: &Setting) -> [Value; 3] {
    let [role, binding] = permission(setting);
    [service(setting), role, binding]
}

/// The arguments of each process.
pub(super) fn args() -> [String; 2] {
    ["--leader-elect".to_owned(), format!("--leader-elect-pod=$({POD_NAME})")]
}

/// The variables of each process.
pub(super) fn variables() -> Value {
    json!([{"name": POD_NAME, "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}])
}

fn service(setting: &Setting) -> Value {
    let mut metadata = metadata(setting);
    // Another name than that of the Pods: by it a ServiceMonitor would scrape the leader a second time.
    if let Value::String(name) = &mut metadata["labels"][NAME_LABEL] {
        name.push_str("-leader");
    }
    let selector = merged(&setting.selector, &json!({LEADER_LABEL: "true"}));
    workload::service_of(setting, metadata, &selector)
}

/// RBAC cannot name the Pods of a Deployment: it is for all Pods of the namespace.
fn permission(setting: &Setting) -> [Value; 2] {
    let rule = json!({"apiGroups": [""], "resources": ["pods"], "verbs": ["patch"]});
    role::bound(setting, &metadata(setting), &rule)
}

fn metadata(setting: &Setting) -> Value {
    let mut metadata = setting.metadata();
    metadata["name"] = json!(format!("{}-leader", setting.name));
    metadata
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::deployed::Deployed;

    #[test]
    fn the_service_selects_the_leader_and_is_not_scraped_beside_that_of_all_pods() {
        let setting = Setting::kustomize(&Deployed::new("website", "1.2.3").namespace("web"), &[]);
        let service = service(&setting);
        assert_eq!(service["metadata"]["name"], "website-leader");
        let selector = json!({"app.kubernetes.io/name": "website", LEADER_LABEL: "true"});
        assert_eq!(service["spec"]["selector"], selector);
        let scraped = &setting.scrape["selector"]["matchLabels"];
        assert_ne!(service["metadata"]["labels"][NAME_LABEL], scraped[NAME_LABEL]);
        let of_all = workload::always(&setting)[1]["spec"].clone();
        assert_eq!(service["spec"]["ports"], of_all["ports"]);
        assert_eq!(of_all["selector"], setting.selector, "Prometheus scrapes all Pods");
    }

    #[test]
    fn its_certificate_has_the_name_of_the_service() {
        let setting = Setting::kustomize(&Deployed::new("website", "1.2.3").namespace("web"), &[]);
        assert_eq!(setting.hosts(), ["website.web.svc", "website-leader.web.svc"]);
    }
}
