//! An unmodified kubectl against the server over TLS: that of `$KUBECTL`, else the one that
//! `tests/controlplane` builds. Without either the tests are ignored.

use std::{
    io::Write,
    path::PathBuf,
    process::{Command, Stdio},
    time::Duration,
};

use operetta_apiserver::{Running, Server, WorkloadTiming};
use operetta_controlplane::{Binaries, Error};
use operetta_harness::ignore_outside_ci;

/// A kubectl with a kubeconfig and a home of its own.
struct Kubectl {
    program: PathBuf,
    folder: PathBuf,
    running: Running,
    _server: Server,
}

impl Kubectl {
    fn new(test: &str) -> Self {
        Self::of(test, Server::start())
    }

    fn of(test: &str, server: Server) -> Self {
        let program = find();
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
        let running = server.serve("127.0.0.1:0".parse().unwrap()).unwrap();
        running.write_kubeconfig(&folder.join("kubeconfig")).unwrap();
        Self { program, folder, running, _server: server }
    }

    /// Runs a command, and returns its exit code and what it printed.
    async fn run(&self, line: &str, input: &str) -> (bool, String) {
        let mut command = Command::new(&self.program);
        command
            .args(line.split_whitespace())
            .env("KUBECONFIG", self.folder.join("kubeconfig"))
            .env("HOME", &self.folder)
            .env("KUBE_EDITOR", "sed -i s/before/after/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let input = input.to_owned();
        let run = move || {
            let mut child = command.spawn().unwrap();
            child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
            child.wait_with_output().unwrap()
        };
        let output = tokio::task::spawn_blocking(run).await.unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&text).into_owned())
    }

    async fn succeeds(&self, line: &str, input: &str, expected: &str) {
        let (success, text) = self.run(line, input).await;
        assert!(success && text.contains(expected), "kubectl {line}\n{text}");
    }

    async fn fails(&self, line: &str, input: &str, expected: &str) {
        let (success, text) = self.run(line, input).await;
        assert!(!success && text.contains(expected), "kubectl {line}\n{text}");
    }
}

/// The kubectl to use: the one that is named, else the one that the control-plane rig builds.
fn find() -> PathBuf {
    if let Some(path) = std::env::var_os("KUBECTL") {
        return path.into();
    }
    match Binaries::find() {
        Ok(binaries) => binaries.folder().join("kubectl"),
        Err(missing @ Error::Unavailable { .. }) => ignore_outside_ci(missing),
        Err(error) => panic!("{error}"),
    }
}

const DEFINITION: &str = r#"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget, shortNames: [wd]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status'}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [size]
            properties: {size: {type: integer}}
          status:
            type: object
            properties:
              conditions:
                type: array
                items:
                  type: object
                  properties: {type: {type: string}, status: {type: string}}
"#;

fn widget(size: &str) -> String {
    format!(
        "{{apiVersion: example.com/v1, kind: Widget, metadata: {{name: a, labels: {{tier: web}}}}, \
         spec: {{size: {size}}}}}"
    )
}

