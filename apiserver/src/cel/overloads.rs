//! The functions that an expression may call, as the real server declares them.
//!
//! `data/cel.tsv` is printed by `celtruth -declarations`: function, overload, style, parameters, result. The order of
//! overloads matters.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock},
};

use super::ty::Type;

/// One way to call a function.
#[derive(Debug)]
pub(super) struct Overload {
    pub(super) id: Arc<str>,
    /// Whether the first parameter stands before the name.
    pub(super) is_member: bool,
    pub(super) parameters: Vec<Type>,
    pub(super) result: Type,
}

/// The function that only patches may call, and its declaration.
pub(super) const ESCAPE_KEY: &str = "jsonpatch.escapeKey";
const PATCH_FUNCTION: &str =
    "jsonpatch.escapeKey\tstring_jsonpatch_escapeKey_string\tglobal\tstring\tstring";

static FUNCTIONS: LazyLock<HashMap<&str, Vec<Overload>>> = LazyLock::new(|| {
    let mut functions: HashMap<_, Vec<_>> = HashMap::new();
    for line in include_str!("../../data/cel.tsv").lines().chain([PATCH_FUNCTION]) {
        if let Some((name, overload)) = parse(line) {
            functions.entry(name).or_default().push(overload);
        }
    }
    functions
});

/// The overloads of a function, if there is one of that name.
pub(super) fn find(function: &str) -> Option<&'static [Overload]> {
    FUNCTIONS.get(function).map(Vec::as_slice)
}

fn parse(line: &'static str) -> Option<(&'static str, Overload)> {
    let mut columns = line.split('\t');
    let (name, id, style) = (columns.next()?, columns.next()?, columns.next()?);
    let parameters = columns.next()?.split_whitespace().map(type_of).collect();
    let result = type_of(columns.next()?);
    Some((name, Overload { id: id.into(), is_member: style == "member", parameters, result }))
}

fn type_of(text: &str) -> Type {
    let Some((name, inner)) = text.strip_suffix(')').and_then(|text| text.split_once('(')) else {
        return simple(text);
    };
    match (name, inner.split_once(',')) {
        ("list", _) => Type::list(type_of(inner)),
        ("optional_type", _) => Type::optional(type_of(inner)),
        ("type", _) => Type::Type(Some(Arc::new(type_of(inner)))),
        // The first part of a pair is never a type with parts.
        ("map", Some((key, value))) => Type::map(type_of(key), type_of(value)),
        _ => Type::Named(text.into()),
    }
}

fn simple(name: &str) -> Type {
    if let Some(parameter) = name.strip_prefix('$') {
        return Type::Parameter(parameter.into());
    }
    match name {
        "dyn" => Type::Dyn,
        "bool" => Type::Bool,
        "int" => Type::Int,
        "uint" => Type::Uint,
        "double" => Type::Double,
        "string" => Type::String,
        "bytes" => Type::Bytes,
        "duration" => Type::Duration,
        "timestamp" => Type::Timestamp,
        _ => Type::Named(name.into()),
    }
}

/// The type that an identifier names, such as `int`.
pub(super) fn named_type(name: &str) -> Option<Type> {
    Some(match name {
        "bool" | "int" | "uint" | "double" | "string" | "bytes" => simple(name),
        "list" => Type::list(Type::Dyn),
        "map" => Type::map(Type::Dyn, Type::Dyn),
        "null_type" => Type::Null,
        "type" => Type::Type(None),
        "optional_type" => Type::optional(Type::Dyn),
        "google.protobuf.Duration" => Type::Duration,
        "google.protobuf.Timestamp" => Type::Timestamp,
        "kubernetes.Quantity" | "kubernetes.URL" | "kubernetes.Semver" | "net.IP" | "net.CIDR" => {
            Type::Named(name.into())
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_declaration_is_read() {
        let read: usize = FUNCTIONS.values().map(Vec::len).sum();
        assert_eq!(read, include_str!("../../data/cel.tsv").lines().count() + 1);
        let overloads = find("getQuery").unwrap();
        assert_eq!(overloads[0].result.to_string(), "map(string, list(string))");
        let index = find("_[_]").unwrap();
        assert_eq!(index[3].parameters[0].to_string(), "optional_type(map(K, V))");
    }
}
