//! What is said of each answer of the API server, and what cures it.

use super::*;
use crate::{
    journal::{Behind, ParentConflict},
    object::{K8sType, ObjectKey, Quoted, Redactor, ResourceVersion, Uid},
    operator::OperatorName,
    plan::{FlappingReason, ForeignChild, HeldField, WaitingReason},
    reply::{ApiError, Cause, Refusal, RefusedObject},
};

fn parent() -> ChildId {
    let ty = K8sType::namespaced("example.dev/v1", "Website", "websites");
    ChildId { ty, key: ObjectKey::namespaced("shop", "web") }
}

fn child(name: &str) -> ChildId {
    let ty = K8sType::namespaced("apps/v1", "Deployment", "deployments");
    ChildId { ty, key: ObjectKey::namespaced("shop", name) }
}

fn refusal(code: u16, message: &str, causes: &[(&str, &str, &str)]) -> Refusal {
    let cause = |(reason, field, message): &(&str, &str, &str)| Cause {
        reason: (*reason).to_owned(),
        field: (*field).to_owned(),
        message: (*message).to_owned(),
        ..Cause::default()
    };
    let object =
        RefusedObject { group: "apps".into(), kind: "Deployment".into(), name: "a".into() };
    let causes = causes.iter().map(cause).collect();
    Refusal { code, message: message.to_owned(), causes, object, ..Refusal::default() }
}

fn refused(name: &str, refusal: Refusal) -> Failure {
    let error = ApiError::Refused { request: "patch /x".to_owned(), refusal: Box::new(refusal) };
    let about = Some(child(name));
    let mut failure =
        RequestFailure { about, ..RequestFailure::new(child(name).to_string(), error) };
    failure.of_parent("web");
    Failure::Api(vec![failure.shown(&Redactor::Nothing)])
}

/// What, the last evidence, and the first action.
fn said(failure: &Failure) -> [String; 3] {
    let problem = of_one_failure(failure, &parent()).swap_remove(0);
    let action = problem.actions.first().map(|action| action.as_order().to_owned());
    [problem.what, problem.because.last().cloned().unwrap_or_default(), action.unwrap_or_default()]
}

const EDIT: &str = "kubectl edit websites.example.dev web -n shop";

/// An answer: its code, its message, and its causes; then what is said of it, the last evidence, and the cure.
type Answer = (
    u16,
    &'static str,
    &'static [(&'static str, &'static str, &'static str)],
    &'static str,
    &'static str,
    &'static str,
);