#[operetta_harness::test]
async fn kubectl_applies_reads_changes_and_deletes_custom_resources() {
    let kubectl = Kubectl::new("custom");
    kubectl.succeeds("version", "", "+operetta").await;
    kubectl.succeeds("apply -f -", DEFINITION, "widgets.example.com created").await;
    let established = "wait --for=condition=established crd/widgets.example.com --timeout=10s";
    kubectl.succeeds(established, "", "condition met").await;
    kubectl.succeeds("api-resources", "", "widgets").await;
    kubectl.succeeds("apply -f -", &widget("1"), "widget.example.com/a created").await;
    kubectl.succeeds("apply -f -", &widget("1"), "unchanged").await;
    kubectl.succeeds("apply -f -", &widget("2"), "configured").await;
    kubectl.succeeds("apply --server-side -f -", &widget("2"), "serverside-applied").await;
    kubectl.fails("apply -f -", &widget("big"), "spec.size").await;
    kubectl.succeeds("get wd -A -l tier=web", "", "SIZE").await;
    kubectl.succeeds("get wd a -o yaml", "", "size: 2").await;
    kubectl.succeeds("get wd -o name", "", "widget.example.com/a").await;
    kubectl.succeeds(r#"patch wd a --type=merge -p {"spec":{"size":5}}"#, "", "patched").await;
    let replace = r#"patch wd a --type=json -p [{"op":"replace","path":"/spec/size","value":6}]"#;
    kubectl.succeeds(replace, "", "patched").await;
    kubectl.succeeds("label wd a x=y", "", "labeled").await;
    kubectl.succeeds("annotate wd a note=hi", "", "annotated").await;
    let ready = r#"patch wd a --subresource=status --type=merge -p {"status":{"conditions":[{"type":"Ready","status":"True"}]}}"#;
    kubectl.succeeds(ready, "", "patched").await;
    kubectl.succeeds("wait --for=condition=Ready wd/a --timeout=10s", "", "condition met").await;
    kubectl.succeeds("delete wd a --wait", "", "deleted").await;
    kubectl.fails("get wd a", "", "NotFound").await;
    kubectl.running.stop().await;
}

#[operetta_harness::test]
async fn kubectl_applies_built_in_resources_server_side() {
    let kubectl = Kubectl::new("built_in");
    let config_map = |value: &str| {
        format!(
            "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: a}}, data: {{k: {value:?}}}}}"
        )
    };
    kubectl.succeeds("create -f -", &config_map("0"), "created").await;
    let forced = "apply --server-side --force-conflicts -f -";
    kubectl.succeeds(forced, &config_map("1"), "serverside-applied").await;
    kubectl.succeeds("get cm a -o json", "", r#""k": "1""#).await;
    kubectl.succeeds("patch cm a -p {\"data\":{\"k\":\"2\"}}", "", "patched").await;
    kubectl.succeeds("get cm a -o json", "", r#""k": "2""#).await;
    kubectl.succeeds("delete cm a --cascade=foreground", "", "deleted").await;
    kubectl.running.stop().await;
}

/// These commands make the object themselves, and send it as protobuf.
#[operetta_harness::test]
async fn kubectl_creates_what_it_makes_from_its_arguments() {
    let kubectl = Kubectl::new("generators");
    kubectl.succeeds("create namespace x", "", "namespace/x created").await;
    let deployment = "create deployment web -n x --image=nginx --replicas=2 --port=80";
    kubectl.succeeds(deployment, "", "deployment.apps/web created").await;
    kubectl.succeeds("expose deployment web -n x", "", "service/web exposed").await;
    kubectl.succeeds("get service web -n x -o jsonpath={.spec.ports[0].port}", "", "80").await;
    kubectl.succeeds("run one -n x --image=nginx", "", "pod/one created").await;
    kubectl.succeeds("get pod one -n x -o yaml", "", "restartPolicy: Always").await;
    for what in [
        "configmap settings --from-literal=a=b -n x",
        "secret generic secret --from-literal=a=b -n x",
        "serviceaccount robot -n x",
        "quota quota --hard=cpu=1,memory=1G -n x",
        "job job --image=busybox -n x",
        "cronjob cron --image=busybox --schedule=@hourly -n x -- date",
        "service clusterip service --tcp=80:8080 -n x",
        "ingress ingress --rule=host/path=service:80 -n x",
        "role role --verb=get --resource=pods -n x",
        "rolebinding binding --role=role --user=me -n x",
        "clusterrole cluster --verb=get --resource=nodes",
        "clusterrolebinding bound --clusterrole=cluster --group=us",
        "poddisruptionbudget budget --selector=a=b --min-available=1 -n x",
        "priorityclass high --value=1000",
    ] {
        kubectl.succeeds(&format!("create {what}"), "", "created").await;
    }
    kubectl.succeeds("auth can-i get pods", "", "yes").await;
    kubectl.succeeds("delete namespace x", "", "deleted").await;
    kubectl.running.stop().await;
}

/// A deployment whose only container is of this image, and has a second one if `sidecar` says so.
fn deployment(image: &str, sidecar: &str) -> String {
    format!(
        "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: web, annotations: {{note: \
         before}}}}, spec: {{selector: {{matchLabels: {{app: web}}}}, template: {{metadata: \
         {{labels: {{app: web}}}}, spec: {{containers: [{{name: web, image: {image:?}, ports: \
         [{{containerPort: 80}}]}}{sidecar}]}}}}}}}}"
    )
}

#[operetta_harness::test]
async fn kubectl_applies_a_changed_deployment_again_and_edits_it() {
    let kubectl = Kubectl::new("again");
    let first = deployment("web:1", ", {name: log, image: 'log:1'}");
    kubectl.succeeds("apply -f -", &first, "web created").await;
    kubectl.succeeds("apply -f -", &first, "unchanged").await;
    let (differs, text) = kubectl.run("diff -f -", &deployment("web:2", "")).await;
    assert!(!differs && text.contains('+') && text.contains("web:2"), "{text}");
    kubectl.succeeds("set image deploy/web log=log:7", "", "image updated").await;
    kubectl.succeeds("set env deploy/web A=1 B=2", "", "env updated").await;
    kubectl.succeeds("set env deploy/web B-", "", "env updated").await;
    kubectl.succeeds("apply -f -", &deployment("web:2", ""), "configured").await;
    let images = "get deploy web -o jsonpath={..image}{..env}";
    let (_, text) = kubectl.run(images, "").await;
    assert_eq!(text, r#"web:2[{"name":"A","value":"1"}]"#);
    kubectl.succeeds("edit deploy web", "", "edited").await;
    kubectl.succeeds("get deploy web -o jsonpath={.metadata.annotations.note}", "", "after").await;
    kubectl.succeeds("scale deploy web --replicas=3", "", "scaled").await;
    kubectl.succeeds("rollout restart deploy/web", "", "restarted").await;
    kubectl.succeeds("get deploy web -o yaml", "", "kubectl.kubernetes.io/restartedAt").await;
    kubectl.succeeds("rollout pause deploy/web", "", "paused").await;
    let tolerated =
        r#"patch deploy web -p {"spec":{"template":{"spec":{"tolerations":[{"key":"a"}]}}}}"#;
    kubectl.succeeds(tolerated, "", "patched").await;
    kubectl
        .fails(r#"patch deploy web -p {"spec":{"replicas":"x"}}"#, "", "unrecognized type: int32")
        .await;
    kubectl
        .fails(r#"patch deploy web -p {"spec":{"$patch":"x"}}"#, "", "unknown patch type: x")
        .await;
    kubectl.running.stop().await;
}

#[operetta_harness::test]
async fn kubectl_undoes_a_rollout() {
    let kubectl = Kubectl::new("undo");
    kubectl.succeeds("create -f -", &deployment("web:2", ""), "created").await;
    let (_, uid) = kubectl.run("get deploy web -o jsonpath={.metadata.uid}", "").await;
    for revision in ["1", "2"] {
        let set = format!(
            "{{apiVersion: apps/v1, kind: ReplicaSet, metadata: {{name: web-{revision}, labels: {{app: \
             web}}, annotations: {{deployment.kubernetes.io/revision: '{revision}'}}, ownerReferences: \
             [{{apiVersion: apps/v1, kind: Deployment, name: web, uid: {uid}, controller: true}}]}}, \
             spec: {{selector: {{matchLabels: {{app: web}}}}, template: {{metadata: {{labels: {{app: \
             web}}}}, spec: {{containers: [{{name: web, image: 'web:{revision}'}}]}}}}}}}}"
        );
        kubectl.succeeds("create -f -", &set, "created").await;
    }
    kubectl.succeeds("rollout history deploy/web", "", "REVISION").await;
    kubectl.succeeds("rollout undo deploy/web --to-revision=1", "", "rolled back").await;
    kubectl.succeeds("get deploy web -o jsonpath={..image}", "", "web:1").await;
    kubectl.running.stop().await;
}

#[operetta_harness::test]
async fn kubectl_follows_simulated_workloads() {
    // Slow enough that kubectl sees Pods that are not ready.
    let timing = WorkloadTiming { start: Duration::from_secs(1), ..WorkloadTiming::immediate() };
    let kubectl = Kubectl::of("simulated", Server::builder().simulate_workloads(timing).start());
    kubectl.succeeds("create deployment web --image=web:1 --replicas=2", "", "created").await;
    let rollout = "rollout status deployment/web --timeout=60s";
    kubectl.succeeds(rollout, "", "successfully rolled out").await;
    kubectl.succeeds("scale deployment web --replicas=3", "", "scaled").await;
    kubectl.succeeds(rollout, "", "successfully rolled out").await;
    kubectl.succeeds("get deployment web", "", "3/3     3            3").await;
    // Before an update: later kubectl may choose a Pod that is just being deleted.
    kubectl.succeeds("logs deployment/web", "", "This Pod is simulated").await;
    kubectl.fails("exec deployment/web -- true", "", "it runs no containers").await;
    kubectl.succeeds("set image deployment/web web=web:2", "", "image updated").await;
    kubectl.succeeds(rollout, "", "successfully rolled out").await;
    kubectl.succeeds("rollout history deployment/web", "", "2         <none>").await;
    kubectl.succeeds("rollout undo deployment/web", "", "rolled back").await;
    kubectl.succeeds(rollout, "", "successfully rolled out").await;
    kubectl.succeeds("get deployment web -o jsonpath={..image}", "", "web:1").await;
    kubectl
        .succeeds("wait --for=condition=Available deployment/web --timeout=60s", "", "met")
        .await;
    kubectl.succeeds("get pods -l app=web", "", "1/1     Running").await;
    kubectl.succeeds("describe deployment web", "", "simulated-deployment-controller").await;
    kubectl.succeeds("get pods -o yaml", "", "simulation.operetta.dev/simulated").await;
    kubectl.succeeds("describe node embedded", "", "simulation.operetta.dev/simulated").await;
    kubectl.succeeds("get nodes", "", "embedded   Ready").await;
    kubectl.succeeds("create job once --image=once", "", "created").await;
    kubectl.succeeds("wait --for=condition=complete job/once --timeout=60s", "", "met").await;
    kubectl.succeeds("get job once", "", "Complete   1/1").await;
    let delete = "delete deployment web --cascade=foreground --timeout=60s";
    kubectl.succeeds(delete, "", "deleted").await;
    let (_, left) = kubectl.run("get pods -l app=web", "").await;
    assert!(left.contains("No resources found"), "{left}");
    kubectl.running.stop().await;
}

#[operetta_harness::test]
async fn kubectl_labels_annotates_cordons_and_taints() {
    let kubectl = Kubectl::new("nodes");
    let node = "{apiVersion: v1, kind: Node, metadata: {name: n1}}";
    kubectl.succeeds("create -f -", node, "created").await;
    kubectl.succeeds("cordon n1", "", "cordoned").await;
    kubectl.succeeds("get node n1 -o jsonpath={.spec.unschedulable}", "", "true").await;
    kubectl.succeeds("uncordon n1", "", "uncordoned").await;
    kubectl.succeeds("taint node n1 a=b:NoSchedule", "", "tainted").await;
    kubectl.succeeds("get node n1 -o jsonpath={.spec.taints[0].key}", "", "a").await;
    kubectl.succeeds("taint node n1 a-", "", "untainted").await;
    kubectl.succeeds("label node n1 zone=a", "", "labeled").await;
    kubectl.succeeds("label node n1 zone-", "", "unlabeled").await;
    kubectl.succeeds("annotate node n1 a=b", "", "annotated").await;
    kubectl.succeeds("label --local -f - x=y -o yaml", node, "x: \"y\"").await;
    kubectl.succeeds("get node n1 -o jsonpath={.metadata.annotations}", "", r#"{"a":"b"}"#).await;
    kubectl.running.stop().await;
}
