//! The endpoint that the manifests deploy, asked as they say that Prometheus asks: a process with the arguments of the
//! Deployment, and with the Secret that it mounts.

use std::{
    fs,
    path::{Path, PathBuf},
};

use http::Request;
use k8s_openapi::api::{
    authentication::v1::{TokenRequest, TokenRequestSpec},
    core::v1::{Namespace, Secret, ServiceAccount},
};
use kube::{
    Api, Client, Config,
    api::{ListParams, PostParams},
    config::{AuthInfo, Kubeconfig},
};
use operetta_apiserver::Server;
use operetta_book::Page;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    applied::{KUSTOMIZE, Kubectl, of_kind},
    cluster::{Cluster, new_folder},
    helm,
    program::Program,
};

const NAMESPACE: &str = "operetta-deployed";

/// What the chart renders with monitoring.
struct Deployed {
    objects: Vec<Value>,
    /// The content of the volume with the certificate.
    mounted: PathBuf,
}

impl Deployed {
    fn rendered() -> Self {
        let objects = helm::rendered(&["monitoring.enabled=true"]).unwrap();
        let pod = &of_kind(&objects, "Deployment")["spec"]["template"]["spec"];
        let (volume, mount) = (&pod["volumes"][0], &pod["containers"][0]["volumeMounts"][0]);
        let secret = of_kind(&objects, "Secret");
        assert_eq!(volume["name"], mount["name"]);
        assert_eq!(volume["secret"]["secretName"], secret["metadata"]["name"]);
        let mounted = new_folder();
        let secret: Secret = serde_json::from_value(secret.clone()).unwrap();
        for (key, content) in secret.data.unwrap() {
            fs::write(mounted.join(key), content.0).unwrap();
        }
        Self { objects, mounted }
    }

    /// The process of a Pod, with the account of an administrator and a free port.
    fn start(&self, cluster: &Cluster) -> Program {
        let container =
            &of_kind(&self.objects, "Deployment")["spec"]["template"]["spec"]["containers"][0];
        let mount = format!("={}/", container["volumeMounts"][0]["mountPath"].as_str().unwrap());
        let folder = format!("={}/", self.mounted.display());
        let of_pod =
            container["args"].as_array().unwrap().iter().map(|arg| match arg.as_str().unwrap() {
                "--cluster=in-cluster" => "--cluster=kubeconfig".to_owned(),
                "--listen=0.0.0.0:8443" => "--listen=0.0.0.0:0".to_owned(),
                arg => arg.replace(&mount, &folder),
            });
        let kubeconfig = format!("--kubeconfig={}", cluster.kubeconfig().display());
        let flags: Vec<_> = of_pod.chain([kubeconfig, "--install-crds".to_owned()]).collect();
        Program::start_exactly(&flags)
    }

    /// How Prometheus verifies the endpoint: the file of the authority, and the name of the server.
    fn verification(&self) -> (PathBuf, &str) {
        let tls = &of_kind(&self.objects, "ServiceMonitor")["spec"]["endpoints"][0]["tlsConfig"];
        assert_eq!(
            tls["ca"]["secret"]["name"],
            of_kind(&self.objects, "Secret")["metadata"]["name"]
        );
        let authority = self.mounted.join(tls["ca"]["secret"]["key"].as_str().unwrap());
        (authority, tls["serverName"].as_str().unwrap())
    }
}

/// The answer of `/metrics`, or the code of a refusal, or why there is no connection.
async fn scraped(
    port: &str,
    (authority, name): (&Path, &str),
    token: &str,
) -> Result<String, (u16, String)> {
    let mut config = Config::new(format!("https://127.0.0.1:{port}").parse().unwrap());
    config.root_cert_file = Some(authority.to_owned());
    config.tls_server_name = Some(name.to_owned());
    config.auth_info.token = Some(token.to_owned().into());
    config.default_retry = false;
    let request = Request::get("/metrics").body(Vec::new()).unwrap();
    let answer = Client::try_from(config).unwrap().request_text(request).await;
    answer.map_err(|error| match error {
        kube::Error::Api(status) => (status.code, status.message),
        error => (0, format!("{error:?}")),
    })
}

