//! Why a Pod does not run, or is not ready: the deepest reason that Kubernetes gives. Its sentences are those of
//! kube-scheduler and kubelet 1.33 to 1.37.

use serde_json::Value;

use super::{kubectl, named::Named, trouble::Trouble};
use crate::{history::Action, object::ObjectEvent, plan::ChildId};

/// A Pod of a child, with what was said about it.
pub(super) struct Pod<'a> {
    pub(super) id: ChildId,
    pub(super) status: &'a Value,
    pub(super) spec: &'a Value,
    pub(super) warnings: &'a [ObjectEvent],
    /// The object whose handler returned the child.
    pub(super) parent: &'a ChildId,
}

/// The reasons of a waiting container that pulls its image.
const IMAGE: [&str; 5] = [
    "ErrImagePull",
    "ImagePullBackOff",
    "InvalidImageName",
    "ErrImageNeverPull",
    "ImageInspectError",
];
/// Those of a container that cannot be made.
const CONFIG: [&str; 3] =
    ["CreateContainerConfigError", "CreateContainerError", "RunContainerError"];

impl Pod<'_> {
    pub(super) fn trouble(&self) -> Trouble {
        let trouble = self
            .unscheduled()
            .or_else(|| self.containers().find_map(|container| self.of_container(container)))
            .or_else(|| self.unmounted())
            .or_else(|| self.unready())
            .unwrap_or_else(|| self.of_phase());
        self.warned(trouble)
    }

    fn unscheduled(&self) -> Option<Trouble> {
        let condition = self.condition("PodScheduled").filter(|it| it["status"] == "False")?;
        let message = text(condition, "message");
        let since = text(condition, "lastTransitionTime");
        let trouble = Trouble::of(&self.id, format!("is not scheduled: {message}"));
        let trouble =
            if since.is_empty() { trouble } else { trouble.because(format!("since {since}")) };
        Some(trouble.cured_by(placed(message, self.parent)))
    }

    fn containers(&self) -> impl Iterator<Item = &Value> {
        let fields = ["initContainerStatuses", "containerStatuses"];
        fields.into_iter().filter_map(|field| self.status[field].as_array()).flatten()
    }

    fn of_container(&self, container: &Value) -> Option<Trouble> {
        let name = text(container, "name");
        let waiting = &container["state"]["waiting"];
        let (reason, message) = (text(waiting, "reason"), text(waiting, "message"));
        if IMAGE.contains(&reason) {
            return Some(self.without_image(name, reason, message));
        }
        if CONFIG.contains(&reason) {
            return Some(
                Trouble::of(&self.id, format!("cannot start its container {name}: {message}"))
                    .because(reason)
                    .cured_by(self.named(message))
                    .cured_by([self.corrected("what the container names")]),
            );
        }
        let ended = [&container["state"]["terminated"], &container["lastState"]["terminated"]];
        let ended =
            ended.into_iter().find(|it| it["exitCode"].as_i64().is_some_and(|code| code != 0));
        ended.filter(|_| container["ready"] != true).map(|ended| self.ended(name, container, ended))
    }

    /// What a message of the kubelet names and does not find.
    fn named(&self, message: &str) -> Option<Action> {
        let namespace = self.id.key.namespace.as_deref().unwrap_or("default");
        Named::read(message).map(|it| it.action(namespace))
    }

    /// A volume that cannot be mounted: only a Warning says so.
    fn unmounted(&self) -> Option<Trouble> {
        const REASONS: [&str; 2] = ["FailedMount", "FailedAttachVolume"];
        let mut about = self.warnings.iter().filter(|it| it.key == self.id.key);
        let event = about.find(|it| REASONS.contains(&&*it.reason))?;
        if text(self.status, "phase") != "Pending" {
            return None;
        }
        let (volume, why) = volume_of(&event.message);
        Some(
            Trouble::of(&self.id, format!("cannot mount its volume{volume}: {why}"))
                .cured_by(self.named(&event.message))
                .cured_by([self.corrected("the volume")]),
        )
    }

    fn without_image(&self, name: &str, reason: &str, message: &str) -> Trouble {
        if let Some(secret) = self.lacks_pull_secret() {
            return self.without_pull_secret(name, secret).because(message);
        }
        let image = self.image(name);
        let mut trouble =
            Trouble::of(&self.id, format!("cannot pull the image {image} of its container {name}"))
                .because(if message.is_empty() { reason } else { message }.to_owned())
                .cured_by([self.corrected("the name of the image")]);
        if message.contains("401") || message.contains("403") || message.contains("denied") {
            let text = "Or create a Secret of the registry, and name it in imagePullSecrets";
            trouble = trouble.cured_by([self.pull_secret(text, "registry")]);
        }
        trouble
    }

    /// `Unable to retrieve some image pull secrets (NAME, ..); ..`
    fn lacks_pull_secret(&self) -> Option<&str> {
        let mut about = self.warnings.iter().filter(|it| it.key == self.id.key);
        let event = about.find(|it| it.reason == "FailedToRetrieveImagePullSecret")?;
        let (_, rest) = event.message.split_once('(')?;
        rest.split([',', ')']).next()
    }

    fn without_pull_secret(&self, container: &str, secret: &str) -> Trouble {
        let image = self.image(container);
        let says = format!(
            "cannot pull the image {image} of its container {container}: the Secret {secret}, which \
             imagePullSecrets names, does not exist"
        );
        Trouble::of(&self.id, says).cured_by([
            self.pull_secret("Create it from the registries that you are logged in to", secret),
            self.corrected("the name of the Secret"),
        ])
    }

    fn pull_secret(&self, text: &str, name: &str) -> Action {
        let namespace = kubectl::quoted(self.id.key.namespace.as_deref().unwrap_or("default"));
        let command = format!(
            "kubectl create secret generic {} -n {namespace} --type=kubernetes.io/dockerconfigjson \
             --from-file=.dockerconfigjson=\"$HOME/.docker/config.json\"",
            kubectl::quoted(name)
        );
        Action::command(text, command)
    }

    fn ended(&self, name: &str, container: &Value, ended: &Value) -> Trouble {
        let (code, reason) =
            (ended["exitCode"].as_i64().unwrap_or_default(), text(ended, "reason"));
        let times = container["restartCount"].as_i64().unwrap_or_default();
        let says = if reason == "OOMKilled" {
            format!("lacks memory: its container {name} was killed")
        } else {
            format!("has a container that ends: {name} with exit code {code}")
        };
        let mut trouble =
            Trouble::of(&self.id, says).because(format!("it was restarted {times} times"));
        let message = text(ended, "message");
        if !message.is_empty() {
            trouble = trouble.because(message);
        }
        let field =
            if reason == "OOMKilled" { "the limit of memory" } else { "what the log names" };
        trouble.cured_by([self.corrected(field), self.log(name, true)])
    }

    /// It runs and its probe fails.
    fn unready(&self) -> Option<Trouble> {
        let container = self
            .containers()
            .find(|it| it["ready"] == false && it["state"]["running"].is_object())?;
        let name = text(container, "name");
        let probe =
            self.warnings.iter().find(|it| it.reason == "Unhealthy" && it.key == self.id.key);
        let says = match probe {
            Some(event) => format!("is not ready: container {name}: {}", event.message),
            None => {
                format!("is not ready: container {name} runs and does not report that it is ready")
            }
        };
        Some(Trouble::of(&self.id, says).cured_by([
            self.corrected("the probe, or what the container serves,"),
            self.log(name, false),
        ]))
    }

    fn of_phase(&self) -> Trouble {
        let phase = text(self.status, "phase");
        let said = [self.status, self.condition("Ready").unwrap_or(self.status)];
        let said =
            said.into_iter().find(|it| !text(it, "reason").is_empty()).unwrap_or(self.status);
        let (reason, message) = (text(said, "reason"), text(said, "message"));
        let said = [reason, message]
            .into_iter()
            .filter(|it| !it.is_empty())
            .collect::<Vec<_>>()
            .join(": ");
        let says =
            if said.is_empty() { format!("is {phase}") } else { format!("is {phase}: {said}") };
        let look = Action::command("Look at what it reports", kubectl::on("describe", &self.id));
        let trouble = Trouble::of(&self.id, says);
        if phase == "Failed" {
            return trouble
                .cured_on_each("delete", "Delete it, and it is made again")
                .cured_by([look]);
        }
        trouble.cured_by([look])
    }

    /// With the newest Warnings about it.
    fn warned(&self, trouble: Trouble) -> Trouble {
        warned(trouble, &self.id, self.warnings)
    }

    fn corrected(&self, what: &str) -> Action {
        Action::command(format!("Correct {what} in the parent"), kubectl::on("edit", self.parent))
    }

    fn log(&self, container: &str, previous: bool) -> Action {
        Action::command("Read its log", kubectl::logs(&self.id, container, previous))
    }

    fn condition(&self, ty: &str) -> Option<&Value> {
        self.status["conditions"].as_array()?.iter().find(|it| it["type"] == ty)
    }

    fn image(&self, container: &str) -> &str {
        let fields = ["containers", "initContainers"];
        let all = fields.into_iter().filter_map(|field| self.spec[field].as_array()).flatten();
        let found = all.into_iter().find(|it| it["name"] == container);
        found.map(|it| text(it, "image")).unwrap_or_default()
    }
}

