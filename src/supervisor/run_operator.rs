//! Runs a program with one operator in one call.

use super::{Connect, RunError, Supervisor};
use crate::operator::{Fits, HasForm, IntoHandler, OperatorConfig, Role};

/// Runs one operator for [the cluster of the environment](Connect::infer), until SIGINT or SIGTERM.
///
/// It blocks, and has no web endpoint. See [`run_operator_with`] for another cluster, and
/// [`Supervisor::builder`] for everything else.
///
/// ```no_run
/// use operetta::{prelude::*, supervisor::run_operator};
///
/// fn sync(_: &SyncRequest) -> Result<SyncResponse> {
///     Ok(SyncResponse::new())
/// }
///
/// fn main() -> Result<()> {
///     let website = K8sType::namespaced("example.dev/v1", "Website", "websites");
///     run_operator(OperatorConfig::new("websites", website), sync)?;
///     Ok(())
/// }
/// ```
///
/// # Errors
/// When it cannot start. It blocks, and returns [`RunError::WithinRuntime`] within a tokio runtime such as
/// that of `#[tokio::main]`.
pub fn run_operator<R: Role, Form, H>(config: OperatorConfig<R>, handler: H) -> Result<(), RunError>
where
    H: HasForm<Form> + IntoHandler<Form>,
    H::Role: Fits<R>,
{
    run_operator_with(Connect::infer(), config, handler)
}

/// Runs one operator for the given cluster, until SIGINT or SIGTERM.
///
/// # Errors
/// When it cannot start. It blocks, and returns [`RunError::WithinRuntime`] within a tokio runtime such as
/// that of `#[tokio::main]`.
pub fn run_operator_with<R: Role, Form, H>(
    connect: impl Into<Connect>,
    config: OperatorConfig<R>,
    handler: H,
) -> Result<(), RunError>
where
    H: HasForm<Form> + IntoHandler<Form>,
    H::Role: Fits<R>,
{
    Supervisor::builder().connect_to(connect).register(config, handler).run_blocking()
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;
    use crate::supervisor::tests::sync;

    #[test]
    fn nothing_is_tried_but_the_cluster_that_was_named() {
        let config = || OperatorConfig::of::<ConfigMap>("a");
        let missing = Connect::kubeconfig_file("/nonexistent/kubeconfig");
        let error = run_operator_with(missing, config(), sync).unwrap_err().to_string();
        assert!(error.contains("/nonexistent/kubeconfig"), "{error}");
        // Tests do not run in a Pod.
        let error = run_operator_with(Connect::InCluster, config(), sync).unwrap_err().to_string();
        let expected = "the process does not run in a cluster: KUBERNETES_SERVICE_HOST is not set";
        assert!(error.contains(expected), "{error}");
        assert_eq!(error.matches("is not set").count(), 1, "{error}");
    }
}
