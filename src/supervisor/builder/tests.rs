//! Configurations that are refused before anything starts.

use futures::executor::block_on;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};

use super::*;
use crate::{
    operator::{
        ConfigError, SyncRequest, SyncResponse,
        admission::{Admission, AdmissionRequest, Webhook},
    },
    supervisor::{RunError, checks::refuse_exposure, run_operator, tests::sync},
};

#[test]
fn what_cannot_work_is_said_before_anything_starts() {
    let config = || OperatorConfig::of::<ConfigMap>("a");
    let twice = Supervisor::builder().register(config(), sync).register(config(), sync);
    assert!(matches!(twice.run_blocking(), Err(RunError::Config(ConfigError::Duplicate(_)))));
    let other = OperatorConfig::of::<ConfigMap>("b").with_finalizer_name("operetta.dev/a");
    let shared = Supervisor::builder().register(config(), sync).register(other, sync);
    let refused = shared.run_blocking().unwrap_err();
    assert!(matches!(refused, RunError::Config(ConfigError::SharedFinalizer { .. })), "{refused}");
    assert!(matches!(Supervisor::builder().run_blocking(), Err(RunError::NoOperators)));
    let handled = |_: &SyncRequest<Secret>| -> anyhow::Result<SyncResponse> { unreachable!() };
    let refused = Supervisor::builder().register(config(), handled).run_blocking().unwrap_err();
    let expected = "operator `a` has parents of type ConfigMap.v1, and its handler takes parents of \
                    type Secret.v1: use one type for both, or a handler of `SyncRequest`, which \
                    takes any";
    assert_eq!(refused.to_string(), expected);
    let misnamed = Supervisor::builder().register(OperatorConfig::of::<ConfigMap>("A"), sync);
    assert!(matches!(block_on(misnamed.start()), Err(RunError::Config(ConfigError::Name(_)))));
}

#[test]
fn changes_for_an_operator_that_never_exists_are_refused() {
    let config = || OperatorConfig::of::<ConfigMap>("a");
    let builder = || Supervisor::builder().register(config(), sync);
    let refused = builder().reconcile_on("b", futures::stream::pending()).run_blocking();
    let refused = refused.unwrap_err();
    assert!(matches!(&refused, RunError::ExternalOperator(name) if name == "b"), "{refused}");
    assert!(refused.to_string().contains("`expect_registrations`"), "{refused}");
    let later = unreachable().expect_registrations().reconcile_on("b", futures::stream::pending());
    let error = later.run_blocking().unwrap_err();
    assert!(matches!(error, RunError::Connect(_)), "{error}");
}

#[test]
fn an_address_beyond_loopback_is_refused_without_auth_and_tls() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:8080"] {
        let config = OperatorConfig::of::<ConfigMap>("a");
        let builder = Supervisor::builder().register(config, sync).serve(address);
        let error = block_on(builder.auth(Auth::delegated()).start()).unwrap_err();
        assert!(matches!(error, RunError::Exposed(_)), "{address}: {error}");
    }
    assert!(refuse_exposure("127.0.0.1:8080").is_ok());
    assert!(refuse_exposure("[::1]:8080").is_ok());
}

fn unreachable() -> SupervisorBuilder {
    Supervisor::builder()
        .register(OperatorConfig::of::<ConfigMap>("a"), sync)
        .connect(|| async { Err::<kube::Client, _>(anyhow::anyhow!("no such cluster")) })
}

#[test]
fn a_failed_connection_is_an_error() {
    for error in
        [block_on(unreachable().start()).unwrap_err(), unreachable().run_blocking().unwrap_err()]
    {
        assert!(error.to_string().contains("no such cluster"), "{error}");
    }
}

#[tokio::test]
async fn what_blocks_is_refused_within_a_runtime_and_names_what_does_not() {
    let config = OperatorConfig::of::<ConfigMap>("a");
    let blocking = [unreachable().run_blocking(), run_operator(config, sync)];
    for error in blocking.map(Result::unwrap_err) {
        assert!(error.to_string().contains(".run().await"), "{error}");
    }
    let error = unreachable().run().await.unwrap_err();
    assert!(error.to_string().contains("no such cluster"), "{error}");
}

#[expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]
fn allow(_: &AdmissionRequest<ConfigMap>) -> anyhow::Result<Admission> {
    Ok(Admission::allow())
}

#[test]
fn webhooks_need_an_address_and_a_caller_and_no_operator() {
    let alone = || Supervisor::builder().webhook(Webhook::validate("a", allow));
    let refused = alone().run_blocking();
    assert!(matches!(refused, Err(RunError::WebhooksWithoutAddress)), "{refused:?}");
    for called in [
        unreachable().webhooks("127.0.0.1:0"),
        unreachable().webhook_service("a"),
        unreachable().webhook_url("https://localhost:9443"),
    ] {
        assert!(matches!(called.run_blocking(), Err(RunError::NoWebhooks)));
    }
    let nobody = alone().webhooks("127.0.0.1:0").run_blocking();
    assert!(matches!(nobody, Err(RunError::WebhooksWithoutTls)), "{nobody:?}");
    let odd = alone().webhooks("127.0.0.1:0").webhook_url("https://").run_blocking();
    assert!(matches!(odd, Err(RunError::WebhookUrl(_))), "{odd:?}");
    // It gets as far as to the cluster, without an operator.
    let lost = alone()
        .webhooks("127.0.0.1:0")
        .webhook_url("https://localhost:9443")
        .connect(|| async { Err::<kube::Client, _>(anyhow::anyhow!("no such cluster")) })
        .run_blocking();
    assert!(matches!(lost, Err(RunError::Connect(_))), "{lost:?}");
}
