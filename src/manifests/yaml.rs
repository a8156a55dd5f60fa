//! Objects as one YAML text of several documents.

use serde::Serialize;
use serde_yaml_ng::Value;

use super::error::ManifestError;

/// Begins strings that have to be quoted: the writer quotes because of the `@`. The other character
/// is for private use, so no text of Kubernetes has it.
const MARK: &str = "@\u{e000}";

/// Writes objects as YAML, each as a document that begins with `---`, so that texts can be joined.
/// The header becomes the comment above them; an empty one is left out.
///
/// Strings that kubectl would read as a boolean or a number, such as `On` and `1_000`, are quoted.
///
/// # Errors
/// When an object has no form in YAML, such as bytes.
pub fn to_yaml<T: Serialize>(header: &str, objects: &[T]) -> Result<String, ManifestError> {
    let comment = header.lines().map(|line| format!("# {line}").trim_end().to_owned() + "\n");
    let documents = objects.iter().map(document).collect::<Result<String, _>>();
    let documents = documents.map_err(|error| ManifestError::Yaml(error.into()))?;
    Ok(comment.collect::<String>() + &documents)
}

fn document(object: &impl Serialize) -> Result<String, serde_yaml_ng::Error> {
    let marked = marked(serde_yaml_ng::to_value(object)?);
    let text = serde_yaml_ng::to_string(&marked)?;
    Ok(format!("---\n{}", text.replace(&format!("'{MARK}"), "'")))
}

fn marked(value: Value) -> Value {
    match value {
        Value::String(text) if is_ambiguous(&text) => Value::String(format!("{MARK}{text}")),
        Value::Sequence(items) => items.into_iter().map(marked).collect(),
        Value::Mapping(fields) => {
            let fields = fields.into_iter().map(|(name, value)| (marked(name), marked(value)));
            Value::Mapping(fields.collect())
        }
        value => value,
    }
}

/// Whether kubectl, which reads YAML 1.1, takes a text for a boolean or a number and the writer, by
/// YAML 1.2, does not.
fn is_ambiguous(text: &str) -> bool {
    let is_boolean =
        ["y", "n", "yes", "no", "on", "off"].iter().any(|word| text.eq_ignore_ascii_case(word));
    let begins_number = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    is_boolean || (begins_number && text.contains('_'))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_line_of_the_header_is_a_comment_above_all_documents() {
        let objects = [json!({"a": 1}), json!({"b": [2]})];
        let text = to_yaml("Generated:\n\n    rbac", &objects).unwrap();
        assert_eq!(text, "# Generated:\n#\n#     rbac\n---\na: 1\n---\nb:\n- 2\n");
        assert_eq!(to_yaml("", &objects[..1]).unwrap(), "---\na: 1\n");
        assert_eq!(to_yaml::<Value>("", &[]).unwrap(), "");
    }

    #[test]
    fn strings_stay_strings_for_kubectl() {
        for text in [
            "y", "No", "ON", "off", "yes", "1_000", "-.5_0", "1e3", "012", "0x1f", "true", "null",
            "~", "",
        ] {
            let object = json!({text: [text]});
            let yaml = to_yaml("", &[&object]).unwrap();
            assert_eq!(yaml, format!("---\n'{text}':\n- '{text}'\n"));
            assert_eq!(serde_yaml_ng::from_str::<serde_json::Value>(&yaml).unwrap(), object);
        }
        for text in ["yellow", "node", "v1_000", "10.0.0.1", "2001-01-01"] {
            assert_eq!(to_yaml("", &[[text]]).unwrap(), format!("---\n- {text}\n"));
        }
    }

    #[test]
    fn a_text_of_several_lines_stays_as_it_is() {
        let object = json!({"description": "one\n- no\n---\n# on\n"});
        let yaml = to_yaml("", &[&object]).unwrap();
        assert_eq!(serde_yaml_ng::from_str::<serde_json::Value>(&yaml).unwrap(), object);
    }
}