/// The account of a Prometheus with the role for scrapers.
async fn scraper(cluster: &Cluster, deployed: &Deployed) -> Api<ServiceAccount> {
    let kubectl = Kubectl::on(cluster);
    let is_reader = |it: &&Value| it["metadata"]["name"] == "operetta-metrics-reader";
    let mut role = deployed.objects.iter().find(is_reader).unwrap().clone();
    // On the real control plane, helm would not take over a role of this test.
    role["metadata"]["name"] = json!(NAMESPACE);
    let group = "rbac.authorization.k8s.io";
    for object in [
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}),
        json!({
            "apiVersion": "v1", "kind": "ServiceAccount",
            "metadata": {"name": "scraper", "namespace": NAMESPACE},
        }),
        role,
        json!({
            "apiVersion": format!("{group}/v1"), "kind": "ClusterRoleBinding",
            "metadata": {"name": NAMESPACE},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": NAMESPACE},
            "subjects": [{"kind": "ServiceAccount", "name": "scraper", "namespace": NAMESPACE}],
        }),
    ] {
        kubectl.apply(&object, &[]).unwrap();
    }
    Api::namespaced(cluster.client().await, NAMESPACE)
}

async fn token(accounts: &Api<ServiceAccount>, audiences: &[&str]) -> String {
    let audiences = audiences.iter().map(|&audience| audience.to_owned()).collect();
    let spec = TokenRequestSpec { audiences: Some(audiences), ..TokenRequestSpec::default() };
    let request = TokenRequest { spec: Some(spec), ..TokenRequest::default() };
    let made = accounts.create_token_request("scraper", &PostParams::default(), &request).await;
    made.unwrap().status.unwrap().token.unwrap()
}

#[operetta_harness::test(server)]
async fn prometheus_verifies_the_endpoint_and_its_token_is_worth_nothing_elsewhere() {
    // The real server enforces roles, too.
    let cluster = Cluster::start_as(|| Server::builder().rbac().start()).await;
    let (deployed, another) = (Deployed::rendered(), Deployed::rendered());
    let mut program = deployed.start(&cluster);
    let announced = program.ready().await;
    let (_, address) = announced.split_once("Dashboard: https://0.0.0.0:").expect("an address");
    let (port, _) = address.split_once('/').unwrap();
    let accounts = scraper(&cluster, &deployed).await;
    let (ours, of_others) =
        (token(&accounts, &["operetta"]).await, token(&accounts, &["other"]).await);
    let (authority, name) = deployed.verification();

    let metrics = scraped(port, (&authority, name), &ours).await.unwrap();
    assert!(metrics.contains("operetta_build_info"), "{metrics}");
    for wrong in [&of_others, &token(&accounts, &[]).await] {
        let (code, why) = scraped(port, (&authority, name), wrong).await.unwrap_err();
        assert_eq!(code, 401, "{why}");
    }
    for verified in [(&*authority, "operetta.elsewhere.svc"), (&*another.verification().0, name)] {
        let (_, why) = scraped(port, verified, &ours).await.unwrap_err();
        assert!(why.contains("InvalidCertificate"), "{verified:?}: {why}");
    }
    assert_eq!(at_the_api_server(&cluster, &ours).await, 401);
    assert_eq!(program.stop("TERM").await, Some(0));
}

/// The code of the answer to this token.
async fn at_the_api_server(cluster: &Cluster, token: &str) -> u16 {
    let kubeconfig = Kubeconfig::read_from(cluster.kubeconfig()).unwrap();
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &<_>::default()).await.unwrap();
    config.auth_info = AuthInfo { token: Some(token.to_owned().into()), ..AuthInfo::default() };
    let namespaces: Api<Namespace> = Api::all(Client::try_from(config).unwrap());
    match namespaces.list(&ListParams::default()).await {
        Ok(_) => 200,
        Err(kube::Error::Api(status)) => status.code,
        Err(error) => panic!("{error}"),
    }
}

