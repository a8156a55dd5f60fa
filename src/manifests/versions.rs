//! One CRD of all versions of a type, from the Rust types of its versions. What all versions share must be the same in all
//! of them.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::{Value, json};

use super::{
    error::ManifestError,
    made::made,
    webhooks::{WebhookReach, conversion},
};
use crate::operator::conversion::Versions;

/// The CRD of these versions, of which one is stored. Where it is known how the API server reaches the program, the program
/// converts between them.
pub(super) fn merged(
    versions: &Versions,
    reach: Option<&WebhookReach>,
) -> Result<CustomResourceDefinition, ManifestError> {
    versions.check()?;
    let mut whole = made(versions.hub_definition())?;
    for other in versions.other_definitions().map(made) {
        let other = other?;
        agree(&whole, &other)?;
        whole.spec.versions.extend(other.spec.versions);
    }
    for version in &mut whole.spec.versions {
        version.storage = version.name == versions.stored();
    }
    if let Some(reach) = reach.filter(|_| whole.spec.versions.len() > 1) {
        converted_by(&mut whole, versions, reach);
    }
    Ok(whole)
}

/// The same CRD, where the Service that converts is in this namespace unless it says another one.
pub(crate) fn in_namespace(
    mut crd: CustomResourceDefinition,
    namespace: &str,
) -> CustomResourceDefinition {
    let conversion = crd.spec.conversion.as_mut().and_then(|it| it.webhook.as_mut());
    let client = conversion.and_then(|webhook| webhook.client_config.as_mut());
    if let Some(service) = client.and_then(|client| client.service.as_mut())
        && service.namespace.is_empty()
    {
        namespace.clone_into(&mut service.namespace);
    }
    crd
}

/// Of two CRDs of one type the one with more versions, which must have all of the other one.
pub(super) fn united(
    one: CustomResourceDefinition,
    other: CustomResourceDefinition,
) -> Result<CustomResourceDefinition, ManifestError> {
    let has_more = other.spec.versions.len() > one.spec.versions.len();
    let (mut whole, part) = if has_more { (other, one) } else { (one, other) };
    agree(&whole, &part)?;
    let known = names(&whole);
    if let Some(version) = names(&part).into_iter().find(|name| !known.contains(name)) {
        let (name, known) = (name_of(&whole), known.join(", "));
        return Err(ManifestError::OtherVersion { name, version, known });
    }
    whole.spec.conversion = whole.spec.conversion.or(part.spec.conversion);
    Ok(whole)
}

/// Group, scope and names are of the whole type.
fn agree(
    one: &CustomResourceDefinition,
    other: &CustomResourceDefinition,
) -> Result<(), ManifestError> {
    let (of_one, of_other) = (shared(one), shared(other));
    let differing = of_one.into_iter().zip(of_other).find(|(one, other)| one != other);
    let Some(((field, value), (_, another))) = differing else { return Ok(()) };
    let version = |crd| names(crd).join(", ");
    Err(ManifestError::Disagree {
        name: name_of(one),
        field,
        one: format!("{value} in version {}", version(one)),
        other: format!("{another} in version {}", version(other)),
    })
}

