//! A problem before the same one of several children becomes one line.

use super::kubectl;
use crate::{
    history::{Action, Problem},
    plan::ChildId,
};

#[derive(Debug)]
pub(super) struct Trouble {
    /// The objects that have it, all of one type.
    about: Vec<ChildId>,
    /// What is wrong, after the name of the object.
    says: String,
    because: Vec<String>,
    remedies: Vec<Remedy>,
    /// Whether it is that the object is not ready.
    is_unready: bool,
}

#[derive(Debug)]
enum Remedy {
    Action(Action),
    /// A verb of kubectl for all of the objects.
    OnEach(&'static str, String),
}

impl Trouble {
    pub(super) fn of(about: &ChildId, says: impl Into<String>) -> Self {
        let (because, remedies) = <_>::default();
        Self { about: vec![about.clone()], says: says.into(), because, remedies, is_unready: false }
    }

    pub(super) fn because(mut self, why: impl Into<String>) -> Self {
        self.because.push(why.into());
        self
    }

    pub(super) fn cured_by(mut self, actions: impl IntoIterator<Item = Action>) -> Self {
        self.remedies.extend(actions.into_iter().map(Remedy::Action));
        self
    }

    /// What the object depends on may say more.
    pub(super) fn unready(self) -> Self {
        Self { is_unready: true, ..self }
    }

    /// A command of this verb for all objects that have it.
    pub(super) fn cured_on_each(mut self, verb: &'static str, text: impl Into<String>) -> Self {
        self.remedies.push(Remedy::OnEach(verb, text.into()));
        self
    }

    /// The same trouble of another object of the type.
    fn is_same_as(&self, other: &Self) -> bool {
        let ty = |it: &Self| it.about.first().map(|id| id.ty.clone());
        ty(self) == ty(other) && self.says == other.says && self.because == other.because
    }

    fn into_problem(self) -> Problem {
        let Self { mut about, says, because, remedies, is_unready } = self;
        // The answers of the API server come in any order, and the sentence is the same.
        about.sort_unstable();
        let ids: Vec<&ChildId> = about.iter().collect();
        let actions = remedies.into_iter().map(|remedy| match remedy {
            Remedy::Action(action) => action,
            Remedy::OnEach(verb, text) => Action::command(text, kubectl::on_all(verb, &ids)),
        });
        Problem {
            what: format!("{}{says}", named(&about)),
            because,
            actions: actions.collect(),
            unready: about.first().filter(|_| is_unready).cloned(),
        }
    }
}

/// One problem for the same trouble of several children, in the order of the first of each.
pub(super) fn merged(troubles: Vec<Trouble>) -> Vec<Problem> {
    let mut kept: Vec<Trouble> = Vec::new();
    for mut trouble in troubles {
        match kept.iter_mut().find(|known| known.is_same_as(&trouble)) {
            Some(known) => {
                trouble.about.retain(|id| !known.about.contains(id));
                known.about.append(&mut trouble.about);
            }
            None => kept.push(trouble),
        }
    }
    kept.into_iter().map(Trouble::into_problem).collect()
}

/// `Pod ns/a and 39 more `
fn named(about: &[ChildId]) -> String {
    let Some(ChildId { ty, key }) = about.first() else { return String::new() };
    let more = match about.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let colon = if about.len() == 1 { "" } else { ":" };
    format!("{} {key}{more}{colon} ", ty.kind())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{K8sType, ObjectKey};

    fn pod(name: &str) -> ChildId {
        let ty = K8sType::namespaced("v1", "Pod", "pods");
        ChildId { ty, key: ObjectKey::namespaced("ns", name) }
    }

    #[test]
    fn the_same_of_many_children_is_one_line_with_a_count() {
        let foreign = |name: &str| {
            Trouble::of(&pod(name), "belongs to somebody else").cured_on_each("delete", "Delete it")
        };
        let other = Trouble::of(&pod("x"), "was refused").because("no");
        let problems = merged(vec![foreign("c"), other, foreign("b"), foreign("a"), foreign("c")]);
        let what: Vec<&str> = problems.iter().map(|it| it.what.as_str()).collect();
        assert_eq!(what, ["Pod ns/a and 2 more: belongs to somebody else", "Pod ns/x was refused"]);
        let command = problems[0].actions[0].command.as_deref();
        assert_eq!(command, Some("kubectl delete pods a b c -n ns"));
    }
}
