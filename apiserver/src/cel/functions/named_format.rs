//! Formats of names by their name: `format.dns1123Label().validate(text)`.

use crate::cel::{
    scalar::named_format::FORMATS,
    value::{Outcome, Val, no_overload},
};

/// `format.named(name)` and `format.<name>()`.
pub(super) fn find<'a>(function: &str, args: &[Val<'a>]) -> Outcome<'a> {
    let of = |name: &str| FORMATS.iter().find(|format| format.name == name);
    match (function, args) {
        ("format.named", [Val::String(name)]) => {
            Ok(of(name).map_or(Val::Optional(None), |format| Val::some(Val::Format(format))))
        }
        (function, []) => {
            let name = function.trim_start_matches("format.");
            of(name).map_or_else(no_overload, |format| Ok(Val::Format(format)))
        }
        _ => no_overload(),
    }
}

/// The errors of a text, if there are any.
pub(super) fn validate<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    let [Val::Format(format), Val::String(text)] = args else { return no_overload() };
    let errors = (format.errors)(text);
    Ok(if errors.is_empty() { Val::Optional(None) } else { Val::some(Val::texts(errors)) })
}
