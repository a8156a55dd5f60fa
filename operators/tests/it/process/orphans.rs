//! `orphans`: the children of types that are not declared any more.

use k8s_openapi::api::core::v1::Secret;
use kube::{
    Api,
    api::{Patch, PatchParams},
};
use serde_json::json;

use super::asking::Asked;
use crate::program::output;

#[operetta_harness::test]
async fn the_children_of_types_that_are_not_declared_are_printed_with_the_command_that_deletes_them()
 {
    let asked = Asked::start(&["--only", "echo-server"]).await;
    let secrets: Api<Secret> = Api::default_namespaced(asked.client().await);
    let secret = |name: &str| {
        json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": name, "labels": {"app.kubernetes.io/managed-by": "echo-server"}},
        })
    };
    for (name, manager) in [("left", "echo-server"), ("copied", "somebody")] {
        let applied = Patch::Apply(secret(name));
        secrets.patch(name, &PatchParams::apply(manager), &applied).await.unwrap();
    }
    let kubeconfig = asked.kubeconfig();
    let arguments =
        ["orphans", "--only", "echo-server", "--kubeconfig", kubeconfig.to_str().unwrap()];
    let (code, printed, errors) = output(&arguments).await;
    assert_eq!((code, &*errors), (Some(0), ""));
    assert_eq!(
        printed,
        "The operator echo-server does not declare secrets, and applied some: 1 left. To delete them:\n  \
         kubectl delete secrets left -n default\n"
    );
    secrets.delete("left", &<_>::default()).await.unwrap();
    let (_, printed, _) = output(&arguments).await;
    assert_eq!(printed, "There are no objects of types that their operator does not declare.\n");
}
