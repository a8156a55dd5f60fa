//! Types of programs in Rust: definitions that kube's derive macros make, with schemas of their own, several versions,
//! fields that selectors know, the scale subresource.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, CustomResource, CustomResourceExt, KubeSchema,
    api::{ListParams, Patch, PatchParams, PostParams},
    core::crd::merge_crds,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{World, on_both_servers};
use crate::common::{api, refusal};

on_both_servers![
    defaults_are_filled_in_where_serde_left_a_field_out,
    rules_refuse_with_their_own_words,
    lists_are_merged_by_their_type,
    a_version_shows_what_the_stored_one_keeps,
    selectors_choose_by_declared_fields,
    the_scale_subresource_writes_the_replicas,
];

#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Default, Debug, Clone)]
#[kube(
    group = "bakery.example.com",
    version = "v1",
    kind = "Recipe",
    namespaced,
    validation = "self.metadata.name != 'burnt'"
)]
#[serde(rename_all = "camelCase")]
struct RecipeSpec {
    /// Cannot change.
    #[x_kube(validation = Rule::new("self == oldSelf").message("a dish is no other dish"))]
    dish: String,
    #[serde(default = "medium")]
    heat: String,
    /// Left out when it is none, so that the server fills it in.
    #[serde(default = "oven", skip_serializing_if = "Option::is_none")]
    place: Option<String>,
    /// Sent as a null, which stays.
    #[serde(default = "oven")]
    second_place: Option<String>,
    #[serde(default = "salt")]
    #[x_kube(
        validation = Rule::new("self != 'sugar'").message(Message::Expression("'no ' + self".into())).reason(Reason::FieldValueForbidden),
        validation = Rule::new("self != 'soap'")
    )]
    spice: Option<String>,
    /// May be set at any time, and then stays.
    #[x_kube(validation = Rule::new("oldSelf.optMap(o, o == self).orValue(true)").optional_old_self(true).message("stays"))]
    cook: Option<String>,
    #[serde(default)]
    #[schemars(schema_with = "set_of_numbers")]
    pages: Vec<u32>,
    #[serde(default)]
    minutes: Vec<u32>,
}

fn medium() -> String {
    "medium".to_owned()
}

fn oven() -> Option<String> {
    Some("oven".to_owned())
}

fn salt() -> Option<String> {
    Some("salt".to_owned())
}

fn set_of_numbers(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "array", "x-kubernetes-list-type": "set",
        "items": {"type": "integer", "minimum": 0, "format": "int64"},
    })
}

mod first {
    use super::{CustomResource, Deserialize, JsonSchema, Serialize};

    /// Refuses objects without its own field, of which the second version knows nothing.
    #[derive(CustomResource, Serialize, Deserialize, Default, Debug, Clone, JsonSchema)]
    #[kube(group = "bakery.example.com", version = "v1", kind = "Oven", namespaced)]
    pub(super) struct OvenSpec {
        pub(super) name: String,
        pub(super) fuel: u32,
    }
}

mod second {
    use super::{CustomResource, Deserialize, JsonSchema, Serialize};

    #[derive(CustomResource, Serialize, Deserialize, Default, Debug, Clone, JsonSchema)]
    #[kube(group = "bakery.example.com", version = "v2", kind = "Oven", namespaced)]
    pub(super) struct OvenSpec {
        pub(super) name: String,
        pub(super) extra: Option<String>,
    }
}

#[derive(CustomResource, Serialize, Deserialize, Default, Debug, Clone, JsonSchema)]
#[kube(
    group = "bakery.example.com",
    version = "v1",
    kind = "Loaf",
    namespaced,
    status = "LoafStatus",
    scale(
        spec_replicas_path = ".spec.slices",
        status_replicas_path = ".status.slices",
        label_selector_path = ".status.selector"
    ),
    selectable = ".spec.flour",
    selectable = ".spec.sliced"
)]
struct LoafSpec {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    flour: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sliced: Option<bool>,
    #[serde(default)]
    slices: i32,
}

#[derive(Serialize, Deserialize, Default, Debug, Clone, JsonSchema)]
struct LoafStatus {
    slices: i32,
    selector: Option<String>,
}

