//! Paths to values of a document, with the indices of kube-apiserver.

use serde_json::Value;

use super::limits::Inapplicable;

/// The value at a path, if its container has one.
pub(super) fn get<'a>(document: &'a Value, path: &str) -> Result<Option<&'a Value>, Inapplicable> {
    let mut steps: Vec<String> = steps(path)?.collect();
    let last = steps.pop().ok_or(Inapplicable)?;
    let mut value = document;
    for step in steps {
        value = member(value, &step)?.ok_or(Inapplicable)?;
    }
    member(value, &last)
}

fn member<'a>(value: &'a Value, step: &str) -> Result<Option<&'a Value>, Inapplicable> {
    match value {
        Value::Object(map) => Ok(map.get(step)),
        Value::Array(list) => Ok(Some(&list[index(step, list.len())?])),
        _ => Err(Inapplicable),
    }
}

/// The container of the value at a path, and the last step of the path.
pub(super) fn parent_mut<'a>(
    document: &'a mut Value,
    path: &str,
) -> Result<(&'a mut Value, String), Inapplicable> {
    let mut above: Vec<String> = steps(path)?.collect();
    let key = above.pop().ok_or(Inapplicable)?;
    let mut value = document;
    for step in above {
        value = match value {
            Value::Object(map) => map.get_mut(&step).ok_or(Inapplicable)?,
            Value::Array(list) => {
                let at = index(&step, list.len())?;
                &mut list[at]
            }
            _ => return Err(Inapplicable),
        };
    }
    Ok((value, key))
}

/// The steps of a path, without the text before its first slash.
fn steps(path: &str) -> Result<impl Iterator<Item = String>, Inapplicable> {
    let (_, steps) = path.split_once('/').ok_or(Inapplicable)?;
    Ok(steps.split('/').map(|step| step.replace("~1", "/").replace("~0", "~")))
}

/// An index below `end`. Negative indices count from `end`.
pub(super) fn index(text: &str, end: usize) -> Result<usize, Inapplicable> {
    let at: i64 = text.parse().map_err(|_| Inapplicable)?;
    let at = if at < 0 { at + i64::try_from(end).map_err(|_| Inapplicable)? } else { at };
    usize::try_from(at).ok().filter(|at| *at < end).ok_or(Inapplicable)
}
