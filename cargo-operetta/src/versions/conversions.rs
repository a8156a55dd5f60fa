//! `From` between a version and the same type one module above, in both directions. Each field is named, so that a field
//! that is added to one of them does not compile until somebody says what becomes of it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use syn::{Fields, GenericArgument, Item, PathArguments, Type};

use super::items::{Found, type_name};

/// A type that is made of versions in a way that is not known here.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{item}` has `{ty}`, which cannot be converted by itself: write the version yourself, or move the types in it to a \
     module that all versions share"
)]
pub(crate) struct Unconvertible {
    item: String,
    ty: String,
}

/// The types that exist in both versions.
struct Types<'a> {
    names: BTreeSet<String>,
    aliases: BTreeMap<String, &'a Type>,
}

pub(super) fn of(found: &Found<'_>, kind: &str, has_status: bool) -> Result<String, Unconvertible> {
    let types = Types::of(found);
    let status = if has_status { ("status", "status: status.map(Into::into)") } else { ("", "") };
    let root = format!(
        "let {kind} {{ metadata, spec, {} }} = old;\nSelf {{ metadata, spec: spec.into(), {} }}",
        status.0, status.1
    );
    let root = root.replace(", }", " }").replace(",  }", " }");
    let mut text = String::new();
    write_both(&mut text, kind, |path| {
        root.replace(&format!("let {kind}"), &format!("let {path}"))
    });
    for item in &found.items {
        let Some(name) = type_name(item) else { continue };
        match item {
            Item::Struct(item) => {
                check_generics(&name, &item.generics)?;
                let (pattern, value) = types.fields(&name, &item.fields)?;
                write_both(&mut text, &name, |path| {
                    format!("let {path}{pattern} = old;\nSelf{value}")
                });
            }
            Item::Enum(item) => {
                check_generics(&name, &item.generics)?;
                let variants = item.variants.iter().map(|variant| {
                    let (pattern, value) = types.fields(&name, &variant.fields)?;
                    Ok((variant.ident.to_string(), pattern, value))
                });
                let variants = variants.collect::<Result<Vec<_>, Unconvertible>>()?;
                write_both(&mut text, &name, |path| {
                    let arms = variants.iter().map(|(variant, pattern, value)| {
                        format!("{path}::{variant}{pattern} => Self::{variant}{value},\n")
                    });
                    format!("match old {{\n{}}}", arms.collect::<String>())
                });
            }
            _ => {}
        }
    }
    Ok(text)
}

/// `body` is given the path of what is converted.
fn write_both(text: &mut String, name: &str, body: impl Fn(&str) -> String) {
    let above = format!("super::{name}");
    for (from, to) in [(name, &*above), (&*above, name)] {
        let body = body(from);
        let _ = write!(
            text,
            "impl From<{from}> for {to} {{\nfn from(old: {from}) -> Self {{\n{body}\n}}\n}}\n\n"
        );
    }
}

impl<'a> Types<'a> {
    fn of(found: &Found<'a>) -> Self {
        let mut types = Self { names: BTreeSet::new(), aliases: BTreeMap::new() };
        for item in &found.items {
            match item {
                Item::Type(alias) => drop(types.aliases.insert(alias.ident.to_string(), &alias.ty)),
                _ => types.names.extend(type_name(item)),
            }
        }
        types
    }

    /// A pattern that binds all fields, and the value with all fields.
    fn fields(&self, item: &str, fields: &Fields) -> Result<(String, String), Unconvertible> {
        let of_field = |name: &str, ty: &Type| {
            self.converted(name, ty)
                .ok_or_else(|| Unconvertible { item: item.to_owned(), ty: text_of(ty) })
        };
        match fields {
            Fields::Unit => Ok((String::new(), String::new())),
            Fields::Unnamed(fields) => {
                let names: Vec<String> =
                    (0..fields.unnamed.len()).map(|at| format!("a{at}")).collect();
                let values =
                    names.iter().zip(&fields.unnamed).map(|(name, it)| of_field(name, &it.ty));
                let values = values.collect::<Result<Vec<_>, _>>()?;
                Ok((format!("({})", names.join(", ")), format!("({})", values.join(", "))))
            }
            Fields::Named(fields) => {
                let mut values = Vec::new();
                let mut names = Vec::new();
                for field in &fields.named {
                    let name = field.ident.as_ref().map(ToString::to_string).unwrap_or_default();
                    let value = of_field(&name, &field.ty)?;
                    values.push(if value == name { value } else { format!("{name}: {value}") });
                    names.push(name);
                }
                let braces = |parts: Vec<String>| format!(" {{ {} }}", parts.join(", "));
                Ok((braces(names), braces(values)))
            }
        }
    }

    /// The value of an expression in the other version; none where it is not known how.
    fn converted(&self, value: &str, ty: &Type) -> Option<String> {
        if !self.is_versioned(ty) {
            return Some(value.to_owned());
        }
        let Type::Path(path) = ty else { return None };
        let last = path.path.segments.last()?;
        let name = last.ident.to_string();
        let PathArguments::AngleBracketed(arguments) = &last.arguments else {
            return match self.aliases.get(&name) {
                Some(ty) => self.converted(value, ty),
                None => Some(format!("{value}.into()")),
            };
        };
        let arguments = arguments.args.iter().map(|it| match it {
            GenericArgument::Type(ty) => Some(ty),
            _ => None,
        });
        let arguments = arguments.collect::<Option<Vec<&Type>>>()?;
        match (&*name, &*arguments) {
            ("Option", [one]) => Some(format!("{value}.map({})", self.function(one)?)),
            ("Box", [one]) => {
                Some(format!("Box::new({})", self.converted(&format!("(*{value})"), one)?))
            }
            ("Vec" | "VecDeque" | "BTreeSet" | "HashSet", [one]) => {
                Some(format!("{value}.into_iter().map({}).collect()", self.function(one)?))
            }
            ("BTreeMap" | "HashMap" | "IndexMap", [key, one]) if !self.is_versioned(key) => {
                let one = self.converted("it", one)?;
                Some(format!("{value}.into_iter().map(|(key, it)| (key, {one})).collect()"))
            }
            _ => None,
        }
    }

    fn function(&self, ty: &Type) -> Option<String> {
        let body = self.converted("it", ty)?;
        Some(if body == "it.into()" { "Into::into".to_owned() } else { format!("|it| {body}") })
    }

    /// Whether it is, or contains, a type that is another one in the other version.
    fn is_versioned(&self, ty: &Type) -> bool {
        let is_one = |word: &str| {
            self.names.contains(word)
                || self.aliases.get(word).is_some_and(|ty| self.is_versioned(ty))
        };
        text_of(ty).split(|it: char| !it.is_alphanumeric() && it != '_').any(is_one)
    }
}

fn check_generics(item: &str, generics: &syn::Generics) -> Result<(), Unconvertible> {
    let unconvertible = || Unconvertible { item: item.to_owned(), ty: format!("{item}<..>") };
    generics.params.is_empty().then_some(()).ok_or_else(unconvertible)
}

/// The tokens of a type.
fn text_of(ty: &Type) -> String {
    use quote::ToTokens;
    ty.to_token_stream().to_string()
}