fn shared(crd: &CustomResourceDefinition) -> [(&'static str, Value); 8] {
    let (spec, names) = (&crd.spec, &crd.spec.names);
    [
        ("group", json!(spec.group)),
        ("scope", json!(spec.scope)),
        ("kind", json!(names.kind)),
        ("plural", json!(names.plural)),
        ("singular", json!(names.singular)),
        ("listKind", json!(names.list_kind)),
        ("shortNames", json!(names.short_names.as_deref().unwrap_or_default())),
        ("categories", json!(names.categories.as_deref().unwrap_or_default())),
    ]
}

fn names(crd: &CustomResourceDefinition) -> Vec<String> {
    crd.spec.versions.iter().map(|version| version.name.clone()).collect()
}

fn name_of(crd: &CustomResourceDefinition) -> String {
    crd.metadata.name.clone().unwrap_or_default()
}

fn converted_by(crd: &mut CustomResourceDefinition, versions: &Versions, reach: &WebhookReach) {
    // Both are the same JSON: what does not fit would be a bug of this file, which its test finds.
    crd.spec.conversion = serde_json::from_value(conversion(versions, reach, None)).ok();
}

#[cfg(test)]
mod tests {
    use kube::CustomResource;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    use crate::{
        manifests::{WebhookReach, crds_in_versions},
        operator::{
            Conditions, OperatorConfig,
            conversion::{Versions, VersionsError},
        },
    };

    use super::*;

    #[derive(Serialize, Deserialize, Clone, Debug, Default, JsonSchema)]
    #[serde(default)]
    struct Seen {
        conditions: Conditions,
    }

    macro_rules! version {
        ($module:ident, $version:literal, $plural:literal, $short:literal $(, $scope:ident)?) => {
            mod $module {
                use super::*;

                #[derive(CustomResource, Serialize, Deserialize, Clone, Debug, JsonSchema)]
                #[kube(group = "example.dev", version = $version, kind = "Shop", plural = $plural)]
                #[kube(status = "Seen", shortname = $short, crates(kube_core = "::kube::core"))]
                $(#[kube($scope)])?
                #[kube(printcolumn(name = $version, type_ = "string", json_path = ".spec.rooms"))]
                pub(super) struct ShopSpec {
                    #[schemars(extend("x-kubernetes-validations" = [{"rule": "self != ''"}]))]
                    pub(super) rooms: String,
                }
            }
        };
    }
    version!(v1, "v1", "shops", "sh", namespaced);
    version!(v1beta1, "v1beta1", "shops", "sh", namespaced);
    version!(cluster, "v1alpha1", "shops", "sh");
    version!(short, "v1alpha2", "shops", "shp", namespaced);

    macro_rules! converted {
        ($one:ident, $other:ident) => {
            impl From<$one::Shop> for $other::Shop {
                fn from(shop: $one::Shop) -> Self {
                    let spec = $other::ShopSpec { rooms: shop.spec.rooms };
                    Self { metadata: shop.metadata, spec, status: shop.status }
                }
            }
        };
    }
    converted!(v1, v1beta1);
    converted!(v1beta1, v1);
    converted!(v1, cluster);
    converted!(cluster, v1);
    converted!(v1, short);
    converted!(short, v1);

    fn versions() -> Versions {
        Versions::hub::<v1::Shop>().version::<v1beta1::Shop>().into()
    }

    fn made(
        operators: &[OperatorConfig],
        versions: &[Versions],
    ) -> Result<Vec<Value>, ManifestError> {
        let (namespace, name) = ("market".to_owned(), "shops".to_owned());
        let reach = WebhookReach::Service { namespace, name, port: 443 };
        let crds = crds_in_versions(operators, versions, Some(&reach))?;
        Ok(crds.iter().map(|crd| serde_json::to_value(crd).unwrap()).collect())
    }

    #[test]
    fn a_type_is_one_crd_with_all_versions_of_which_one_is_stored() {
        let operators =
            [OperatorConfig::custom::<v1::Shop>("a"), OperatorConfig::custom::<v1beta1::Shop>("b")];
        let [crd] = &made(&operators, &[versions()]).unwrap()[..] else { panic!("one") };
        let all: Vec<_> = crd["spec"]["versions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|version| {
                let schema = &version["schema"]["openAPIV3Schema"]["properties"]["spec"];
                assert_eq!(version["subresources"], json!({"status": {}}));
                assert_eq!(version["additionalPrinterColumns"][0]["name"], version["name"]);
                let rules = &schema["properties"]["rooms"]["x-kubernetes-validations"];
                assert_eq!(rules[0]["rule"], "self != ''");
                (version["name"].as_str().unwrap(), version["storage"] == true)
            })
            .collect();
        assert_eq!(all, [("v1", true), ("v1beta1", false)]);
        assert_eq!(
            crd["spec"]["conversion"],
            json!({"strategy": "Webhook", "webhook": {
                "conversionReviewVersions": ["v1"],
                "clientConfig": {"service": {
                    "namespace": "market", "name": "shops", "port": 443,
                    "path": "/webhooks/convert/shops.example.dev",
                }},
            }})
        );
        assert_eq!(made(&[], &[versions()]).unwrap()[0], *crd, "without an operator");
    }

    #[test]
    fn a_service_without_a_namespace_is_in_that_of_the_process() {
        let service = |namespace: &str| {
            let (namespace, name) = (namespace.to_owned(), "shops".to_owned());
            let reach = WebhookReach::Service { namespace, name, port: 443 };
            let crd = crds_in_versions(&[], &[versions()], Some(&reach)).unwrap().remove(0);
            let conversion = in_namespace(crd, "own").spec.conversion.unwrap();
            conversion.webhook.unwrap().client_config.unwrap().service.unwrap().namespace
        };
        assert_eq!((service(""), service("market")), ("own".to_owned(), "market".to_owned()));
    }

    #[test]
    fn another_version_may_be_stored_and_must_be_there() {
        let hub = || Versions::hub::<v1::Shop>().version::<v1beta1::Shop>();
        let crds = made(&[], &[hub().storing::<v1beta1::Shop>().into()]).unwrap();
        let stored: Vec<bool> = crds[0]["spec"]["versions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|version| version["storage"] == true)
            .collect();
        assert_eq!(stored, [false, true]);
        let missing = made(&[], &[hub().storing::<short::Shop>().into()]).unwrap_err();
        assert!(
            matches!(missing, ManifestError::Versions(VersionsError::NotStored { .. })),
            "{missing}"
        );
    }

    #[test]
    fn a_type_with_one_version_stays_as_it_is() {
        let one = OperatorConfig::custom::<v1::Shop>("a");
        let crds = made(std::slice::from_ref(&one), &[]).unwrap();
        assert_eq!(crds, made(&[one], &[Versions::hub::<v1::Shop>().into()]).unwrap());
        assert_eq!(crds[0]["spec"].get("conversion"), None);
    }

    #[test]
    fn versions_that_disagree_about_the_type_are_refused_with_both() {
        let scope: Versions = Versions::hub::<v1::Shop>().version::<cluster::Shop>().into();
        let error = made(&[], &[scope]).unwrap_err().to_string();
        let expected =
            "its scope is \"Namespaced\" in version v1, and \"Cluster\" in version v1alpha1";
        assert!(error.contains(expected), "{error}");
        let names: Versions = Versions::hub::<v1::Shop>().version::<short::Shop>().into();
        let error = made(&[], &[names]).unwrap_err().to_string();
        assert!(error.contains("shortNames is [\"sh\"] in version v1, and [\"shp\"]"), "{error}");
    }

    #[test]
    fn operators_with_parents_of_two_versions_need_their_conversion() {
        let both =
            [OperatorConfig::custom::<v1::Shop>("a"), OperatorConfig::custom::<v1beta1::Shop>("b")];
        let error = made(&both, &[]).unwrap_err().to_string();
        assert!(error.contains("version v1beta1 of the CRD shops.example.dev"), "{error}");
        assert!(error.contains("SupervisorBuilder::versions"), "{error}");
        // A CRD that was merged by hand has both.
        let merged = crds_in_versions(&[], &[versions()], None).unwrap().remove(0);
        let [one, other] = both;
        let crds = made(&[one, other.with_crd(merged)], &[]).unwrap();
        assert_eq!(crds[0]["spec"]["versions"].as_array().unwrap().len(), 2);
    }
}
