//! Parents that read other parents of their own type, which the operator watches anyway: also what it writes itself is
//! seen.

use super::*;

fn recipes() -> K8sType {
    K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2)
}

/// A child shows the status of the recipe that the parent names.
#[expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]
fn sync_of_status(request: &SyncRequest) -> Result<SyncResponse> {
    let spec = request.parent.field("spec").unwrap_or_default();
    let read = request.related_of_type((RECIPE.0, RECIPE.1));
    let statuses: Vec<Value> = read.iter().filter_map(|it| it.field("status")).collect();
    let tastes: Vec<&str> = statuses.iter().filter_map(|status| status["taste"].as_str()).collect();
    let child =
        config_map(&format!("{}-seen", request.parent.name()), json!({"seen": tastes.join(",")}));
    Ok(SyncResponse::status(spec["status"].clone()).child(child))
}

fn named(parent: &Object) -> Related {
    let spec = parent.field("spec").unwrap_or_default();
    let names = texts(&spec, "reads");
    names.iter().fold(Related::new(), |all, name| all.named_of_type(&recipes(), &**name))
}

#[operetta_harness::test(server)]
async fn a_status_that_the_operator_writes_is_seen_by_the_parents_that_read_it() {
    let world = World::new().await;
    let config = OperatorConfig::new(READER, recipes())
        .child::<ConfigMap>(ChildConfig::apply())
        .related_of_type(recipes());
    let handler = with_related(sync_of_status, named);
    let operators = world.start(|builder| builder.register(config, handler)).await;
    let reads = json!({"metadata": {"name": "b"}, "spec": {"reads": ["a"], "status": {}}});
    world.apply(RECIPE, reads).await;
    for taste in ["first", "second"] {
        let spec = json!({"status": {"taste": taste}});
        world.apply(RECIPE, json!({"metadata": {"name": "a"}, "spec": spec})).await;
        until_seen(&world, "b", taste).await;
    }
    operators.stop().await;
}
