//! Semantic versions.

use std::sync::Arc;

use crate::cel::{
    scalar::semver::{Version, parse, read},
    value::{Outcome, Val, error, no_overload},
};

pub(super) fn call<'a>(function: &str, args: &[Val<'a>]) -> Outcome<'a> {
    match (function, args) {
        ("semver", [Val::String(text)]) => version(parse(text)),
        ("semver", [Val::String(text), Val::Bool(lenient)]) => version(read(text, *lenient)),
        ("isSemver", [Val::String(text)]) => Ok(Val::Bool(parse(text).is_ok())),
        ("isSemver", [Val::String(text), Val::Bool(lenient)]) => {
            Ok(Val::Bool(read(text, *lenient).is_ok()))
        }
        ("major", [Val::Semver(version)]) => Ok(number(version.numbers[0])),
        ("minor", [Val::Semver(version)]) => Ok(number(version.numbers[1])),
        ("patch", [Val::Semver(version)]) => Ok(number(version.numbers[2])),
        ("isGreaterThan", [Val::Semver(a), Val::Semver(b)]) => {
            Ok(Val::Bool(a.precedence(b).is_gt()))
        }
        ("isLessThan", [Val::Semver(a), Val::Semver(b)]) => Ok(Val::Bool(a.precedence(b).is_lt())),
        ("compareTo", [Val::Semver(a), Val::Semver(b)]) => Ok(Val::Int(a.precedence(b) as i64)),
        _ => no_overload(),
    }
}

#[expect(clippy::cast_possible_wrap, reason = "the real server wraps too")]
fn number<'a>(number: u64) -> Val<'a> {
    Val::Int(number as i64)
}

fn version<'a>(version: Result<Version, String>) -> Outcome<'a> {
    version.map_or_else(error, |version| Ok(Val::Semver(Arc::new(version))))
}
