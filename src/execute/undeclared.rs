//! The status fields that are not written because the type of the parents does not declare them: recorded
//! once per operator. Bounded, against handlers that return ever new names.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    plan::{UndeclaredField, WantedBy},
    reply::TypeSchema,
};

#[derive(Debug, Clone, Default)]
pub(crate) struct Undeclared(Arc<Mutex<Found>>);

#[derive(Debug, Default)]
struct Found {
    schema: Option<Arc<TypeSchema>>,
    fields: BTreeMap<String, WantedBy>,
}

/// More than a correct operator needs.
const MOST: usize = 100;

impl Undeclared {
    /// The undeclared fields: those of the handler first, then by path.
    pub(crate) fn fields(&self) -> Vec<UndeclaredField> {
        let found = self.found();
        let field = |(path, wanted_by): (&String, &WantedBy)| UndeclaredField {
            path: path.clone(),
            wanted_by: *wanted_by,
        };
        let mut fields: Vec<_> = found.fields.iter().map(field).collect();
        fields.sort_by_key(|field| field.wanted_by);
        fields
    }

    /// Records a field; returns whether the field, or that the handler returns it, is new.
    pub(super) fn add(&self, UndeclaredField { path, wanted_by }: &UndeclaredField) -> bool {
        let mut found = self.found();
        match found.fields.get_mut(path) {
            Some(known) if *known <= *wanted_by => false,
            Some(known) => {
                *known = *wanted_by;
                true
            }
            None => {
                let has_room = found.fields.len() < MOST;
                if has_room {
                    found.fields.insert(path.clone(), *wanted_by);
                }
                has_room
            }
        }
    }

    /// Forgets the fields if the type declares another status. The next reconcile finds the fields that
    /// are still undeclared. Returns whether it declared another one.
    pub(super) fn forget_unless_of(&self, schema: &Arc<TypeSchema>) -> bool {
        let mut found = self.found();
        let is_same =
            |known: &Arc<TypeSchema>| Arc::ptr_eq(known, schema) || known.status == schema.status;
        if found.schema.as_ref().is_some_and(is_same) {
            return false;
        }
        let now = Found { schema: Some(schema.clone()), fields: BTreeMap::new() };
        std::mem::replace(&mut *found, now).schema.is_some()
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{object::SecretFields, reply::StatusSchema};

    fn schema(status: StatusSchema) -> Arc<TypeSchema> {
        Arc::new(TypeSchema::of(status, SecretFields::default()))
    }

    fn returned(path: &str) -> UndeclaredField {
        UndeclaredField::returned(path.to_owned())
    }

    #[test]
    fn a_field_is_new_once_and_again_when_the_handler_returns_it() {
        let undeclared = Undeclared::default();
        let own = UndeclaredField::own("conditions");
        assert!(undeclared.add(&own) && !undeclared.add(&own));
        let theirs = returned(&own.path);
        assert!(undeclared.add(&theirs) && !undeclared.add(&theirs) && !undeclared.add(&own));
        assert_eq!(undeclared.fields(), [theirs]);
    }

    #[test]
    fn the_number_of_recorded_fields_is_bounded() {
        let undeclared = Undeclared::default();
        let names = (0..1000).filter(|number| undeclared.add(&returned(&number.to_string())));
        assert_eq!(names.count(), MOST);
        assert_eq!(undeclared.fields().len(), MOST);
    }

    #[test]
    fn the_fields_are_forgotten_when_the_type_declares_another_status() {
        let undeclared = Undeclared::default();
        assert!(!undeclared.forget_unless_of(&schema(StatusSchema::none())), "the first one");
        undeclared.add(&returned(".status"));
        assert!(!undeclared.forget_unless_of(&schema(StatusSchema::none())));
        assert_eq!(undeclared.fields().len(), 1, "read again, and the same");
        assert!(undeclared.forget_unless_of(&schema(StatusSchema::unknown())));
        assert!(undeclared.fields().is_empty());
    }
}
