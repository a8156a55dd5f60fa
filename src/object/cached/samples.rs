//! The samples of all types: they learn from the texts that are unlike what they have.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use super::{
    packed::Text,
    sample::{Own, Sample},
};
use crate::object::K8sType;

/// The samples of all types.
#[derive(Default)]
pub(super) struct Samples(RwLock<HashMap<K8sType, OfType>>);

#[derive(Default)]
struct OfType {
    sample: Option<Arc<Sample>>,
    /// How many texts it is made of.
    texts: usize,
    /// How many texts came that were unlike it, since it is full.
    unlike: usize,
}

/// A shorter text has little to save.
const SHORTEST: usize = 128;
/// A longer text takes time to unpack, whenever a field of it is read.
const LONGEST: usize = 64 << 10;
/// How many texts a sample is made of at most: each has the size of a cached object.
const MOST: usize = 8;
/// After so many unlike texts the objects of the type have changed, and the sample begins again.
const MANY: usize = 1000;

impl Samples {
    /// A text as it is stored. Secrets are not packed: a sample would keep one that is gone.
    pub(super) fn store(&self, ty: &K8sType, text: String, own: &Own) -> Text {
        if ty.is("v1", "Secret") || !(SHORTEST..=LONGEST).contains(&text.len()) {
            return Text::Plain(text.into_boxed_str());
        }
        let packed = self.of(ty).and_then(|sample| Text::packed(&text, own, &sample));
        if packed.as_ref().is_none_or(|packed| packed.stored() > text.len() / 3) {
            self.learn(ty, &text, own);
        }
        packed.unwrap_or_else(|| Text::Plain(text.into_boxed_str()))
    }

    fn of(&self, ty: &K8sType) -> Option<Arc<Sample>> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.get(ty)?.sample.clone()
    }

    fn learn(&self, ty: &K8sType, text: &str, own: &Own) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let known = known.entry(ty.clone()).or_default();
        if known.unlike >= MANY {
            *known = OfType::default();
        }
        let before = known.sample.as_deref().filter(|_| known.texts < MOST);
        let more = if known.texts < MOST { Sample::with(before, text, own) } else { None };
        match more {
            Some(more) => (known.sample, known.texts) = (Some(Arc::new(more)), known.texts + 1),
            None => known.unlike += 1,
        }
    }
}

impl fmt::Debug for Samples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Samples")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::{
        object::{K8sType, KeptManagers, Object},
        schedule::rng::with_seeds,
    };

    fn ty(kind: &str) -> K8sType {
        K8sType::namespaced("v1", kind, "things")
    }

    fn value(number: usize, data: &Value) -> Value {
        let uid = |of: usize| format!("{of:08}-3ae5-46b0-a788-91cad71e6626");
        json!({
            "metadata": {
                "name": format!("name-{number}"), "namespace": "ns", "uid": uid(number),
                "resourceVersion": (100_000 + number).to_string(), "labels": {"app": format!("name-{number}")},
                "ownerReferences": [{"kind": "Parent", "uid": uid(number + 1), "controller": true}],
            },
            "spec": {"data": data, "text": "a text that all of them have, and that is long enough to be worth it"},
        })
    }

    fn stored(object: &Object) -> usize {
        object.0.json.stored()
    }

    #[test]
    fn objects_of_one_shape_take_a_tenth_of_their_text() {
        let managers = KeptManagers::default();
        for number in 0..100 {
            let value = value(number, &json!({"mark": number}));
            let object = Object::from_value(&ty("Thing"), &value, &managers).unwrap();
            assert_eq!(object.json(), value.to_string());
            let (text, stored) = (object.bytes(), stored(&object));
            assert!(number == 0 || stored < text / 10, "{number}: {stored} of {text}");
        }
    }

    #[test]
    fn secrets_are_stored_as_they_are() {
        let managers = KeptManagers::default();
        for number in 0..3 {
            let value = value(number, &json!({"password": "c2VjcmV0"}));
            let object = Object::from_value(&ty("Secret"), &value, &managers).unwrap();
            assert_eq!((object.bytes(), stored(&object)), (object.json().len(), object.bytes()));
        }
    }

    #[test]
    fn every_text_is_read_as_it_was() {
        const PARTS: [&str; 8] = [
            "name-1",
            "ä",
            "\n",
            "\"",
            "a text that all",
            "100001",
            "}{",
            "00000001-3ae5-46b0-a788",
        ];
        with_seeds(50, |mut random| {
            let managers = KeptManagers::default();
            for number in 0..50 {
                let parts = (0..random.below(60)).map(|_| PARTS[random.below(PARTS.len())]);
                let text = parts.collect::<String>();
                let mut value = value(random.below(5), &json!({"text": text, "number": number}));
                if random.once_in(3) {
                    value["metadata"]["labels"]["more"] = Value::from(text);
                }
                let object = Object::from_value(&ty("Thing"), &value, &managers).unwrap();
                assert_eq!(object.json(), value.to_string());
                assert_eq!(
                    object.labels().len(),
                    value["metadata"]["labels"].as_object().unwrap().len()
                );
            }
        });
    }
}