const ANSWERS: [Answer; 12] = [
    (
        422,
        "Deployment.apps \"a\" is invalid: spec.replicas: Invalid value: -1: must be more",
        &[("FieldValueInvalid", "spec.replicas", "Invalid value: -1: must be more")],
        "was refused: spec.replicas",
        "spec.replicas: Invalid value: -1: must be more",
        EDIT,
    ),
    (
        422,
        "Deployment.apps \"a\" is invalid: spec.selector: Invalid value: {}: field is immutable",
        &[("FieldValueInvalid", "spec.selector", "Invalid value: {}: field is immutable")],
        "cannot be changed: spec.selector",
        "spec.selector: Invalid value: {}: field is immutable",
        "kubectl delete deployments.apps a -n shop",
    ),
    (
        403,
        "deployments.apps \"a\" is forbidden: exceeded quota: small, requested: count/deployments.apps=1, used: \
         count/deployments.apps=2, limited: count/deployments.apps=2",
        &[],
        "exceeds the ResourceQuota small",
        "it needs count/deployments.apps=1 more than the count/deployments.apps=2 in use, and the limit is \
         count/deployments.apps=2",
        "kubectl patch resourcequotas small -n shop --type=merge -p \
         '{\"spec\":{\"hard\":{\"count/deployments.apps\":\"3\"}}}'",
    ),
    (
        403,
        "deployments.apps is forbidden: User \"me\" cannot create resource \"deployments\" in API group \"apps\" \
         in the namespace \"shop\"",
        &[],
        "cannot be written: the permission to create deployments.apps is missing",
        "me may not create deployments.apps in namespace shop",
        "kubectl create role operetta-write-deployments-apps -n shop --verb=get,list,watch,create,patch,delete \
         --resource=deployments.apps && kubectl create rolebinding operetta-write-deployments-apps -n shop \
         --role=operetta-write-deployments-apps --user=me",
    ),
    (
        403,
        "deployments.apps \"a\" is forbidden: unable to create new content in namespace shop because it is being \
         terminated",
        &[("NamespaceTerminating", "metadata.namespace", "namespace shop is being terminated")],
        "cannot be created: the namespace shop is being deleted",
        "unable to create new content in namespace shop because it is being terminated",
        "kubectl wait --for=delete namespace/shop --timeout=5m && kubectl create namespace shop",
    ),
    (
        403,
        "deployments.apps \"a\" is forbidden: ValidatingAdmissionPolicy 'tags' with binding 'tags' denied request: \
         a label is missing",
        &[],
        "was denied by the policy tags",
        "ValidatingAdmissionPolicy 'tags' with binding 'tags' denied request: a label is missing",
        EDIT,
    ),
    (
        400,
        "admission webhook \"guard.example.dev\" denied the request: no tag `latest`",
        &[],
        "was denied by the webhook guard.example.dev",
        "guard.example.dev says: no tag `latest`",
        EDIT,
    ),
    (
        500,
        "Internal error occurred: failed calling webhook \"guard.example.dev\": failed to call webhook: Post \
         \"https://guard.security.svc:443/check?timeout=10s\": no endpoints available",
        &[],
        "cannot be written: the webhook guard.example.dev does not answer",
        "500: Internal error occurred: failed calling webhook \"guard.example.dev\": failed to call webhook: Post \
         \"https://guard.security.svc:443/check?timeout=10s\": no endpoints available",
        "Start the Pods of the Service security/guard, which answers for the webhook",
    ),
    (
        403,
        "pods \"a\" is forbidden: failed quota: small: must specify limits.memory for: c",
        &[],
        "lacks limits.memory, which the ResourceQuota small counts",
        "its containers must specify limits.memory for: c",
        EDIT,
    ),
    (
        403,
        "pods \"a\" is forbidden: no PriorityClass with name fast was found",
        &[],
        "needs the PriorityClass fast, which does not exist",
        "no PriorityClass with name fast was found",
        "kubectl create priorityclass fast --value=1000",
    ),
    (
        403,
        "pods \"a\" is forbidden: violates PodSecurity \"baseline:latest\": privileged (..)",
        &[],
        "violates the Pod security level baseline of its namespace",
        "violates PodSecurity \"baseline:latest\": privileged (..)",
        EDIT,
    ),
    (
        403,
        "pods \"a\" is forbidden: maximum cpu usage per Container is 1, but limit is 2",
        &[],
        "is outside of the LimitRange of namespace shop",
        "maximum cpu usage per Container is 1, but limit is 2",
        "kubectl edit limitranges -n shop",
    ),
];

#[test]
fn an_answer_of_the_api_server_has_words_and_a_cure() {
    for (code, message, causes, what, because, cure) in ANSWERS {
        let [said_what, said_because, order] = said(&refused("a", refusal(code, message, causes)));
        assert_eq!(said_what, format!("Deployment shop/a {what}"));
        assert_eq!(said_because, because, "{what}");
        assert_eq!(order, cure, "{what}");
    }
}

#[test]
fn a_namespace_that_does_not_exist_is_created() {
    let object = RefusedObject { kind: "namespaces".into(), name: "shop".into(), ..<_>::default() };
    let missing = Refusal { object, ..refusal(404, "namespaces \"shop\" not found", &[]) };
    let [what, _, order] = said(&refused("a", missing));
    assert_eq!(what, "Deployment shop/a cannot be written: the namespace shop does not exist");
    assert_eq!(order, "kubectl create namespace shop");
}

#[test]
fn a_name_made_from_the_parent_is_cured_by_another_parent() {
    let message = "Deployment.apps \"web-a.b\" is invalid: metadata.name: Invalid value: \"web-a.b\": no dots";
    let mut wrong = refusal(422, message, &[("FieldValueInvalid", "metadata.name", "no dots")]);
    wrong.object.name = "web-a.b".to_owned();
    let [what, because, order] = said(&refused("web-a.b", wrong));
    assert_eq!(what, "Deployment shop/web-a.b cannot have this name: metadata.name");
    assert_eq!(because, "it is made from the name of the parent");
    assert!(
        order.ends_with("kubectl create -f - && kubectl delete websites.example.dev web -n shop")
    );
}

