//! Writes and reads through a kube client in process.

use kube::api::{
    DeleteParams, ListParams, Patch, PatchParams, PostParams, Preconditions, ValidationDirective,
};
use serde_json::json;

use crate::common::{
    apply, config_map, config_maps, create, define_widgets, object, refusal, server, widget,
    widgets,
};

#[operetta_harness::test]
async fn a_version_is_refused_by_what_keeps_objects_and_so_not_in_a_dry_run() {
    let (_server, client) = server();
    let config_maps = config_maps(&client);
    let mut versioned = config_map("a", "1");
    versioned["metadata"]["resourceVersion"] = json!("5");
    let dry_run = PostParams { dry_run: true, ..PostParams::default() };
    config_maps.create(&dry_run, &object(versioned.clone())).await.unwrap();
    let refused = config_maps.create(&PostParams::default(), &object(versioned.clone())).await;
    assert_eq!(refusal(refused).2, "resourceVersion should not be set on objects to be created");
    versioned["metadata"]["name"] = json!("A");
    let invalid = config_maps.create(&PostParams::default(), &object(versioned)).await;
    assert_eq!(refusal(invalid).0, 422);
}

#[operetta_harness::test]
async fn a_write_that_changes_nothing_keeps_the_version() {
    let (_server, client) = server();
    let api = config_maps(&client);
    let first = apply(&api, "a", "op", &config_map("a", "1")).await.unwrap();
    let again = apply(&api, "a", "op", &config_map("a", "1")).await.unwrap();
    assert_eq!(first.metadata.resource_version, again.metadata.resource_version);
    let merge = Patch::Merge(json!({"data": {"key": "1"}}));
    let merged = api.patch("a", &PatchParams::default(), &merge).await.unwrap();
    assert_eq!(first.metadata.resource_version, merged.metadata.resource_version);
}

#[operetta_harness::test]
async fn an_apply_with_version_one_creates_and_never_changes() {
    let (_server, client) = server();
    let api = config_maps(&client);
    let mut applied = config_map("a", "1");
    applied["metadata"]["resourceVersion"] = json!("1");
    apply(&api, "a", "op", &applied).await.unwrap();
    let (code, reason, message) = refusal(apply(&api, "a", "op", &applied).await);
    assert_eq!((code, reason.as_str()), (409, "Conflict"));
    assert_eq!(
        message,
        "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; \
         please apply your changes to the latest version and try again"
    );
}

#[operetta_harness::test]
async fn an_apply_with_a_uid_never_creates_and_never_changes_another_object_of_the_name() {
    let (_server, client) = server();
    let api = config_maps(&client);
    let mut applied = config_map("a", "1");
    applied["metadata"]["uid"] = json!("11111111-2222-3333-4444-555555555555");
    let (code, reason, _) = refusal(apply(&api, "a", "op", &applied).await);
    assert_eq!((code, reason.as_str()), (409, "Conflict"));
    apply(&api, "a", "op", &config_map("a", "0")).await.unwrap();
    let (code, _, message) = refusal(apply(&api, "a", "op", &applied).await);
    assert_eq!(code, 422, "{message}");
}

#[operetta_harness::test]
async fn an_applied_field_that_another_manager_has_is_a_conflict_unless_forced() {
    let (_server, client) = server();
    let api = config_maps(&client);
    apply(&api, "a", "one", &config_map("a", "1")).await.unwrap();
    let (code, _, message) = refusal(apply(&api, "a", "two", &config_map("a", "2")).await);
    assert_eq!(code, 409);
    assert_eq!(message, "Apply failed with 1 conflict: conflict with \"one\": .data.key");
    let force = PatchParams::apply("two").force();
    let patch = Patch::Apply(config_map("a", "2"));
    let forced = api.patch("a", &force, &patch).await.unwrap();
    assert_eq!(forced.data["data"]["key"], "2");
}

#[operetta_harness::test]
async fn a_stale_replace_is_a_conflict() {
    let (_server, client) = server();
    let api = config_maps(&client);
    let first = create(&api, config_map("a", "1")).await;
    let mut next = first.clone();
    next.data["data"]["key"] = json!("2");
    api.replace("a", &PostParams::default(), &next).await.unwrap();
    let (code, reason, _) = refusal(api.replace("a", &PostParams::default(), &next).await);
    assert_eq!((code, reason.as_str()), (409, "Conflict"));
}

#[operetta_harness::test]
async fn a_delete_with_wrong_preconditions_deletes_nothing() {
    let (_server, client) = server();
    let api = config_maps(&client);
    create(&api, config_map("a", "1")).await;
    let preconditions = Preconditions { uid: Some("x".to_owned()), resource_version: None };
    let params = DeleteParams::default().preconditions(preconditions);
    let (code, reason, _) = refusal(api.delete("a", &params).await);
    assert_eq!((code, reason.as_str()), (409, "Conflict"));
    api.get("a").await.unwrap();
}

