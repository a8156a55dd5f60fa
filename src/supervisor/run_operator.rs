//! The program with one operator, in one call.

use super::{Connect, RunError, Supervisor};
use crate::operator::{Handler, OperatorConfig};

/// Runs one operator for the cluster around this process, until SIGINT or SIGTERM.
///
/// It serves nothing over HTTP and reaches no other cluster: see [`run_operator_with`] for a
/// kubeconfig, and [`Supervisor::builder`] for everything else.
///
/// ```no_run
/// use operetta::prelude::*;
///
/// fn sync(_: &SyncRequest) -> Result<SyncResponse> {
///     Ok(SyncResponse::new())
/// }
///
/// fn main() -> Result<()> {
///     let kitchen = K8sType::namespaced("example.dev/v1", "Kitchen", "kitchens");
///     run_operator(OperatorConfig::new("cook", kitchen), sync)?;
///     Ok(())
/// }
/// ```
///
/// # Errors
/// When it cannot start, also within a tokio runtime as that of `#[tokio::main]`: it has its own, and
/// blocks. See [`RunError`].
pub fn run_operator(config: OperatorConfig, handler: impl Handler) -> Result<(), RunError> {
    run_operator_with(Connect::InCluster, config, handler)
}

/// Runs one operator for a cluster of choice, until SIGINT or SIGTERM.
///
/// # Errors
/// When it cannot start, also within a tokio runtime as that of `#[tokio::main]`: it has its own, and
/// blocks. See [`RunError`].
pub fn run_operator_with(
    connect: Connect,
    config: OperatorConfig,
    handler: impl Handler,
) -> Result<(), RunError> {
    Supervisor::builder().connect_to(connect).register(config, handler).run()
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
        // Tests run in no Pod.
        let error = run_operator(config(), sync).unwrap_err().to_string();
        let expected = "not inside of a cluster: KUBERNETES_SERVICE_HOST or KUBERNETES_SERVICE_PORT: \
                        environment variable not found";
        assert!(error.contains(expected), "{error}");
        assert!(
            error.contains("`connect_to(Connect::kubeconfig())`"),
            "or it is a dead end: {error}"
        );
        assert_eq!(error.matches("environment variable not found").count(), 1, "{error}");
    }
}