/// The objects of a file of kustomize.
fn committed(file: &str) -> Vec<Value> {
    let text = fs::read_to_string(format!("{KUSTOMIZE}/{file}.yaml")).unwrap();
    let documents = serde_yaml_ng::Deserializer::from_str(&text);
    documents.map(|document| Value::deserialize(document).unwrap()).collect()
}

/// The Prometheus object that `docs/metrics.md` shows.
pub(crate) fn prometheus_of_the_page() -> Value {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/metrics.md");
    let page = Page::read(Path::new(page)).unwrap();
    let blocks = page.blocks();
    let mut shown = blocks.iter().map(|block| page.content(block));
    let object = shown.find(|text| text.contains("kind: Prometheus\n")).expect("it is shown");
    serde_yaml_ng::from_str(object).unwrap()
}

#[operetta_harness::test]
fn the_prometheus_of_the_page_sends_the_token_that_the_endpoint_accepts() {
    let operators = committed("base/operators");
    let container = &of_kind(&operators, "Deployment")["spec"]["template"]["spec"]["containers"][0];
    let monitor = &committed("monitoring/service-monitor")[0];
    let prometheus = prometheus_of_the_page();
    let (class, mount) =
        (&prometheus["spec"]["scrapeClasses"][0], &prometheus["spec"]["volumeMounts"][0]);
    let volume = &prometheus["spec"]["volumes"][0];
    let token = &volume["projected"]["sources"][0]["serviceAccountToken"];
    assert_eq!(class["name"], monitor["spec"]["scrapeClass"]);
    assert_eq!(mount["name"], volume["name"]);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let file = format!("{}/{}", text(&mount["mountPath"]), text(&token["path"]));
    assert_eq!(class["authorization"]["credentialsFile"], *file);
    let flag = format!("--auth-audience={}", text(&token["audience"]));
    assert!(container["args"].as_array().unwrap().contains(&json!(flag)), "{container}");
}

#[operetta_harness::test]
fn only_the_pods_of_the_namespace_and_prometheus_reach_the_endpoint() {
    let operators = committed("base/operators");
    let policy = of_kind(&operators, "NetworkPolicy");
    let named = |name: &str| json!({"app.kubernetes.io/name": name});
    for (namespace, labels, may) in [
        ("operetta-system", json!({}), true),
        ("monitoring", named("prometheus"), true),
        ("monitoring", named("grafana"), false),
        ("monitoring", json!({}), false),
        ("default", named("prometheus"), false),
        ("default", named("operetta"), false),
    ] {
        assert_eq!(admits(policy, namespace, &labels), may, "{namespace} {labels}");
    }
}

/// Whether the policy lets a Pod with these labels in.
fn admits(policy: &Value, namespace: &str, labels: &Value) -> bool {
    let own = policy["metadata"]["namespace"] == namespace;
    let name = json!({"kubernetes.io/metadata.name": namespace});
    let is_it = |peer: &Value| {
        assert_eq!(peer["ipBlock"], Value::Null, "{peer}");
        let is_there = peer.get("namespaceSelector").map_or(own, |it| selects(it, &name));
        is_there && peer.get("podSelector").is_none_or(|it| selects(it, labels))
    };
    policy["spec"]["ingress"].as_array().unwrap().iter().any(|rule| {
        let of_endpoint = rule["ports"].as_array().unwrap().iter().any(|it| it["port"] == 8443);
        // Without names everybody may.
        of_endpoint
            && rule["from"]
                .as_array()
                .is_none_or(|peers| peers.is_empty() || peers.iter().any(is_it))
    })
}

fn selects(selector: &Value, labels: &Value) -> bool {
    assert_eq!(selector["matchExpressions"], Value::Null, "{selector}");
    let wanted = selector["matchLabels"].as_object().into_iter().flatten();
    wanted.into_iter().all(|(name, value)| labels[name] == *value)
}