#[operetta_harness::test]
async fn a_final_delete_answers_a_status_with_the_uid() {
    let (_server, client) = server();
    let api = config_maps(&client);
    let uid = create(&api, config_map("a", "1")).await.metadata.uid.unwrap();
    let status = api.delete("a", &DeleteParams::default()).await.unwrap();
    assert_eq!(status.right().unwrap().details.unwrap().uid, uid);
}

#[operetta_harness::test]
async fn finalizers_hold_a_deleted_object_until_the_last_is_removed() {
    let (_server, client) = server();
    let api = config_maps(&client);
    let mut held = config_map("a", "1");
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    create(&api, held).await;
    let deleted = api.delete("a", &DeleteParams::default()).await.unwrap().left().unwrap();
    assert!(deleted.metadata.deletion_timestamp.is_some());
    let again = api.delete("a", &DeleteParams::default()).await.unwrap().left().unwrap();
    assert_eq!(deleted.metadata.resource_version, again.metadata.resource_version);
    let more =
        Patch::Merge(json!({"metadata": {"finalizers": ["example.com/hold", "example.com/more"]}}));
    let (code, _, _) = refusal(api.patch("a", &PatchParams::default(), &more).await);
    assert_eq!(code, 422);
    let release = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    api.patch("a", &PatchParams::default(), &release).await.unwrap();
    assert!(api.get_opt("a").await.unwrap().is_none());
}

#[operetta_harness::test]
async fn generated_names_keep_their_prefix() {
    let (_server, client) = server();
    let api = config_maps(&client);
    let mut object = config_map("", "1");
    object["metadata"] = json!({"generateName": "pre-"});
    let name = create(&api, object).await.metadata.name.unwrap();
    assert!(name.starts_with("pre-") && name.len() == 9, "{name}");
}

#[operetta_harness::test]
async fn lists_choose_by_labels_and_fields_and_come_in_pages_of_one_version() {
    let (_server, client) = server();
    let api = config_maps(&client);
    for (name, tier) in [("a", "web"), ("b", "db"), ("c", "web")] {
        let mut object = config_map(name, "1");
        object["metadata"]["labels"] = json!({"tier": tier});
        create(&api, object).await;
    }
    let names = |list: kube::core::ObjectList<kube::api::DynamicObject>| -> Vec<String> {
        list.items.into_iter().filter_map(|o| o.metadata.name).collect()
    };
    let web = api.list(&ListParams::default().labels("tier=web")).await.unwrap();
    assert_eq!(names(web), ["a", "c"]);
    let b = api.list(&ListParams::default().fields("metadata.name=b")).await.unwrap();
    assert_eq!(names(b), ["b"]);
    let first = api.list(&ListParams::default().limit(2)).await.unwrap();
    let (version, token) =
        (first.metadata.resource_version.clone(), first.metadata.continue_.clone());
    assert_eq!(names(first), ["a", "b"]);
    create(&api, config_map("d", "1")).await;
    let params = ListParams::default().limit(2).continue_token(&token.unwrap());
    let second = api.list(&params).await.unwrap();
    assert_eq!(second.metadata.resource_version, version);
    assert_eq!(names(second), ["c"]);
}

#[operetta_harness::test]
async fn pages_of_what_is_selected_are_full_and_of_one_version() {
    let (_server, client) = server();
    let api = config_maps(&client);
    let numbered = |number: usize| {
        let mut object = config_map(&format!("n{number:04}"), "1");
        let is_web = number.is_multiple_of(400);
        object["metadata"]["labels"] = json!({"tier": if is_web { "web" } else { "db" }});
        object
    };
    for number in 1..=1_200 {
        create(&api, numbered(number)).await;
    }
    let all = api.list(&ListParams::default().limit(700)).await.unwrap();
    assert_eq!((all.items.len(), all.metadata.remaining_item_count), (700, Some(500)));
    let web = ListParams::default().labels("tier=web").limit(2);
    let first = api.list(&web).await.unwrap();
    let names = |list: &kube::core::ObjectList<kube::api::DynamicObject>| -> Vec<String> {
        list.items.iter().filter_map(|o| o.metadata.name.clone()).collect()
    };
    assert_eq!(names(&first), ["n0400", "n0800"]);
    assert_eq!(first.metadata.remaining_item_count, None, "it is not known");
    api.delete("n1200", &DeleteParams::default()).await.unwrap();
    create(&api, numbered(2_000)).await;
    let token = first.metadata.continue_.expect("there is more");
    let last = api.list(&web.clone().continue_token(&token)).await.unwrap();
    assert_eq!(names(&last), ["n1200"]);
    assert_eq!(last.metadata.continue_.filter(|token| !token.is_empty()), None);
    let exactly = api.list(&web.limit(3)).await.unwrap();
    assert_eq!(names(&exactly), ["n0400", "n0800", "n2000"]);
    assert_eq!(exactly.metadata.continue_.filter(|token| !token.is_empty()), None);
}

