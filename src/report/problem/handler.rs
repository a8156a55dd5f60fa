//! What the handler does, and what its operator needs before it is called.

use std::time::Duration;

use super::{
    grant::Grant, kubectl, lacking::Converter, name::renamed, refused::not_served, trouble::Trouble,
};
use crate::{
    history::Action,
    journal::is_made_of,
    object::{K8sType, Quoted},
    operator::RelatedError,
    plan::{ChildId, Refusal},
};

pub(super) fn failed(
    parent: &ChildId,
    message: &Quoted,
    is_permanent: bool,
    retry: Option<Duration>,
) -> Trouble {
    let why = match retry {
        _ if is_permanent => "the handler says that only a change of the parent helps".to_owned(),
        Some(after) => format!("the handler asks to be called again after {} s", after.as_secs()),
        None => "the error may be temporary: the handler is called again".to_owned(),
    };
    let look = Action::text("Correct what the error names where the handler looks");
    let edit =
        Action::command("Correct what the error names in the parent", kubectl::on("edit", parent));
    Trouble::of(parent, format!("has an error of its handler: {message}")).because(why).cured_by(
        (!is_permanent).then_some(look).into_iter().chain([
            edit,
            Action::in_code("Return an error that says what the user has to change"),
        ]),
    )
}

pub(super) fn panicked(parent: &ChildId, message: &Quoted) -> Trouble {
    Trouble::of(parent, format!("made its handler panic: {message}"))
        .because("its children stay as they are, and the handler is called again")
        .cured_by([
            Action::in_code("Return an error where the handler panics"),
            Action::command(
                "Until then change what it does not expect in the parent",
                kubectl::on("edit", parent),
            ),
        ])
}

pub(super) fn timed_out(parent: &ChildId, deadline: Duration, hangs: bool) -> Trouble {
    let seconds = deadline.as_secs_f64();
    let why = if hangs {
        "the parent is not reconciled before the handler returns, and its children stay as they are"
    } else {
        "the call was dropped, its children stay as they are, and the handler is called again"
    };
    Trouble::of(parent, format!("waits for its handler, which took more than {seconds} s"))
        .because(why)
        .because("what a handler waits for is most often another system that does not answer")
        .cured_by([
            Action::text("Look whether the systems answer that the handler calls"),
            Action::command("Correct what makes it wait, if the parent names that", kubectl::on("edit", parent)),
            Action::in_code(
                "Give each call of another system a deadline shorter than `OperatorConfig::handler_deadline`",
            ),
        ])
}

/// Children that cannot be written. None was.
pub(super) fn invalid(parent: &ChildId, refusals: &[Refusal]) -> Vec<Trouble> {
    let trouble = |Refusal { child, why }: &Refusal| {
        let name = child.rsplit(['/', ' ']).next().unwrap_or_default();
        let trouble =
            Trouble::of(parent, format!("has a child that cannot be written: {child}: {why}"))
                .because("no child was written or deleted");
        if is_made_of(name, &parent.key.name) && why.is_about_the_name() {
            trouble
                .because("the name of the child begins with the name of the parent")
                .cured_by([renamed(parent), Action::in_code("Make names with `recipes::NameRule`")])
        } else {
            trouble.cured_by([
                Action::in_code("Return a child that can be written"),
                Action::command(
                    "Or change the parent that it is made from",
                    kubectl::on("edit", parent),
                ),
            ])
        }
    };
    refusals.iter().map(trouble).collect()
}

/// The handler named related objects that cannot be read.
pub(super) fn invalid_related(parent: &ChildId, error: &RelatedError) -> Trouble {
    Trouble::of(parent, format!("asks for objects that cannot be read: {error}"))
        .because("the handler is not called, and its children stay as they are")
        .cured_by([
            Action::in_code("Change what `related` returns, or the configuration of the operator"),
            Action::command("Or change the parent", kubectl::on("edit", parent)),
        ])
}

/// Types that cannot be listed or watched.
pub(super) fn unavailable(parent: &ChildId, why: &str) -> Trouble {
    let otherwise = || "a type that its operator needs cannot be read".to_owned();
    let what = unreadable(why).unwrap_or_else(otherwise);
    Trouble::of(parent, format!("is not reconciled: {what}"))
        .because(why)
        .because("the handler is not called, and its children stay as they are")
        .cured_by(of_operator(why))
}

/// Which type cannot be read, and why not, from the sentence about it.
pub(crate) fn unreadable(why: &str) -> Option<String> {
    if let Some(grant) = Grant::read(why) {
        return Some(format!("the operator may not {} {}", grant.verb, grant.resource_name()));
    }
    if let Some(Converter { kind, .. }) = Converter::down(why) {
        return Some(format!("the conversion webhook of {kind} does not answer"));
    }
    missing_type(why).map(|ty| {
        let (name, version) = (ty.resource_name(), ty.version());
        format!("the API server does not serve {name} in version {version}")
    })
}

/// The same of a parent that is being deleted: during an uninstall a type may be gone for ever.
pub(super) fn before_it_goes(parent: &ChildId, trouble: Trouble) -> Trouble {
    let patch = kubectl::with(
        "patch",
        parent,
        &["--type=merge", "-p", r#"{"metadata":{"finalizers":null}}"#],
    );
    let text = "If the type is gone for ever, as after an uninstall: clean up by hand what `finalize` would, then remove \
                the finalizers";
    trouble
        .because("it is being deleted, and keeps its finalizer until `finalize` has been called")
        .cured_by([Action::command(text, patch)])
}

/// What cures an operator that cannot read a type, from the sentence about it.
pub(crate) fn of_operator(why: &str) -> Vec<Action> {
    if let Some(grant) = Grant::read(why) {
        return vec![grant.action()];
    }
    if let Some(converter) = Converter::down(why) {
        return converter.actions();
    }
    missing_type(why).map(|ty| not_served(&ty)).unwrap_or_default()
}

/// `.. does not serve PLURAL.GROUP in version VERSION: ..`
fn missing_type(why: &str) -> Option<K8sType> {
    let (_, rest) = why.split_once("does not serve ")?;
    let (name, rest) = rest.split_once(" in version ")?;
    let version = rest.split([':', ';', ' ']).next().unwrap_or_default();
    let (plural, group) = name.split_once('.').unwrap_or((name, ""));
    let api_version =
        if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    Some(K8sType::cluster_scoped(&api_version, plural, plural))
}
