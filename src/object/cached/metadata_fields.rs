//! What is certainly not in the metadata of an object, known without reading its text again.

use crate::object::{
    json::RawFields,
    own_labels::{BUCKET_LABEL, ORPHAN_LABEL},
};

/// Which of the metadata that is read most often an object may have: most objects lack most of it.
#[derive(Clone, Copy)]
pub(super) struct MetadataFields(u8);

const OFTEN_READ: [&str; 4] = ["annotations", "finalizers", "labels", "ownerReferences"];
/// Labels that each plan looks for.
const RARE_LABELS: [&str; 2] = [BUCKET_LABEL, ORPHAN_LABEL];

impl MetadataFields {
    pub(super) fn of(fields: &RawFields<'_>) -> Self {
        let labels = fields.get("labels").unwrap_or_default();
        let has = OFTEN_READ.iter().map(|name| fields.get(name).is_some());
        // One in a value only costs the time to parse it.
        let may_have = |name: &&str| labels.contains(*name) || labels.contains('\\');
        let has = has.chain(RARE_LABELS.iter().map(may_have));
        Self((0..).zip(has).map(|(at, has)| u8::from(has) << at).sum())
    }

    /// Whether there is certainly no field of this name.
    pub(super) fn lack(self, name: &str) -> bool {
        self.lack_one_of(&OFTEN_READ, name, 0)
    }

    /// Whether there is certainly no label of this name.
    pub(super) fn lack_label(self, name: &str) -> bool {
        self.lack_one_of(&RARE_LABELS, name, OFTEN_READ.len())
    }

    fn lack_one_of(self, names: &[&str], name: &str, from: usize) -> bool {
        let at = names.iter().position(|it| *it == name);
        at.is_some_and(|at| self.0 >> (from + at) & 1 == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(metadata: &str) -> MetadataFields {
        MetadataFields::of(&serde_json::from_str(metadata).unwrap())
    }

    #[test]
    fn only_what_is_certainly_missing_is_lacked() {
        let plain = of(r#"{"name":"a","labels":{"app":"x"}}"#);
        assert!(plain.lack("annotations") && plain.lack_label(BUCKET_LABEL));
        assert!(!plain.lack("labels") && !plain.lack("name") && !plain.lack_label("app"));
        let marked = of(r#"{"labels":{"operetta.dev/bucket":"7"},"annotations":{}}"#);
        assert!(!marked.lack_label(BUCKET_LABEL) && marked.lack_label(ORPHAN_LABEL));
        assert!(!marked.lack("annotations"));
        // The same name, as another server may write it.
        assert!(!of(r#"{"labels":{"operetta.dev\/bucket":"7"}}"#).lack_label(BUCKET_LABEL));
        assert!(of("{}").lack_label(ORPHAN_LABEL));
    }
}