/// The volume that a message names, and what it says of it.
fn volume_of(message: &str) -> (String, &str) {
    let after = |words: &str| message.split_once(words)?.1.split_once("\" : ");
    match after("for volume \"") {
        Some((volume, why)) => (format!(" {volume}"), why),
        None => (String::new(), message),
    }
}

/// With the newest Warnings about an object, each with how often it came.
pub(super) fn warned(trouble: Trouble, id: &ChildId, warnings: &[ObjectEvent]) -> Trouble {
    const NAMED: usize = 2;
    let about = warnings.iter().filter(|it| it.kind == id.ty.kind() && it.key == id.key);
    about.take(NAMED).fold(trouble, |trouble, ObjectEvent { reason, message, count, .. }| {
        let times = if *count > 1 { format!(" ({count} times)") } else { String::new() };
        trouble.because(format!("{reason}: {message}{times}"))
    })
}

/// What helps against the words of the scheduler.
fn placed(message: &str, parent: &ChildId) -> Vec<Action> {
    let edit = |text| Action::command(text, kubectl::on("edit", parent));
    let nodes = || Action::command("Look at the nodes", "kubectl get nodes -o wide");
    if message.contains("were unschedulable") {
        let command = "kubectl get nodes -o name --field-selector spec.unschedulable=true | xargs kubectl uncordon";
        return vec![Action::command("Let the nodes take Pods again", command)];
    }
    if let Some((_, rest)) = message.split_once("untolerated taint {") {
        let key = rest.split([':', '}', '=']).next().unwrap_or_default().trim();
        let command = format!("kubectl taint nodes --all {}-", kubectl::quoted(key));
        return vec![
            edit("Let the Pods tolerate the taint in the parent"),
            Action::command("Or remove the taint, if it keeps the nodes for nobody", command),
            nodes(),
        ];
    }
    if message.contains("Insufficient") {
        return vec![edit("Ask for less in the parent, or add a node"), nodes()];
    }
    if message.contains("affinity") || message.contains("selector") {
        return vec![edit("Correct where the parent lets its Pods run, or label a node"), nodes()];
    }
    vec![nodes()]
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}
