//! An existing cluster, which `$KUBECONFIG` names. A test creates its own namespace and definitions in it and removes
//! them. `~/.kube/config` is never read, and a definition that already exists is an error.

use std::env;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{
    ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams,
};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, ResourceExt};
use serde_json::json;

use crate::Error;
use crate::home::random_hex;

/// The timeout of the removal.
const DEADLINE: Duration = Duration::from_mins(2);

/// The cluster of a kubeconfig.
#[derive(Debug, Clone)]
pub struct GivenCluster {
    config: kube::Config,
    file: PathBuf,
    context: Option<String>,
}

/// The objects of a test on an existing cluster until [`Borrowed::give_back`].
#[derive(Debug)]
pub struct Borrowed {
    config: kube::Config,
    namespace: String,
    definitions: Vec<String>,
}

impl GivenCluster {
    /// The cluster of the file `$KUBECONFIG`, in the context `$OPERETTA_TEST_CONTEXT` or the file's own.
    pub async fn from_environment() -> Result<Self, Error> {
        let file = PathBuf::from(env::var_os("KUBECONFIG").ok_or(Error::NoKubeconfig)?);
        let context = env::var("OPERETTA_TEST_CONTEXT").ok();
        let kubeconfig = Kubeconfig::read_from(&file)?;
        let options =
            KubeConfigOptions { context: context.clone(), ..KubeConfigOptions::default() };
        let config = kube::Config::from_custom_kubeconfig(kubeconfig, &options).await?;
        Ok(Self { config, file, context })
    }

    /// How to connect.
    pub fn kube_config(&self) -> kube::Config {
        self.config.clone()
    }

    /// The file.
    pub fn kubeconfig_path(&self) -> &Path {
        &self.file
    }

    /// The requested context; `None` for the current context of the file.
    pub fn context(&self) -> Option<&str> {
        self.context.as_deref()
    }

    /// Creates a namespace with a new name, and keeps the names of the definitions that the test installs.
    ///
    /// # Errors
    /// [`Error::InUse`] when one of the definitions exists: its objects may be in use.
    pub async fn borrow(&self, definitions: Vec<String>) -> Result<Borrowed, Error> {
        let client = Client::try_from(self.config.clone())?;
        let installed = Api::<CustomResourceDefinition>::all(client.clone());
        for name in &definitions {
            if installed.get_opt(name).await?.is_some() {
                return Err(Error::InUse { definition: name.clone() });
            }
        }
        let mut namespace = Namespace::default();
        let name = format!("operetta-test-{:.8}", random_hex()?);
        namespace.metadata.name = Some(name.clone());
        Api::all(client).create(&PostParams::default(), &namespace).await?;
        Ok(Borrowed { config: self.config.clone(), namespace: name, definitions })
    }
}

impl Borrowed {
    /// The namespace. Namespaces with it and a dash as prefix belong to the test too.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Removes the definitions with all their objects, and the namespaces; returns when they are gone.
    pub async fn give_back(self) -> Result<(), Error> {
        // A client belongs to the runtime that created it.
        let client = Client::try_from(self.config.clone())?;
        for name in &self.definitions {
            remove_definition(&client, name).await?;
        }
        let namespaces = Api::<Namespace>::all(client);
        let prefix = format!("{}-", self.namespace);
        for namespace in namespaces.list(&ListParams::default()).await? {
            let name = namespace.name_any();
            if name == self.namespace || name.starts_with(&prefix) {
                remove(&namespaces, &name).await?;
            }
        }
        Ok(())
    }
}

/// Removes a definition, and first the finalizers of its objects, which no operator removes any more.
async fn remove_definition(client: &Client, name: &str) -> Result<(), Error> {
    let definitions = Api::<CustomResourceDefinition>::all(client.clone());
    let Some(definition) = definitions.get_opt(name).await? else { return Ok(()) };
    let ty = resource(&definition);
    let nothing = Patch::Merge(json!({ "metadata": { "finalizers": null } }));
    let all = Api::<DynamicObject>::all_with(client.clone(), &ty);
    for object in all.list(&ListParams::default()).await? {
        let of_namespace = match object.namespace() {
            Some(namespace) => {
                Api::<DynamicObject>::namespaced_with(client.clone(), &namespace, &ty)
            }
            None => Api::all_with(client.clone(), &ty),
        };
        let freed = of_namespace.patch(&object.name_any(), &PatchParams::default(), &nothing).await;
        unless_missing(freed)?;
    }
    remove(&definitions, name).await
}

fn resource(definition: &CustomResourceDefinition) -> ApiResource {
    let spec = &definition.spec;
    let version =
        spec.versions.iter().find(|version| version.storage).map(|version| version.name.clone());
    let version = version.unwrap_or_default();
    ApiResource {
        group: spec.group.clone(),
        api_version: format!("{}/{version}", spec.group),
        version,
        kind: spec.names.kind.clone(),
        plural: spec.names.plural.clone(),
    }
}

async fn remove<K>(api: &Api<K>, name: &str) -> Result<(), Error>
where
    K: Clone + std::fmt::Debug + serde::de::DeserializeOwned,
{
    unless_missing(api.delete(name, &DeleteParams::background()).await)?;
    let started = Instant::now();
    while api.get_opt(name).await?.is_some() {
        if started.elapsed() > DEADLINE {
            return Err(Error::Lingers { name: name.to_owned(), waited: DEADLINE });
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

fn unless_missing<T>(result: kube::Result<T>) -> Result<(), Error> {
    match result {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        Err(error) => Err(error.into()),
    }
}
