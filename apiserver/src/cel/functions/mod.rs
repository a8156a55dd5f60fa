//! The functions of the standard library and of Kubernetes.
//!
//! The compiler has checked the arguments, except where they are dynamic: what does not fit is "no such overload".

mod arithmetic;
mod authorizer;
mod convert;
mod lists;
mod named_format;
mod network;
mod optionals;
mod print;
mod quantities;
mod regexes;
mod semver;
mod strings;
mod time;
mod urls;

use super::{
    overloads::ESCAPE_KEY,
    ty::Type,
    value::{Outcome, Val, no_overload},
};

pub(super) use self::regexes::parse as parse_pattern;

/// Calls a function that looks at all of its arguments.
pub(super) fn call<'a>(function: &str, args: &[Val<'a>]) -> Outcome<'a> {
    if let [Val::Authorizer(asking), args @ ..] = args {
        return authorizer::call(function, asking, args);
    }
    match function {
        "_+_" | "_-_" | "_*_" | "_/_" | "_%_" | "-_" | "!_" => arithmetic::call(function, args),
        "bool" | "bytes" | "double" | "duration" | "dyn" | "int" | "string" | "timestamp"
        | "type" | "uint" => convert::call(function, args),
        "size" => match args {
            [Val::Ip(_) | Val::Cidr(_)] => no_overload(),
            [value] => match value.size() {
                Some(size) => Ok(Val::Int(i64::try_from(size).unwrap_or(i64::MAX))),
                None => no_overload(),
            },
            _ => no_overload(),
        },
        "@in" => match args {
            [value, Val::List(list)] => list.contains(value).map(Val::Bool),
            [key, Val::Map(map)] => Ok(Val::Bool(map.find(key)?.is_some())),
            _ => no_overload(),
        },
        "indexOf" | "lastIndexOf" if matches!(args.first(), Some(Val::List(_))) => {
            lists::call(function, args)
        }
        "charAt" | "contains" | "endsWith" | "indexOf" | "join" | "lastIndexOf" | "lowerAscii"
        | "replace" | "split" | "startsWith" | "strings.quote" | "substring" | "trim"
        | "upperAscii" => strings::call(function, args),
        "format" => print::format(args),
        "matches" | "find" | "findAll" => regexes::call(function, args),
        "distinct"
        | "first"
        | "flatten"
        | "isSorted"
        | "last"
        | "lists.range"
        | "max"
        | "min"
        | "reverse"
        | "slice"
        | "sort"
        | "sum"
        | "@sortByAssociatedKeys"
        | "sets.contains"
        | "sets.equivalent"
        | "sets.intersects" => lists::call(function, args),
        "hasValue"
        | "optional.none"
        | "optional.of"
        | "optional.ofNonZeroValue"
        | "optional.unwrap"
        | "unwrapOpt"
        | "value" => optionals::call(function, args),
        "isGreaterThan" | "isLessThan" | "compareTo" if matches!(args, [Val::Semver(_), ..]) => {
            semver::call(function, args)
        }
        "semver" | "isSemver" | "major" | "minor" | "patch" => semver::call(function, args),
        "quantity" | "isQuantity" | "isInteger" | "asInteger" | "asApproximateFloat" | "sign"
        | "isGreaterThan" | "isLessThan" | "compareTo" | "add" | "sub" => {
            quantities::call(function, args)
        }
        "url" | "isURL" | "getScheme" | "getHost" | "getHostname" | "getPort"
        | "getEscapedPath" | "getQuery" => urls::call(function, args),
        "ip"
        | "isIP"
        | "ip.isCanonical"
        | "family"
        | "isUnspecified"
        | "isLoopback"
        | "isLinkLocalMulticast"
        | "isLinkLocalUnicast"
        | "isGlobalUnicast"
        | "cidr"
        | "isCIDR"
        | "containsIP"
        | "containsCIDR"
        | "masked"
        | "prefixLength" => network::call(function, args),
        "validate" => named_format::validate(args),
        ESCAPE_KEY => strings::escape_key(args),
        _ if function.starts_with("format.") => named_format::find(function, args),
        _ if function.starts_with("get") => time::call(function, args),
        _ => no_overload(),
    }
}

/// The name that a type has as a value.
pub(super) fn name_of_type(ty: &Type) -> String {
    match ty {
        Type::Null => "null_type".to_owned(),
        Type::Duration => "google.protobuf.Duration".to_owned(),
        Type::Timestamp => "google.protobuf.Timestamp".to_owned(),
        Type::List(_) => "list".to_owned(),
        Type::Map(_) => "map".to_owned(),
        Type::Optional(_) => "optional_type".to_owned(),
        other => other.to_string(),
    }
}
