//! A process that answers webhooks and does nothing else: both its sides.

use std::{
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use anyhow::{Context, Result};
use base64::{Engine, engine::general_purpose::STANDARD};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Client, Config, config::Kubeconfig};
use operetta::{
    operator::admission::{Admission, AdmissionRequest, Webhook},
    supervisor::{Migration, Supervisor},
    web::Tls,
};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use tokio::process::Command;

use crate::{cluster, helper_process::Helper, process};

const HOST: &str = "127.0.0.1";

/// A process that answers a webhook.
pub(super) struct Serving {
    pub(super) name: &'static str,
    /// Where it is asked.
    pub(super) path: String,
    port: u16,
    helper: Helper,
}

/// The certificate of all of them, in the files that controller-runtime reads.
pub(super) struct Certificate {
    der: Vec<u8>,
    pem: String,
    folder: PathBuf,
}

impl Serving {
    pub(super) async fn operetta(kubeconfig: &Path, certificate: &Certificate) -> Result<Self> {
        let port = free_port()?;
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("--webhooks-of").arg(kubeconfig);
        command.arg("--certificates").arg(&certificate.folder);
        command.args(["--port", &port.to_string()]);
        Self::start("operetta", format!("/webhooks/{}", webhook().name()), port, command).await
    }

    pub(super) async fn start(
        name: &'static str,
        path: String,
        port: u16,
        mut command: Command,
    ) -> Result<Self> {
        Ok(Self { name, path, port, helper: Helper::start(&mut command).await? })
    }

    pub(super) fn url(&self) -> String {
        format!("https://{HOST}:{}{}", self.port, self.path)
    }

    /// A client with connections of its own.
    pub(super) fn client(&self, certificate: &Certificate) -> Result<Client> {
        let mut config = Config::new(format!("https://{HOST}:{}", self.port).parse()?);
        config.root_cert = Some(vec![certificate.der.clone()]);
        cluster::client_of(config)
    }

    /// How often its handler was called.
    pub(super) async fn calls(&mut self) -> Result<usize> {
        self.helper.send("").await?;
        Ok(self.helper.response().await?.parse()?)
    }

    pub(super) fn cpu(&self) -> Result<Duration> {
        process::cpu_of(self.helper.id()?)
    }

    pub(super) fn resident_kib(&self) -> Result<usize> {
        process::resident_of(self.helper.id()?)
    }

    pub(super) async fn stop(self) -> Result<()> {
        self.helper.stop().await
    }
}

impl Certificate {
    pub(super) fn make() -> Result<Self> {
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed([HOST.to_owned()])?;
        let folder = std::env::temp_dir().join(format!("engine-{}-webhooks", std::process::id()));
        fs::create_dir_all(&folder)?;
        let made = Self { der: cert.der().to_vec(), pem: cert.pem(), folder };
        fs::write(made.folder.join("tls.crt"), &made.pem)?;
        fs::write(made.folder.join("tls.key"), signing_key.serialize_pem())?;
        Ok(made)
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// As a webhook configuration has it.
    pub(super) fn bundle(&self) -> String {
        STANDARD.encode(&self.pem)
    }
}

impl Drop for Certificate {
    fn drop(&mut self) {
        // Nobody trusts the key after the run; a folder that stays is no error.
        drop(fs::remove_dir_all(&self.folder));
    }
}

/// A port that was free a moment ago.
pub(super) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind((HOST, 0))?.local_addr()?.port())
}

static CALLS: AtomicUsize = AtomicUsize::new(0);

fn webhook() -> Webhook {
    Webhook::validate("nothing", |_: &AdmissionRequest<ConfigMap>| {
        CALLS.fetch_add(1, Ordering::Relaxed);
        Ok(Admission::allow())
    })
}

/// The other side: answers until its input ends; each line of it is answered by the number of calls.
pub(crate) async fn answer(kubeconfig: &Path, port: u16, certificates: &Path) -> Result<()> {
    let kubeconfig = Kubeconfig::read_from(kubeconfig).context("a kubeconfig")?;
    let files = (certificates.join("tls.crt"), certificates.join("tls.key"));
    let running = Supervisor::builder()
        .connect(move || cluster::config(kubeconfig))
        .webhook(webhook())
        .versions(operators::database::versions())
        .migration(Migration::ByHand)
        .webhooks(&format!("{HOST}:{port}"))
        .webhook_tls(Tls::from_files(files.0, files.1))
        .start()
        .await?;
    running.ready().await;
    println!("running");
    let order = || std::io::stdin().lines().next().transpose();
    while tokio::task::spawn_blocking(order).await??.is_some() {
        println!("{}", CALLS.load(Ordering::Relaxed));
    }
    Ok(running.stop().await?)
}
