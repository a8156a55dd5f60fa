//! The types of lists, maps and objects that an expression builds.

use cel::common::ast::{EntryExpr, ListExpr, MapExpr, StructExpr};

use super::{
    super::{ty::Type, unify::most_general},
    Checker, Constructs, issue_at,
};
use crate::cel::constructed_type;

impl Checker<'_> {
    pub(super) fn list(&mut self, list: &ListExpr) -> Type {
        let mut joined = None;
        for (at, element) in list.elements.iter().enumerate() {
            let mut ty = self.visit(element);
            if list.optional_indices.contains(&at) {
                ty = self.optional_part(element.id, &ty);
            }
            joined = Some(self.join(joined, ty));
        }
        Type::list(joined.unwrap_or_else(|| self.found.bindings.fresh()))
    }

    pub(super) fn map(&mut self, map: &MapExpr) -> Type {
        let (mut keys, mut values) = (None, None);
        for entry in &map.entries {
            let EntryExpr::MapEntry(entry) = &entry.expr else { continue };
            let key = self.visit(&entry.key);
            keys = Some(self.join(keys, key));
            let mut value = self.visit(&entry.value);
            if entry.optional {
                value = self.optional_part(entry.value.id, &value);
            }
            values = Some(self.join(values, value));
        }
        let mut or_open = |ty: Option<Type>| ty.unwrap_or_else(|| self.found.bindings.fresh());
        Type::map(or_open(keys), or_open(values))
    }

    pub(super) fn construct(&mut self, id: u64, object: &StructExpr) -> Type {
        let name = object.type_name.as_str();
        if !self.constructs_type(name) {
            return self.unknown_object(id, name);
        }
        for entry in &object.entries {
            let EntryExpr::StructField(field) = &entry.expr else { continue };
            let mut ty = self.visit(&field.value);
            if field.optional {
                ty = self.optional_part(field.value.id, &ty);
            }
            let wanted = constructed_type::field_type(name, &field.field);
            let fits = match &wanted {
                Some(wanted) => self.found.bindings.assign(wanted, &ty),
                None => ty.is_dyn_or_error(),
            };
            if !fits {
                let (field, wanted) = (&field.field, wanted.map(|it| it.to_string()));
                let wanted = wanted.unwrap_or_default();
                let message = format!(
                    "expected type of field '{field}' is '{wanted}' but provided type is '{ty}'"
                );
                self.report(entry.id, message);
            }
        }
        Type::Named(name.into())
    }

    pub(super) fn constructs_type(&self, name: &str) -> bool {
        self.constructs == Constructs::Patches && constructed_type::is_type(name)
    }

    /// The place of an object is its brace.
    fn unknown_object(&mut self, id: u64, name: &str) -> Type {
        let start = self.places.offset_for(id).map_or(0, |(start, _)| start as usize);
        let rest = self.places.source.get(start..).unwrap_or_default();
        let brace = start + rest.find('{').unwrap_or(0);
        let message = format!("undeclared reference to '{name}' (in container '')");
        self.issues.push(issue_at(self.places, brace, message));
        Type::Error
    }

    fn optional_part(&mut self, id: u64, ty: &Type) -> Type {
        let (inner, is_optional) = ty.unwrapped();
        if !is_optional && *ty != Type::Dyn {
            self.mismatch(id, &Type::optional(ty.clone()), ty);
        }
        inner
    }

    pub(super) fn join(&mut self, before: Option<Type>, ty: Type) -> Type {
        let Some(before) = before else { return ty };
        if self.found.bindings.assign(&before, &ty) {
            return most_general(&before, &ty);
        }
        // Whether literals may mix types is judged later, because some functions take such lists.
        Type::Dyn
    }
}