#[operetta_harness::test]
async fn a_strategic_merge_patch_is_for_built_in_types_only() {
    let (_server, client) = server();
    define_widgets(&client).await;
    create(&widgets(&client), widget("a", 1)).await;
    let api = config_maps(&client);
    create(&api, config_map("a", "1")).await;
    let params = PatchParams::default();
    let patch = Patch::Strategic(json!({"data": {"key": null, "other": "2"}}));
    let patched = api.patch("a", &params, &patch).await.unwrap();
    assert_eq!(patched.data["data"], json!({"other": "2"}));
    let (code, _, message) = refusal(widgets(&client).patch("a", &params, &patch).await);
    assert_eq!(code, 415);
    assert!(message.contains("accepted media types include"), "{message}");
}

#[operetta_harness::test]
async fn a_strategic_merge_patch_that_cannot_be_applied_is_refused_in_the_words_of_the_real_server()
{
    let (_server, client) = server();
    let api = config_maps(&client);
    create(&api, config_map("a", "1")).await;
    let strict = PatchParams {
        field_validation: Some(ValidationDirective::Strict),
        ..PatchParams::default()
    };
    for (patch, expected, complaint) in [
        (
            json!({"data": 1}),
            422,
            " \"\" is invalid: patch: Invalid value: \"map[data:1]\": cannot restore map from int64",
        ),
        (json!({"data": {"$patch": "x"}}), 500, "unknown patch type: x in map: map[$patch:x]"),
        (json!({"$setElementOrder": []}), 400, "invalid patch format of setElementOrder list"),
        (
            json!([]),
            400,
            "json: cannot unmarshal array into Go value of type map[string]interface {}",
        ),
        (
            json!({"datum": {"a": null}}),
            422,
            " \"\" is invalid: patch: Invalid value: \"map[datum:map[]]\": strict decoding error: unknown field \"datum\"",
        ),
    ] {
        let (code, _, message) = refusal(api.patch("a", &strict, &Patch::Strategic(patch)).await);
        assert_eq!((code, &*message), (expected, complaint));
    }
}

#[operetta_harness::test]
async fn a_dry_run_writes_nothing() {
    let (server, client) = server();
    let api = config_maps(&client);
    let version = server.resource_version();
    let params = PostParams { dry_run: true, field_manager: None };
    api.create(&params, &object(config_map("a", "1"))).await.unwrap();
    assert!(api.get_opt("a").await.unwrap().is_none());
    assert_eq!(server.resource_version(), version);
}

#[operetta_harness::test]
async fn requests_are_remembered() {
    let (server, client) = server();
    create(&config_maps(&client), config_map("a", "1")).await;
    let requests = server.requests().await;
    let last = requests.last().unwrap();
    assert_eq!(
        (last.verb.as_str(), last.resource.as_str(), last.status),
        ("create", "configmaps", 201)
    );
    assert_eq!(last.user_agent, "test/1.0");
    assert!(last.is_write());
}

#[operetta_harness::test]
async fn the_selected_objects_of_a_collection_are_deleted() {
    let (_server, client) = server();
    let api = config_maps(&client);
    for (name, tier) in [("a", "web"), ("b", "db")] {
        let mut object = config_map(name, "1");
        object["metadata"]["labels"] = json!({"tier": tier});
        create(&api, object).await;
    }
    let selected = ListParams::default().labels("tier=web");
    api.delete_collection(&DeleteParams::default(), &selected).await.unwrap();
    assert!(api.get_opt("a").await.unwrap().is_none());
    api.get("b").await.unwrap();
}

#[operetta_harness::test]
async fn an_apply_is_yaml_even_where_it_looks_like_json() {
    let (_server, client) = server();
    let api = config_maps(&client);
    let (code, _, message) = refusal(apply(&api, "a", "op", &config_map("a", "x\u{7f}y")).await);
    assert_eq!(code, 400);
    assert!(message.ends_with("yaml: control characters are not allowed"), "{message}");
    let folded = apply(&api, "a", "op", &config_map("a", "x\u{85}y")).await.unwrap();
    assert_eq!(folded.data["data"]["key"], "x y");
}
