//! The types of `request` and `namespaceObject` in expressions of webhooks and policies.

use std::sync::{Arc, LazyLock};

use super::ty::{Declared, Type};

type Fields = Vec<(String, Arc<Declared>)>;

/// The type of `request`.
pub(super) fn request() -> Arc<Declared> {
    static REQUEST: LazyLock<Arc<Declared>> = LazyLock::new(|| {
        let kind = object("kubernetes.GroupVersionKind", texts(&["group", "version", "kind"]));
        let resource =
            object("kubernetes.GroupVersionResource", texts(&["group", "version", "resource"]));
        let mut user = texts(&["username", "uid"]);
        let groups = Type::list(Type::String);
        user.push(simple("groups", groups.clone()));
        user.push(simple("extra", Type::map(Type::String, groups)));
        let mut fields =
            texts(&["subResource", "requestSubResource", "name", "namespace", "operation"]);
        fields.extend([
            ("kind".to_owned(), Arc::clone(&kind)),
            ("requestKind".to_owned(), kind),
            ("resource".to_owned(), Arc::clone(&resource)),
            ("requestResource".to_owned(), resource),
            ("userInfo".to_owned(), object("kubernetes.UserInfo", user)),
            simple("dryRun", Type::Bool),
            simple("options", Type::Dyn),
        ]);
        object("kubernetes.AdmissionRequest", fields)
    });
    Arc::clone(&REQUEST)
}

/// The type of `namespaceObject`.
pub(super) fn namespace() -> Arc<Declared> {
    static NAMESPACE: LazyLock<Arc<Declared>> = LazyLock::new(|| {
        let labels = Type::map(Type::String, Type::String);
        let list = Type::list(Type::String);
        let mut metadata = texts(&["name", "generateName", "namespace", "UID", "resourceVersion"]);
        metadata.extend([
            simple("labels", labels.clone()),
            simple("annotations", labels),
            simple("creationTimestamp", Type::Timestamp),
            simple("deletionTimestamp", Type::Timestamp),
            simple("deletionGracePeriodSeconds", Type::Int),
            simple("generation", Type::Int),
            simple("finalizers", list.clone()),
        ]);
        let mut condition = texts(&["status", "type", "message", "reason"]);
        condition.push(simple("lastTransitionTime", Type::Timestamp));
        let condition = object("kubernetes.NamespaceCondition", condition);
        let mut status = texts(&["phase"]);
        status.push(simple("conditions", Type::list(condition.ty())));
        let fields = vec![
            ("metadata".to_owned(), object("kubernetes.NamespaceMetadata", metadata)),
            (
                "spec".to_owned(),
                object("kubernetes.NamespaceSpec", vec![simple("finalizers", list)]),
            ),
            ("status".to_owned(), object("kubernetes.NamespaceStatus", status)),
        ];
        object("kubernetes.Namespace", fields)
    });
    Arc::clone(&NAMESPACE)
}

fn object(name: &str, fields: Fields) -> Arc<Declared> {
    Declared::named(name, fields)
}

fn texts(names: &[&str]) -> Fields {
    names.iter().map(|name| simple(name, Type::String)).collect()
}

fn simple(name: &str, ty: Type) -> (String, Arc<Declared>) {
    (name.to_owned(), Declared::of_type(ty))
}