impl World {
    /// Applies a definition until it is served, as programs do when they start.
    async fn apply_definition(&self, definition: &CustomResourceDefinition) {
        let definitions: Api<CustomResourceDefinition> = Api::all(self.client.clone());
        let name = definition.metadata.name.as_deref().unwrap();
        let params = PatchParams::apply("program").force();
        let applied = definitions.patch(name, &params, &Patch::Apply(definition)).await.unwrap();
        self.serves(&serde_json::to_value(&applied.spec).unwrap()).await;
    }

    async fn apply_recipe(&self, name: &str, spec: Value) -> kube::Result<Recipe> {
        let recipes: Api<Recipe> = Api::default_namespaced(self.client.clone());
        let recipe = json!({"apiVersion": "bakery.example.com/v1", "kind": "Recipe",
            "metadata": {"name": name}, "spec": spec});
        recipes.patch(name, &PatchParams::apply("cook").force(), &Patch::Apply(recipe)).await
    }
}

async fn defaults_are_filled_in_where_serde_left_a_field_out(world: &World) {
    world.apply_definition(&Recipe::crd()).await;
    let recipes: Api<Recipe> = Api::default_namespaced(world.client.clone());
    let recipe = Recipe::new("defaults", RecipeSpec::default());
    let created = recipes.create(&PostParams::default(), &recipe).await.unwrap();
    // An empty text is a value, a null of a nullable field too; what was not sent has its default.
    assert_eq!((&*created.spec.heat, created.spec.place), ("", oven()));
    let raw = api(&world.client, "bakery.example.com/v1", "Recipe", "default");
    let raw = raw.get("defaults").await.unwrap().data["spec"].clone();
    let shown = json!({"dish": "", "heat": "", "place": "oven", "secondPlace": null, "spice": null,
        "cook": null, "pages": [], "minutes": []});
    assert_eq!(raw, shown);
    let refused = refusal(world.apply_recipe("nothing", json!({})).await);
    assert_eq!((refused.0, &*refused.1), (422, "Invalid"));
    let why = "Recipe.bakery.example.com \"nothing\" is invalid: [spec.dish: Required value, ";
    assert!(refused.2.starts_with(why), "{}", refused.2);
}

async fn rules_refuse_with_their_own_words(world: &World) {
    world.apply_definition(&Recipe::crd()).await;
    world.apply_recipe("rules", json!({"dish": "soup"})).await.unwrap();
    let refused = async |spec: Value| {
        let (code, _, message) = refusal(world.apply_recipe("rules", spec).await);
        let start = "Recipe.bakery.example.com \"rules\" is invalid: ";
        (code, message.strip_prefix(start).unwrap_or(&message).to_owned())
    };
    let seen = [
        refused(json!({"dish": "bread"})).await,
        refused(json!({"dish": "soup", "spice": "sugar"})).await,
        refused(json!({"dish": "soup", "spice": "soap"})).await,
    ];
    let expected = [
        "spec.dish: Invalid value: \"bread\": a dish is no other dish",
        "spec.spice: Forbidden: no sugar",
        "spec.spice: Invalid value: \"soap\": failed rule: self != 'soap'",
    ];
    assert_eq!(seen, expected.map(|why| (422, why.to_owned())));
    world.apply_recipe("rules", json!({"dish": "soup", "cook": "anybody"})).await.unwrap();
    let other = refused(json!({"dish": "soup", "cook": "somebody"})).await;
    assert_eq!(other, (422, "spec.cook: Invalid value: \"somebody\": stays".to_owned()));
    let burnt = refusal(world.apply_recipe("burnt", json!({"dish": "soup"})).await).2;
    assert!(burnt.ends_with("failed rule: self.metadata.name != 'burnt'"), "{burnt}");
}

async fn lists_are_merged_by_their_type(world: &World) {
    world.apply_definition(&Recipe::crd()).await;
    let recipes: Api<Recipe> = Api::default_namespaced(world.client.clone());
    let spec = RecipeSpec { pages: vec![2], minutes: vec![2], ..RecipeSpec::default() };
    recipes.create(&PostParams::default(), &Recipe::new("lists", spec)).await.unwrap();
    let given = json!({"dish": "", "pages": [3], "minutes": [3]});
    let applied = world.apply_recipe("lists", given).await.unwrap();
    assert_eq!((applied.spec.pages, applied.spec.minutes), (vec![2, 3], vec![3]));
}

