//! The forms of objects that were converted lately.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, PoisonError},
};

use serde_json::Value;

/// How many forms are kept.
const LIMIT: usize = 4096;

/// By uid, version of the object, and the version of the type.
type Key = (String, String, String);

/// The forms that are known.
#[derive(Debug, Default)]
pub(super) struct Known(Mutex<Forms>);

#[derive(Debug, Default)]
struct Forms {
    by_key: HashMap<Key, Value>,
    order: VecDeque<Key>,
}

impl Known {
    /// A form that is known.
    pub(super) fn find(&self, object: &Value, to: &str) -> Option<Value> {
        let forms = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        forms.by_key.get(&key(object, to)?).cloned()
    }

    /// Remembers a form of an object that is stored.
    pub(super) fn learn(&self, object: &Value, to: &str, form: &Value) {
        let Some(key) = key(object, to) else { return };
        let mut forms = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if forms.by_key.insert(key.clone(), form.clone()).is_none() {
            forms.order.push_back(key);
        }
        while forms.order.len() > LIMIT {
            let Some(oldest) = forms.order.pop_front() else { return };
            forms.by_key.remove(&oldest);
        }
    }
}

fn key(object: &Value, to: &str) -> Option<Key> {
    let text = |field: &str| object["metadata"][field].as_str().map(str::to_owned);
    Some((text("uid")?, text("resourceVersion")?, to.to_owned()))
}
