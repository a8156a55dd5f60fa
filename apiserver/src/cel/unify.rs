//! Which types go together: assignment, and what is known of the open parts of overloads.

use std::{collections::HashMap, sync::Arc};

use super::ty::Type;

/// What open types stand for so far.
#[derive(Debug, Default, Clone)]
pub(super) struct Bindings {
    known: HashMap<Arc<str>, Type>,
    fresh: usize,
}

impl Bindings {
    /// An open type that occurs nowhere else.
    pub(super) fn fresh(&mut self) -> Type {
        self.fresh += 1;
        Type::Parameter(format!("_var{}", self.fresh - 1).into())
    }

    /// Whether each of `from` can be given where the one of `to` is expected; remembers what that means.
    pub(super) fn assign_all(&mut self, from: &[Type], to: &[Type]) -> bool {
        if from.len() != to.len() {
            return false;
        }
        let mut tried = self.clone();
        if !from.iter().zip(to).all(|(from, to)| tried.unify(from, to)) {
            return false;
        }
        *self = tried;
        true
    }

    /// The same for one type.
    pub(super) fn assign(&mut self, from: &Type, to: &Type) -> bool {
        self.assign_all(std::slice::from_ref(from), std::slice::from_ref(to))
    }

    /// The type with what is known put in; what is still open becomes `dyn` if `close` is set.
    pub(super) fn resolve(&self, ty: &Type, close: bool) -> Type {
        match ty {
            Type::Parameter(name) => match self.known.get(name) {
                Some(known) => self.resolve(known, close),
                None if close => Type::Dyn,
                None => ty.clone(),
            },
            other => other.with_parameters(|inner| self.resolve(inner, close)),
        }
    }

    /// The parameters of an overload with open types of their own.
    pub(super) fn instantiate(&mut self, types: &[Type]) -> Vec<Type> {
        let mut names = HashMap::new();
        types.iter().map(|ty| self.rename(ty, &mut names)).collect()
    }

    fn rename(&mut self, ty: &Type, names: &mut HashMap<Arc<str>, Type>) -> Type {
        match ty {
            Type::Parameter(name) => {
                if let Some(renamed) = names.get(name) {
                    return renamed.clone();
                }
                let renamed = self.fresh();
                names.insert(Arc::clone(name), renamed.clone());
                renamed
            }
            other => other.with_parameters(|inner| self.rename(inner, names)),
        }
    }

    fn unify(&mut self, from: &Type, to: &Type) -> bool {
        if let Type::Parameter(name) = to {
            match self.bind(from, name, to) {
                Bound::Agrees => return true,
                Bound::Contradicts => return false,
                Bound::Occurs => {}
            }
        }
        if let Type::Parameter(name) = from {
            return matches!(self.bind(to, name, from), Bound::Agrees);
        }
        if from.is_dyn_or_error() || to.is_dyn_or_error() {
            return true;
        }
        match (from, to) {
            (Type::Null, other) | (other, Type::Null) => is_nullable(other),
            (Type::Type(_), Type::Type(_)) => true,
            (Type::List(a), Type::List(b)) | (Type::Optional(a), Type::Optional(b)) => {
                self.unify(a, b)
            }
            (Type::Map(a), Type::Map(b)) => self.unify(&a.0, &b.0) && self.unify(&a.1, &b.1),
            _ => from == to,
        }
    }

    fn bind(&mut self, ty: &Type, name: &Arc<str>, parameter: &Type) -> Bound {
        if ty == parameter {
            return Bound::Agrees;
        }
        if let Some(known) = self.known.get(name).cloned() {
            if *ty == known {
                return Bound::Agrees;
            }
            if !self.unify(ty, &known) {
                return Bound::Contradicts;
            }
            let general = most_general(ty, &known);
            if !self.occurs(name, &general) {
                self.known.insert(Arc::clone(name), general);
            }
            return Bound::Agrees;
        }
        if self.occurs(name, ty) {
            return Bound::Occurs;
        }
        self.known.insert(Arc::clone(name), ty.clone());
        Bound::Agrees
    }

    fn occurs(&self, name: &Arc<str>, ty: &Type) -> bool {
        match ty {
            Type::Parameter(other) => {
                other == name || self.known.get(other).is_some_and(|known| self.occurs(name, known))
            }
            other => other.parameters().into_iter().any(|inner| self.occurs(name, inner)),
        }
    }
}

enum Bound {
    Agrees,
    Contradicts,
    Occurs,
}

fn is_nullable(ty: &Type) -> bool {
    matches!(
        ty,
        Type::Null
            | Type::Optional(_)
            | Type::Named(_)
            | Type::Object(_)
            | Type::Duration
            | Type::Timestamp
    )
}

/// The more general of two types that go together.
pub(super) fn most_general(a: &Type, b: &Type) -> Type {
    if is_as_general(a, b) { a.clone() } else { b.clone() }
}

fn is_as_general(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Dyn | Type::Parameter(_), _) | (Type::Type(_), Type::Type(_)) => true,
        (_, Type::Dyn | Type::Parameter(_)) => false,
        (Type::List(a), Type::List(b)) | (Type::Optional(a), Type::Optional(b)) => {
            is_as_general(a, b)
        }
        (Type::Map(a), Type::Map(b)) => is_as_general(&a.0, &b.0) && is_as_general(&a.1, &b.1),
        _ => a == b,
    }
}
