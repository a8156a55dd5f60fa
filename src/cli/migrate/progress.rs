//! What became of the objects of a type. Pure.

use crate::object::ObjectKey;

/// What became of one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Written {
    /// It was written as it was read.
    Rewritten,
    /// Somebody else wrote it meanwhile, so that it is stored in the storage version.
    ByAnother,
    /// It was deleted meanwhile.
    Gone,
    /// The server refused it.
    Failed(String),
}

/// What became of the objects so far.
#[derive(Debug, Default)]
pub(super) struct Progress {
    rewritten: usize,
    by_another: usize,
    gone: usize,
    failed: Vec<(ObjectKey, String)>,
}

impl Written {
    /// By the code and the message with which the server refused it.
    pub(super) fn refused(code: u16, message: &str) -> Self {
        match code {
            409 => Self::ByAnother,
            404 => Self::Gone,
            _ => Self::Failed(message.to_owned()),
        }
    }
}

impl Progress {
    pub(super) fn add(&mut self, object: ObjectKey, written: Written) {
        match written {
            Written::Rewritten => self.rewritten += 1,
            Written::ByAnother => self.by_another += 1,
            Written::Gone => self.gone += 1,
            Written::Failed(why) => self.failed.push((object, why)),
        }
    }

    pub(super) fn failed(&self) -> impl Iterator<Item = (&ObjectKey, &str)> {
        self.failed.iter().map(|(object, why)| (object, why.as_str()))
    }

    /// Whether every object is stored in the storage version.
    pub(super) fn is_complete(&self) -> bool {
        self.failed.is_empty()
    }

    pub(super) fn said(&self, is_dry_run: bool) -> String {
        let Self { rewritten, by_another, gone, failed } = self;
        let failed = failed.len();
        let would = if is_dry_run { "would be " } else { "" };
        format!(
            "{rewritten} {would}written, {by_another} written by others meanwhile, {gone} deleted meanwhile, {failed} could \
             not be written"
        )
    }

    /// The same while it continues.
    pub(super) fn so_far(&self, remaining: Option<i64>) -> String {
        let done = self.rewritten + self.by_another + self.gone + self.failed.len();
        match remaining.filter(|remaining| *remaining > 0) {
            Some(remaining) => format!("{done} done, about {remaining} remain"),
            None => format!("{done} done"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_what_became_of_an_object() {
        assert_eq!(Written::refused(404, "m"), Written::Gone);
        assert_eq!(Written::refused(409, "m"), Written::ByAnother);
        for code in [400, 403, 422, 500] {
            assert_eq!(Written::refused(code, "m"), Written::Failed("m".to_owned()), "{code}");
        }
    }

    #[test]
    fn all_objects_are_counted_and_those_that_failed_are_named() {
        let mut progress = Progress::default();
        let key = |name: &str| ObjectKey::namespaced("ns", name);
        progress.add(key("a"), Written::Rewritten);
        progress.add(key("b"), Written::ByAnother);
        progress.add(key("c"), Written::Gone);
        assert!(progress.is_complete());
        progress.add(key("d"), Written::Failed("invalid".to_owned()));
        assert!(!progress.is_complete());
        let counts =
            "1 written, 1 written by others meanwhile, 1 deleted meanwhile, 1 could not be written";
        assert_eq!(progress.said(false), counts);
        assert!(progress.said(true).starts_with("1 would be written, "));
        assert_eq!(progress.so_far(Some(7)), "4 done, about 7 remain");
        assert_eq!(progress.so_far(None), "4 done");
        let failed: Vec<_> = progress.failed().map(|(key, why)| format!("{key}: {why}")).collect();
        assert_eq!(failed, ["ns/d: invalid"]);
    }
}
