//! The documents of a file of Kubernetes objects: YAML with one or more documents, or JSON.

use std::{fs, io, path::Path};

use anyhow::Context;
use serde::Deserialize;
use serde_json::Value;

/// More is no file of objects.
const MAX_BYTES: u64 = 64 << 20;

/// The objects in the file of a flag, or on standard input where it is `-`. Those of a `List` follow each other.
pub(super) fn read(flag: &str, file: &Path) -> anyhow::Result<Vec<Value>> {
    let name = format!("{flag} {}", file.display());
    let text = text(file).with_context(|| name.clone())?;
    let documents = documents(&text).with_context(|| name.clone())?;
    if documents.is_empty() {
        anyhow::bail!("{name}: there is no object in it");
    }
    Ok(documents)
}

fn text(file: &Path) -> io::Result<String> {
    let limited = |reader: &mut dyn io::Read| io::read_to_string(io::Read::take(reader, MAX_BYTES));
    if file == Path::new("-") {
        limited(&mut io::stdin().lock())
    } else {
        limited(&mut fs::File::open(file)?)
    }
}

fn documents(text: &str) -> anyhow::Result<Vec<Value>> {
    let mut objects = Vec::new();
    for (index, document) in serde_yaml_ng::Deserializer::from_str(text).enumerate() {
        let number = index + 1;
        let value = Value::deserialize(document);
        match value.with_context(|| format!("document {number} cannot be read as YAML"))? {
            // Between two separators, or a comment alone.
            Value::Null => {}
            Value::Object(mut list) if list.get("kind").is_some_and(|kind| kind == "List") => {
                let items = list.remove("items").unwrap_or_default();
                objects.extend(items.as_array().cloned().unwrap_or_default());
            }
            object => objects.push(object),
        }
    }
    Ok(objects)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn documents_and_lists_are_read_and_empty_ones_are_not() {
        let text = "# a comment\n---\na: 1\n---\n---\nkind: List\nitems: [{b: 2}, {c: 3}]\n";
        let expected = [json!({"a": 1}), json!({"b": 2}), json!({"c": 3})];
        assert_eq!(documents(text).unwrap(), expected);
        assert_eq!(documents("{\"a\": 1}").unwrap(), [json!({"a": 1})]);
        assert!(documents("").unwrap().is_empty());
    }

    #[test]
    fn what_is_not_yaml_is_an_error_with_the_number_of_the_document() {
        let error = documents("a: 1\n---\nb: [\n").unwrap_err();
        assert!(error.to_string().contains("document 2 cannot be read"), "{error}");
        let error = read("--against", Path::new("/nonexistent/parents.yaml")).unwrap_err();
        assert!(error.to_string().contains("--against /nonexistent/parents.yaml"), "{error}");
    }
}
