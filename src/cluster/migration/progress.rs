//! What became of the objects of a type. Pure.

use crate::{object::ObjectKey, reply::ErrorClass};

/// What became of one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Written {
    /// It was written as it was read.
    Rewritten,
    /// Somebody else wrote it meanwhile, so that it is stored in the storage version.
    ByAnother,
    /// It was deleted meanwhile.
    Gone,
    /// The server refused it.
    Failed(String),
    /// The permission to write the type is missing, so that all others would be refused too.
    NotAllowed(String),
}

/// What became of the objects so far.
#[derive(Debug)]
pub(crate) struct Progress {
    rewritten: usize,
    by_another: usize,
    gone: usize,
    failed: usize,
    /// The first of those that failed, and why.
    named: Vec<(ObjectKey, String)>,
    most_named: usize,
    /// About how many are left; `None` if the server did not say.
    remaining: Option<usize>,
}

/// How the API server says that a role is missing. A webhook may say it too: then the next try is as good as this one.
const NOT_ALLOWED: &str = "\" cannot update resource \"";

impl Written {
    /// By the class of the refusal, and by what the server says.
    pub(super) fn refused(class: ErrorClass, why: String) -> Self {
        match class {
            ErrorClass::Conflict => Self::ByAnother,
            ErrorClass::Missing => Self::Gone,
            ErrorClass::Forbidden if why.contains(NOT_ALLOWED) => Self::NotAllowed(why),
            ErrorClass::Forbidden
            | ErrorClass::NotServed
            | ErrorClass::Permanent
            | ErrorClass::Retry
            | ErrorClass::Wait(_) => Self::Failed(why),
        }
    }

    /// Every name of an outcome.
    pub(crate) const NAMES: [&str; 4] = ["written", "conflict", "gone", "failed"];

    /// The outcome in one word.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Rewritten => "written",
            Self::ByAnother => "conflict",
            Self::Gone => "gone",
            Self::Failed(_) | Self::NotAllowed(_) => "failed",
        }
    }
}

impl Progress {
    /// Nothing yet. At most so many objects that fail are kept by name.
    pub(crate) fn naming(most_named: usize) -> Self {
        let (rewritten, by_another, gone, failed, named, remaining) = <_>::default();
        Self { rewritten, by_another, gone, failed, named, most_named, remaining }
    }

    pub(super) fn add(&mut self, object: ObjectKey, written: Written) {
        self.remaining = self.remaining.map(|remaining| remaining.saturating_sub(1));
        match written {
            Written::Rewritten => self.rewritten += 1,
            Written::ByAnother => self.by_another += 1,
            Written::Gone => self.gone += 1,
            Written::Failed(why) | Written::NotAllowed(why) => {
                self.failed += 1;
                if self.named.len() < self.most_named {
                    self.named.push((object, why));
                }
            }
        }
    }

    /// A page was read: so many objects of it and after it are left.
    pub(super) fn expect(&mut self, remaining: Option<usize>) {
        self.remaining = remaining;
    }

    /// The objects that could not be written, as far as they are kept, and why.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&ObjectKey, &str)> {
        self.named.iter().map(|(object, why)| (object, why.as_str()))
    }

    /// Whether every object is stored in the storage version.
    pub(crate) fn is_complete(&self) -> bool {
        self.failed == 0
    }

    /// How many need nothing more.
    pub(crate) fn done(&self) -> usize {
        self.rewritten + self.by_another + self.gone
    }

    /// How many the server refused.
    pub(crate) fn failed(&self) -> usize {
        self.failed
    }

    /// About how many are left; `None` if the server did not say.
    pub(crate) fn remaining(&self) -> Option<usize> {
        self.remaining
    }

    pub(crate) fn said(&self, is_dry_run: bool) -> String {
        let Self { rewritten, by_another, gone, failed, .. } = self;
        let would = if is_dry_run { "would be " } else { "" };
        format!(
            "{rewritten} {would}written, {by_another} written by others meanwhile, {gone} deleted meanwhile, {failed} could \
             not be written"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_what_became_of_an_object() {
        use ErrorClass::{Conflict, Forbidden, Missing, NotServed, Permanent, Retry};
        let refused = |class| Written::refused(class, "m".to_owned());
        assert_eq!((refused(Missing), refused(Conflict)), (Written::Gone, Written::ByAnother));
        for class in [Permanent, Forbidden, NotServed, Retry] {
            assert_eq!(refused(class), Written::Failed("m".to_owned()), "{class:?}");
        }
        let why = "shops \"a\" is forbidden: User \"u\" cannot update resource \"shops\" in API group \"\"";
        let forbidden = Written::refused(Forbidden, why.to_owned());
        assert_eq!(forbidden, Written::NotAllowed(why.to_owned()));
    }

    #[test]
    fn all_objects_are_counted_and_the_first_that_failed_are_named() {
        let mut progress = Progress::naming(1);
        progress.expect(Some(12));
        let key = |name: &str| ObjectKey::namespaced("ns", name);
        progress.add(key("a"), Written::Rewritten);
        progress.add(key("b"), Written::ByAnother);
        progress.add(key("c"), Written::Gone);
        assert!(progress.is_complete());
        for name in ["d", "e"] {
            progress.add(key(name), Written::Failed("invalid".to_owned()));
        }
        assert!(!progress.is_complete());
        let counts =
            "1 written, 1 written by others meanwhile, 1 deleted meanwhile, 2 could not be written";
        assert_eq!(progress.said(false), counts);
        assert!(progress.said(true).starts_with("1 would be written, "));
        assert_eq!((progress.done(), progress.failed(), progress.remaining()), (3, 2, Some(7)));
        let named: Vec<_> = progress.named().map(|(key, why)| format!("{key}: {why}")).collect();
        assert_eq!(named, ["ns/d: invalid"]);
    }
}