async fn a_version_shows_what_the_stored_one_keeps(world: &World) {
    let versions = || vec![first::Oven::crd(), second::Oven::crd()];
    world.apply_definition(&merge_crds(versions(), "v1").unwrap()).await;
    let old: Api<first::Oven> = Api::default_namespaced(world.client.clone());
    let new: Api<second::Oven> = Api::default_namespaced(world.client.clone());
    let params = PatchParams::apply("baker").force();
    let wood = first::Oven::new("wood", first::OvenSpec { name: "wood".to_owned(), fuel: 5 });
    old.patch("wood", &params, &Patch::Apply(&wood)).await.unwrap();
    assert_eq!(new.get("wood").await.unwrap().spec.name, "wood");
    let gas = second::OvenSpec { name: "gas".to_owned(), extra: Some("pipe".to_owned()) };
    let gas = second::Oven::new("gas", gas);
    let applied = new.patch("gas", &params, &Patch::Apply(&gas)).await.unwrap();
    assert_eq!(applied.spec.extra, None, "the stored version does not have it");
    // A program of the first version does not understand it.
    assert!(old.get("gas").await.is_err());
    world.apply_definition(&merge_crds(versions(), "v2").unwrap()).await;
    // The server takes notice of the change after it has answered.
    while new.patch("gas", &params, &Patch::Apply(&gas)).await.unwrap().spec.extra.is_none() {
        tokio::task::yield_now().await;
    }
    let wood = first::Oven::new("wood", first::OvenSpec { name: "ash".to_owned(), fuel: 6 });
    // Written, but answered without the field that the first version needs.
    assert!(old.patch("wood", &params, &Patch::Apply(&wood)).await.is_err());
    assert_eq!(new.get("wood").await.unwrap().spec.name, "ash");
}

async fn selectors_choose_by_declared_fields(world: &World) {
    world.apply_definition(&Loaf::crd()).await;
    let loaves: Api<Loaf> = Api::default_namespaced(world.client.clone());
    for (name, flour, sliced) in
        [("rye", Some("rye"), Some(true)), ("white", Some("wheat"), None), ("flat", None, None)]
    {
        let spec = LoafSpec { flour: flour.map(str::to_owned), sliced, slices: 0 };
        loaves.create(&PostParams::default(), &Loaf::new(name, spec)).await.unwrap();
    }
    let chosen = async |selector: &str| {
        let list = loaves.list(&ListParams::default().fields(selector)).await.unwrap();
        list.items.into_iter().map(|loaf| loaf.metadata.name.unwrap()).collect::<Vec<_>>()
    };
    let named = |name: &str| format!("{name},metadata.name!=scaled");
    assert_eq!(chosen(&named("spec.flour=rye")).await, ["rye"]);
    assert_eq!(chosen(&named("spec.flour!=rye")).await, ["flat", "white"]);
    assert_eq!(chosen(&named("spec.flour=")).await, ["flat"]);
    assert_eq!(chosen(&named("spec.sliced=true")).await, ["rye"]);
    let (code, _, why) = refusal(loaves.list(&ListParams::default().fields("spec.slices=0")).await);
    assert_eq!((code, &*why), (400, "field label not supported: spec.slices"));
}

async fn the_scale_subresource_writes_the_replicas(world: &World) {
    world.apply_definition(&Loaf::crd()).await;
    let loaves: Api<Loaf> = Api::default_namespaced(world.client.clone());
    let spec = LoafSpec { slices: 2, ..LoafSpec::default() };
    loaves.create(&PostParams::default(), &Loaf::new("scaled", spec)).await.unwrap();
    let status = Patch::Merge(json!({"status": {"slices": 1, "selector": "a=b"}}));
    loaves.patch_status("scaled", &PatchParams::default(), &status).await.unwrap();
    let patch = Patch::Merge(json!({"spec": {"replicas": 3}}));
    let scale = loaves.patch_scale("scaled", &PatchParams::default(), &patch).await.unwrap();
    let status = scale.status.unwrap();
    assert_eq!((status.replicas, status.selector.as_deref()), (1, Some("a=b")));
    assert_eq!(loaves.get("scaled").await.unwrap().spec.slices, 3);
}
