//! Objects that cannot be converted: what their readers see, and that all others are read.

use super::*;

fn refusal<T>(result: kube::Result<T>) -> kube::core::Status {
    match result {
        Ok(_) => panic!("it was converted"),
        Err(kube::Error::Api(status)) => *status,
        Err(error) => panic!("{error}"),
    }
}

#[operetta_harness::test(server)]
async fn one_object_that_cannot_be_converted_fails_lists_of_that_version_and_no_other_object() {
    let answering = started().await;
    let (new, old) = (api_of::<v1::Stall>(&answering), api_of::<v1alpha1::Stall>(&answering));
    let params = PostParams::default();
    new.create(&params, &named("good", "v1", json!({"size": 3}))).await.unwrap();
    new.create(&params, &named("unlucky", "v1", json!({"size": UNLUCKY}))).await.unwrap();

    let why = format!("Stall {}/unlucky cannot be converted", answering.world.namespace);
    for refused in
        [refusal(old.get("unlucky").await), refusal(old.list(&ListParams::default()).await)]
    {
        assert!(refused.message.contains(&why), "{}", refused.message);
        assert!(refused.message.contains("spec.size: nobody wants it"), "{}", refused.message);
    }
    assert_eq!(old.get("good").await.unwrap().data["spec"], json!({"rooms": "3"}));
    let all = new.list(&ListParams::default()).await.unwrap();
    assert_eq!(all.items.len(), 2, "the stored version needs no conversion");

    // In the version that holds it, it is put right, and then read in both.
    let right = Patch::Merge(json!({"spec": {"size": 4}}));
    new.patch("unlucky", &PatchParams::default(), &right).await.unwrap();
    assert_eq!(old.list(&ListParams::default()).await.unwrap().items.len(), 2);
    ended(answering).await;
}

#[operetta_harness::test(server)]
async fn a_conversion_that_panics_shows_an_id_and_none_of_its_text() {
    let answering = started().await;
    let (new, old) = (api_of::<v1::Stall>(&answering), api_of::<v1alpha1::Stall>(&answering));
    new.create(&PostParams::default(), &stall("v1", json!({"size": PANICS}))).await.unwrap();
    let refused = refusal(old.get("a").await);
    assert_eq!(refused.code, 500);
    assert!(
        refused
            .message
            .contains("the handler panicked: the log of the operator has the reason under "),
        "{}",
        refused.message
    );
    assert!(!refused.message.contains("secret"), "{}", refused.message);
    new.delete("a", &DeleteParams::default()).await.unwrap();
    ended(answering).await;
}
