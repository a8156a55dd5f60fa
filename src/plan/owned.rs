//! What our field manager owns in the cluster and the handler no longer desires. A server-side
//! apply of what is desired removes it.

use serde_json::Value;

use super::{
    contained::MAX_PATHS,
    fields::{Item, Owned, pair},
    path::{Path, Segment},
};

/// The paths in `fieldsV1` that are not in the desired object.
pub(super) fn beyond(fields: &Value, desired: &Value) -> Vec<String> {
    let mut search = Search { path: Path::default(), found: Vec::new() };
    search.value(Owned::root(Some(fields)), desired);
    search.found
}

struct Search<'a> {
    path: Path<'a>,
    found: Vec<String>,
}

impl<'a> Search<'a> {
    fn value(&mut self, owned: Owned<'a>, desired: &Value) {
        if let Some(values) = owned.set() {
            self.set(&values, desired);
        }
        self.keyed(owned, desired);
        for (name, inner) in owned.members() {
            if let Some(name) = name.strip_prefix("f:") {
                self.path.enter(Segment::Field(name));
                self.member(inner, desired.get(name));
                self.path.leave();
            }
        }
    }

    fn member(&mut self, owned: Owned<'a>, desired: Option<&Value>) {
        match desired {
            Some(desired) => self.value(owned, desired),
            None => self.tell(),
        }
    }

    fn keyed(&mut self, owned: Owned<'a>, desired: &Value) {
        let items = owned.keyed().unwrap_or_default();
        let desired = desired.as_array().map_or(&[][..], Vec::as_slice);
        let keys: Vec<_> = items.iter().map(|item| item.keys.clone()).collect();
        let paired = pair(desired, &keys);
        for (at, item) in items.into_iter().enumerate() {
            let desired = paired.iter().position(|pair| *pair == Some(at)).map(|at| &desired[at]);
            self.path.enter(Segment::Keys(item.keys.clone()));
            match desired {
                Some(desired) => self.item(&item, desired),
                None => self.tell(),
            }
            self.path.leave();
        }
    }

    /// A key that the server defaults may be missing in what is desired.
    fn item(&mut self, item: &Item<'a>, desired: &Value) {
        for (name, inner) in item.owned.members() {
            let Some(name) = name.strip_prefix("f:") else { continue };
            if item.keys.contains_key(name) {
                continue;
            }
            self.path.enter(Segment::Field(name));
            self.member(inner, desired.get(name));
            self.path.leave();
        }
    }

    fn set(&mut self, owned: &[Value], desired: &Value) {
        let desired = desired.as_array().map_or(&[][..], Vec::as_slice);
        if owned.iter().any(|value| !desired.contains(value)) {
            self.tell();
        }
    }

    fn tell(&mut self) {
        if self.found.len() < MAX_PATHS {
            self.found.push(self.path.render());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_we_own_and_do_not_desire_is_found() {
        let fields = json!({
            "f:metadata": {"f:labels": {"f:a": {}, "f:b/c": {}}, "f:finalizers": {"v:\"x/y\"": {}}},
            "f:spec": {
                "f:selector": {},
                "f:ports": {
                    "k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}, "f:name": {}},
                    "k:{\"port\":81,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}},
                },
            },
        });
        let all = json!({
            "metadata": {"labels": {"a": "1", "b/c": "2"}, "finalizers": ["z", "x/y"]},
            "spec": {"selector": {"x": "y"}, "ports": [{"port": 80, "name": "n"}, {"port": 81}]},
        });
        assert_eq!(beyond(&fields, &all), Vec::<String>::new());
        let less = json!({
            "metadata": {"labels": {"a": "1"}, "finalizers": ["z"]},
            "spec": {"ports": [{"port": 80}]},
        });
        let mut found = beyond(&fields, &less);
        found.sort();
        assert_eq!(
            found,
            [
                ".metadata.finalizers",
                ".metadata.labels[\"b/c\"]",
                ".spec.ports[port=80,protocol=\"TCP\"].name",
                ".spec.ports[port=81,protocol=\"TCP\"]",
                ".spec.selector",
            ]
        );
    }

    #[test]
    fn one_desired_item_stands_for_one_item_of_the_cluster() {
        let fields = json!({"f:ports": {
            "k:{\"port\":53,\"protocol\":\"TCP\"}": {}, "k:{\"port\":53,\"protocol\":\"UDP\"}": {},
        }});
        let desired = json!({"ports": [{"port": 53}]});
        assert_eq!(beyond(&fields, &desired).len(), 1);
    }
}
