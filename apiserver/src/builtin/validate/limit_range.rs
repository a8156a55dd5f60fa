//! Limit ranges: bounds and defaults that do not contradict each other.

use std::collections::BTreeSet;

use super::{
    Quantity,
    field::{Errors, Field},
    resource_name,
};
use crate::schema::{FieldError, FieldPath};

/// The limits of a range, at most one of each type.
pub(super) fn limits(limits: &Field, errors: &mut Errors) {
    let mut known = BTreeSet::new();
    for limit in limits.items() {
        let ty = limit.string("type");
        type_name(&ty, errors);
        if !known.insert(ty.text()) {
            errors.push(ty.duplicate());
        }
        one(&limit, ty.text(), errors);
    }
}

fn type_name(ty: &Field, errors: &mut Errors) {
    let before = errors.len();
    ty.is_qualified(errors);
    let is_standard = matches!(ty.text(), "Pod" | "Container" | "PersistentVolumeClaim");
    if errors.len() == before && !ty.text().contains('/') && !is_standard {
        errors.push(ty.invalid("must be a standard limit type or fully qualified"));
    }
}

fn one(limit: &Field, ty: &str, errors: &mut Errors) {
    let mut names = BTreeSet::new();
    let mut checked = |field: &str, errors: &mut Errors| {
        for (name, amount) in limit.child(field).entries() {
            limited(ty, name, amount.at(), errors);
            names.insert(name);
        }
    };
    checked("max", errors);
    checked("min", errors);
    let of_pods = ty == "Pod";
    for field in ["default", "defaultRequest"] {
        if !of_pods {
            checked(field, errors);
        } else if !limit.child(field).is_empty() {
            let detail = "may not be specified when `type` is 'Pod'";
            errors.push(limit.child(field).forbidden(detail));
        }
    }
    let has_storage = |field: &str| limit.child(field).given("storage").is_some();
    if ty == "PersistentVolumeClaim" && !has_storage("min") && !has_storage("max") {
        let detail =
            "either minimum or maximum storage value is required, but neither was provided";
        errors.push(limit.child("limits").required(detail));
    }
    checked("maxLimitRequestRatio", errors);
    for name in names {
        bounds(limit, name, of_pods, errors);
    }
}

fn limited(ty: &str, name: &str, at: &FieldPath, errors: &mut Errors) {
    if matches!(ty, "Pod" | "Container") {
        resource_name::of_container(name, at, errors);
    } else {
        resource_name::any(name, at, errors);
    }
}

/// The bounds and defaults of one resource.
fn bounds(limit: &Field, name: &str, of_pods: bool, errors: &mut Errors) {
    let amount = |field: &str| {
        let is_ignored = of_pods && field.starts_with("default");
        limit.child(field).child(name).quantity().filter(|_| !is_ignored)
    };
    let (min, max) = (amount("min"), amount("max"));
    let (default, request) = (amount("default"), amount("defaultRequest"));
    let mut refuse = |field: &str, shown: Quantity, detail: String| {
        let at = limit.child(field).at().key(name);
        errors.push(FieldError::invalid(&at, &shown.to_string().into(), detail));
    };
    let pairs = [
        ("min", "min value", min, "max value", max, Shown::First),
        ("defaultRequest", "min value", min, "default request value", request, Shown::Second),
        ("defaultRequest", "default request value", request, "max value", max, Shown::First),
        (
            "defaultRequest",
            "default request value",
            request,
            "default limit value",
            default,
            Shown::First,
        ),
        ("default", "min value", min, "default value", default, Shown::First),
        ("default", "default value", default, "max value", max, Shown::Second),
    ];
    for (field, smaller, less, larger, more, shown) in pairs {
        if let (Some(less), Some(more)) = (less, more)
            && less.compare(more).is_gt()
        {
            let detail = format!("{smaller} {less} is greater than {larger} {more}");
            refuse(field, if shown == Shown::First { less } else { more }, detail);
        }
    }
    if let Some(ratio) = amount("maxLimitRequestRatio") {
        if ratio.compare(Quantity::whole(1)).is_lt() {
            refuse("maxLimitRequestRatio", ratio, format!("ratio {ratio} is less than 1"));
        }
        if let (Some(min), Some(max)) = (min, max) {
            let most = max.as_float() / min.as_float();
            if ratio.as_float() > most {
                let detail = format!("ratio {ratio} is greater than max/min = {most:.6}");
                refuse("maxLimitRequestRatio", ratio, detail);
            }
        }
    }
    if let (Some(default), Some(request)) = (default, request)
        && !resource_name::may_overcommit(name)
        && default.compare(request).is_ne()
    {
        let detail = format!(
            "default value {default} must equal to defaultRequest value {request} in {name}"
        );
        refuse("defaultRequest", request, detail);
    }
}

/// Which of two amounts that contradict each other a message shows.
#[derive(PartialEq)]
enum Shown {
    First,
    Second,
}