#[test]
fn a_text_that_may_not_be_shown_is_in_no_word_of_a_problem() {
    let message = "Deployment.apps \"a\" is invalid: spec.x: Invalid value: \"hunter2\": no";
    let causes = &[("FieldValueInvalid", "spec.x", "Invalid value: \"hunter2\": no")];
    let error = ApiError::Refused {
        request: "patch /x".to_owned(),
        refusal: Box::new(refusal(422, message, causes)),
    };
    let about = Some(child("a"));
    let failure = RequestFailure { about, ..RequestFailure::new(child("a").to_string(), error) };
    for redactor in [Redactor::Everything { is_passing: false }, Redactor::default()] {
        let problems = of_one_failure(&Failure::Api(vec![failure.shown(&redactor)]), &parent());
        assert!(!format!("{problems:?}").contains("hunter2"), "{problems:?}");
    }
}

#[test]
fn adoption_is_suggested_only_for_an_object_that_can_be_adopted() {
    for (owner, is_adoptable) in [
        ("it has no controller", true),
        ("it has no controller", false),
        ("it is controlled by App b (uid 7)", false),
    ] {
        let foreign = ForeignChild {
            id: child("a"),
            uid: Uid::new("u"),
            version: ResourceVersion::Number(1),
            owner: owner.to_owned(),
            is_adoptable,
            is_claimed: false,
        };
        let problem = of_one_failure(&Failure::Foreign(vec![foreign]), &parent()).swap_remove(0);
        assert_eq!(problem.because[0], owner);
        assert_eq!(problem.actions[0].as_order(), "kubectl delete deployments.apps a -n shop");
        let adopts = |action: &Action| action.in_code && action.text.contains("adopting()");
        assert_eq!(problem.actions.iter().any(adopts), is_adoptable, "{owner}");
    }
}

#[test]
fn the_owners_of_fields_are_named_and_can_be_released() {
    let held = HeldField { path: ".status.phase".to_owned(), manager: Some("rival".to_owned()) };
    let operator = OperatorName::new("op").unwrap();
    let conflict = ParentConflict { operator, held: vec![held] };
    let [what, because, order] = said(&Failure::ParentConflict(conflict));
    assert_eq!(what, "Website shop/web has fields that others own: .status.phase");
    assert_eq!(because, "rival set .status.phase; op did not write them");
    assert_eq!(
        order,
        "kubectl get websites.example.dev web -n shop -o json --show-managed-fields | jq \
         'del(.metadata.managedFields[] | select(.manager == \"rival\"))' | kubectl replace -f -"
    );
}

#[test]
fn what_waits_for_others_names_who_can_end_it() {
    let finalizers = vec!["example.dev/backup".to_owned()];
    let why = Wait::Planned(WaitingReason::Deleting { finalizers });
    let ending = merged(vec![held::waiting(&child("a"), &why).unwrap()]).swap_remove(0);
    assert_eq!(
        ending.what,
        "Deployment shop/a is being deleted and waits for the finalizers example.dev/backup"
    );
    let behind = Behind { child: child("db"), why: Quoted::new("no"), since: None };
    let behind = Behind { why: Redactor::Nothing.shown(&behind.why), ..behind };
    let stuck = merged(vec![unready::behind(&child("a"), &behind)]).swap_remove(0);
    assert_eq!(stuck.what, "Deployment shop/db is not ready: no");
    assert_eq!(stuck.because, ["Deployment shop/a waits for it"]);
    let summary =
        FlappingSummary { why: FlappingReason::UnstableHandler, message: "it differs".to_owned() };
    let unstable = of_flapping(&summary, &parent()).swap_remove(0);
    assert!(unstable.actions[0].in_code);
}

#[test]
fn a_parent_that_is_being_deleted_can_go_without_a_type_that_is_gone() {
    let why = "the API server does not serve widgets.example.dev in version v1";
    let trouble = handler::before_it_goes(&parent(), handler::unavailable(&parent(), why));
    let problem = merged(vec![trouble]).swap_remove(0);
    let last = problem.actions.last().and_then(|action| action.command.as_deref()).unwrap();
    assert!(
        last.starts_with("kubectl patch websites.example.dev web -n shop --type=merge"),
        "{last}"
    );
    let because = problem.because.join(" ");
    assert!(because.contains("keeps its finalizer until `finalize` has been called"), "{because}");
}
