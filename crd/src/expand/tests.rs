use std::fmt::Write as _;

use super::*;

const CUP: &str = r"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: cups.example.dev}
spec:
  group: example.dev
  scope: Cluster
  names: {kind: Cup, plural: cups}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: SCHEMA
";

fn written(schema: &str) -> String {
    let code = code("cups.yaml", &CUP.replace("SCHEMA", schema), None).unwrap();
    syn::parse2::<syn::File>(code.clone()).unwrap();
    unspaced(&code)
}

/// The tokens, whatever is between them.
fn unspaced(code: &TokenStream) -> String {
    code.to_string().split_whitespace().collect()
}

fn has(code: &str, expected: &str) {
    let expected = unspaced(&expected.parse().unwrap());
    assert!(code.contains(&expected), "{expected}\nis not in\n{code}");
}

#[test]
fn a_field_has_the_name_of_the_schema_in_json_and_is_left_out_when_it_is_absent() {
    let code = written(
        "{type: object, properties: {spec: {type: object, required: [type], properties: {type: {type: string}, maxSize: {type: integer}}}}}",
    );
    has(&code, "pub r#type: ::std::string::String,");
    has(
        &code,
        r#"#[serde(rename = "maxSize")]
        #[serde(skip_serializing_if = "::core::option::Option::is_none")]
        pub max_size: ::core::option::Option<i64>,"#,
    );
    has(&code, "pub spec: ::core::option::Option<CupSpec>,");
    has(&code, "pub fn new(name: &str, spec: CupSpec) -> Self");
    has(&code, "type Scope = ::operetta::kube::core::ClusterResourceScope;");
}

#[test]
fn a_resource_without_a_spec_has_no_new() {
    let code = written(
        "{type: object, properties: {data: {type: object, additionalProperties: {type: string}}}}",
    );
    assert!(!code.contains("fnnew"), "{code}");
    has(&code, "::std::collections::BTreeMap<::std::string::String, ::std::string::String>");
}

#[test]
fn the_code_names_no_crate_but_operetta() {
    let code = written(
        "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {spec: {type: object, \
         properties: {a: {type: string, enum: [a]}, b: {x-kubernetes-int-or-string: true}, c: {type: object}}}}}",
    );
    for name in ["serde::", "serde_json::", "kube::", "k8s_openapi::"] {
        let named = code.match_indices(name).map(|(at, _)| &code[..at]);
        let named: Vec<_> = named.filter(|before| !before.ends_with("::")).collect();
        assert!(code.contains(name) && named.is_empty(), "{name}: {named:?}");
    }
}

#[test]
fn fifty_levels_become_fifty_types() {
    let mut schema = "{type: string}".to_owned();
    for _ in 0..50 {
        schema = format!("{{type: object, properties: {{deeper: {schema}}}}}");
    }
    let code = written(&schema);
    assert_eq!(code.matches("pubstruct").count(), 50);
    has(&code, &format!("pub struct Cup{}", "Deeper".repeat(49)));
}

#[test]
fn a_schema_that_nests_deeper_than_the_parser_reads_is_an_error_and_no_overflow() {
    let mut schema = String::new();
    for _ in 0..500 {
        write!(schema, "{{properties: {{a: ").unwrap();
    }
    let error = code("cups.yaml", &CUP.replace("SCHEMA", &schema), None).unwrap_err();
    assert!(error.to_string().contains("cups.yaml is no YAML or JSON: "), "{error}");
}

#[test]
fn a_file_that_does_not_exist_is_named_with_what_its_path_is_relative_to() {
    let error = types("crds/nowhere.yaml", None).unwrap_err().to_string();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/crds/nowhere.yaml");
    assert!(error.contains(&format!("cannot read {file}: ")), "{error}");
    assert!(error.ends_with("The path is relative to the folder of Cargo.toml"), "{error}");
}

#[test]
fn an_error_is_a_compile_error_of_the_argument() {
    for arguments in [r#""Cargo.toml""#, r#""nowhere.yaml", version = "v9""#] {
        let error = expand(&syn::parse_str(arguments).unwrap()).to_string();
        assert!(error.contains("compile_error"), "{error}");
    }
}

/// `OPERETTA_CRD_FILES=folder cargo test -p operetta-crd -- --ignored` checks the definitions of other projects.
#[test]
#[ignore = "needs a folder with definitions in OPERETTA_CRD_FILES"]
fn each_definition_in_the_folder_of_the_variable_becomes_code() {
    let folder = env::var("OPERETTA_CRD_FILES").expect("OPERETTA_CRD_FILES names a folder");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().path();
        let text = fs::read_to_string(&file).unwrap();
        let code = code(&file.display().to_string(), &text, None);
        let code = match code {
            Err(Error::NoDefinition { .. }) => continue,
            code => code.unwrap_or_else(|error| panic!("{error}")),
        };
        let items = syn::parse2::<syn::File>(code).unwrap().items.len();
        println!("{items:6} items of {}", file.display());
        count += 1;
    }
    assert!(count > 0, "no file has a definition");
}
