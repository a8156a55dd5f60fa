//! What a merge patch would change in an object, field by field, without secret values.

use serde_json::Value;

use super::diff::{Comparing, DifferenceView, between};
use crate::{
    diff::path::{Path, Segment},
    object::Object,
};

/// A field before and after the patch, each as it is and without secrets.
#[derive(Clone, Copy)]
struct Field<'a> {
    live: Option<&'a Value>,
    desired: Option<&'a Value>,
    shown_live: Option<&'a Value>,
    shown_desired: Option<&'a Value>,
}

pub(super) fn differences(
    object: &Object,
    patch: &Value,
    comparing: &Comparing<'_>,
) -> Vec<DifferenceView> {
    let live = object.to_value();
    let mut desired = live.clone();
    merge(&mut desired, patch);
    let (shown_live, shown_desired) =
        (comparing.hidden(object.ty(), &live), comparing.hidden(object.ty(), &desired));
    let root = Field {
        live: Some(&live),
        desired: Some(&desired),
        shown_live: Some(&shown_live),
        shown_desired: Some(&shown_desired),
    };
    let (mut at, mut found) = (Path::default(), Vec::new());
    root.collect(patch, &mut at, &mut |at, field| {
        let desired = side(field.desired, field.shown_desired);
        let live = side(field.live, field.shown_live);
        found.push(between(comparing.secrets.path(&at.render()), desired, live));
    });
    found
}

fn side<'a>(value: Option<&'a Value>, shown: Option<&Value>) -> Option<(&'a Value, Value)> {
    Some((value?, shown.cloned().unwrap_or_default()))
}

impl<'a> Field<'a> {
    fn inner(self, name: &str) -> Self {
        let inner = |value: Option<&'a Value>| value.and_then(|value| value.get(name));
        Self {
            live: inner(self.live),
            desired: inner(self.desired),
            shown_live: inner(self.shown_live),
            shown_desired: inner(self.shown_desired),
        }
    }

    /// Calls back for each field that the patch sets as a whole.
    fn collect<'p>(
        self,
        patch: &'p Value,
        at: &mut Path<'p>,
        found: &mut impl FnMut(&Path<'p>, Self),
    ) {
        match patch {
            Value::Object(fields) if self.live.is_some_and(Value::is_object) => {
                for (name, inner) in fields {
                    at.enter(Segment::Field(name));
                    self.inner(name).collect(inner, at, found);
                    at.leave();
                }
            }
            _ => found(at, self),
        }
    }
}

/// Applies a JSON merge patch (RFC 7396).
fn merge(value: &mut Value, patch: &Value) {
    let Value::Object(fields) = patch else {
        *value = patch.clone();
        return;
    };
    if !value.is_object() {
        *value = Value::Object(<_>::default());
    }
    for (name, inner) in fields {
        if inner.is_null() {
            value.as_object_mut().map(|object| object.remove(name));
        } else {
            merge(&mut value[name.as_str()], inner);
        }
    }
}
