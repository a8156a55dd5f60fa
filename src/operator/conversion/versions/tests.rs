//! Conversions between two versions of a type.

use serde_json::json;

use super::*;

mod v1 {
    use serde::{Deserialize, Serialize};

    #[derive(kube::CustomResource, schemars::JsonSchema, Serialize, Deserialize, Clone, Debug)]
    #[kube(group = "example.com", version = "v1", kind = "Shop", namespaced)]
    pub(super) struct ShopSpec {
        pub(super) size: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub(super) class: Option<String>,
    }
}

mod v1alpha1 {
    use serde::{Deserialize, Serialize};

    #[derive(kube::CustomResource, schemars::JsonSchema, Serialize, Deserialize, Clone, Debug)]
    #[kube(group = "example.com", version = "v1alpha1", kind = "Shop", namespaced)]
    pub(super) struct ShopSpec {
        pub(super) rooms: String,
    }
}

mod other {
    use serde::{Deserialize, Serialize};

    #[derive(kube::CustomResource, schemars::JsonSchema, Serialize, Deserialize, Clone, Debug)]
    #[kube(group = "example.com", version = "v1beta1", kind = "Till", namespaced)]
    pub(super) struct TillSpec {}
}

impl TryFrom<v1alpha1::Shop> for v1::Shop {
    type Error = String;

    fn try_from(old: v1alpha1::Shop) -> Result<Self, String> {
        let size = old.spec.rooms.parse().map_err(|_| "spec.rooms: it is no number".to_owned())?;
        Ok(Self { metadata: old.metadata, spec: v1::ShopSpec { size, class: None } })
    }
}

impl From<v1::Shop> for v1alpha1::Shop {
    fn from(new: v1::Shop) -> Self {
        let rooms = new.spec.size.to_string();
        Self { metadata: new.metadata, spec: v1alpha1::ShopSpec { rooms } }
    }
}

macro_rules! impossible {
    ($from:ty, $to:ty) => {
        impl From<$from> for $to {
            fn from(_: $from) -> Self {
                unreachable!("it is refused")
            }
        }
    };
}

impossible!(other::Till, v1::Shop);
impossible!(v1::Shop, other::Till);

fn versions() -> Versions {
    Versions::hub::<v1::Shop>().keeping::<v1alpha1::Shop>(&["spec.class"], &[]).into()
}

fn shop(version: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": format!("example.com/{version}"), "kind": "Shop",
        "metadata": {"name": "a", "namespace": "ns", "xUnknown": {"kept": true}}, "spec": spec,
    })
}

#[test]
fn an_object_goes_through_another_version_and_comes_back_the_same() {
    let new = shop("v1", &json!({"size": 3, "class": "fast"}));
    let old = versions().convert(new.clone(), "example.com/v1alpha1").unwrap();
    assert_eq!(
        (&old["apiVersion"], &old["spec"]),
        (&json!("example.com/v1alpha1"), &json!({"rooms": "3"}))
    );
    assert_eq!(old["metadata"]["xUnknown"], json!({"kept": true}));
    let mut edited = old;
    edited["spec"]["rooms"] = json!("4");
    let back = versions().convert(edited, "example.com/v1").unwrap();
    assert_eq!(back, shop("v1", &json!({"size": 4, "class": "fast"})));
}

#[test]
fn managed_fields_stay_and_a_conversion_does_not_see_them() {
    // They would not fit the Rust type.
    let mut new = shop("v1", &json!({"size": 3}));
    new["metadata"]["managedFields"] = json!("odd");
    let old = versions().convert(new.clone(), "example.com/v1alpha1").unwrap();
    assert_eq!(old["metadata"], new["metadata"]);
    assert_eq!(versions().convert(old, "example.com/v1").unwrap(), new);
    let without = shop("v1", &json!({"size": 3}));
    let old = versions().convert(without, "example.com/v1alpha1").unwrap();
    assert_eq!(old["metadata"].get("managedFields"), None);
}

#[test]
fn an_object_of_the_desired_version_stays_as_it_is() {
    let odd = json!({"apiVersion": "example.com/v1", "spec": 3});
    assert_eq!(versions().convert(odd.clone(), "example.com/v1"), Ok(odd));
}

#[test]
fn what_cannot_be_converted_is_named_with_the_reason() {
    let convert = |object, to| versions().convert(object, to).unwrap_err().to_string();
    let bad = shop("v1alpha1", &json!({"rooms": "many"}));
    assert_eq!(
        convert(bad, "example.com/v1"),
        "Shop ns/a cannot be converted from example.com/v1alpha1 to example.com/v1: spec.rooms: it is no number"
    );
    let misfit = convert(shop("v1alpha1", &json!({"rooms": 3})), "example.com/v1");
    assert!(misfit.ends_with("spec.rooms: it does not fit its version"), "{misfit}");
    for unknown in ["example.com/v2", "other.com/v1", "v1"] {
        let error = convert(shop("v1", &json!({"size": 1})), unknown);
        assert!(
            error.ends_with("is none of the versions of shops.example.com (v1, v1alpha1)"),
            "{error}"
        );
    }
}

#[test]
fn versions_of_another_type_and_versions_twice_are_refused() {
    assert_eq!(versions().check(), Ok(()));
    let twice: Versions =
        Versions::hub::<v1::Shop>().version::<v1alpha1::Shop>().version::<v1alpha1::Shop>().into();
    assert!(matches!(twice.check(), Err(VersionsError::Twice(_))));
    let other: Versions = Versions::hub::<v1::Shop>().version::<other::Till>().into();
    assert!(matches!(other.check(), Err(VersionsError::OtherType { .. })));
}
