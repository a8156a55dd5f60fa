//! The items of a source that a type is made of: structs, enums, and what their attributes name.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use syn::{Item, Type, spanned::Spanned};

/// What `#[kube(..)]` says of a type.
pub(super) struct Attributes {
    pub(super) version: String,
    /// Where the version is in the source, with its quotation marks.
    pub(super) place: Range<usize>,
    pub(super) spec: String,
    pub(super) has_status: bool,
}

/// The attributes of the struct that is the spec of a kind.
pub(super) fn of_kind(file: &syn::File, kind: &str) -> Option<Attributes> {
    let structs = file.items.iter().filter_map(|item| match item {
        Item::Struct(item) => Some(item),
        _ => None,
    });
    structs.into_iter().find_map(|item| {
        let lists = item.attrs.iter().filter(|it| it.path().is_ident("kube"));
        let lists = lists.filter_map(|it| it.meta.require_list().ok());
        let mut values: BTreeMap<String, (String, Range<usize>)> = BTreeMap::new();
        for list in lists {
            values.extend(named_texts(list.tokens.clone()));
        }
        let (version, place) = values.remove("version")?;
        let is_kind = values.get("kind").is_some_and(|(it, _)| it == kind);
        let (spec, has_status) = (item.ident.to_string(), values.contains_key("status"));
        is_kind.then_some(Attributes { version, place, spec, has_status })
    })
}

/// The texts of `name = "text"`, with their places.
fn named_texts(tokens: TokenStream) -> Vec<(String, (String, Range<usize>))> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let of_three = |three: &[TokenTree]| match three {
        [TokenTree::Ident(name), TokenTree::Punct(equal), TokenTree::Literal(text)]
            if equal.as_char() == '=' =>
        {
            let place = text.span().byte_range();
            Some((name.to_string(), (text_of(text)?, place)))
        }
        _ => None,
    };
    tokens.windows(3).filter_map(of_three).collect()
}

fn text_of(literal: &proc_macro2::Literal) -> Option<String> {
    match syn::Lit::new(literal.clone()) {
        syn::Lit::Str(text) => Some(text.value()),
        _ => None,
    }
}

/// The items that are copied, in the order of the source.
pub(super) struct Found<'a> {
    text: &'a str,
    pub(super) items: Vec<&'a Item>,
    /// All names in them that may be imported.
    pub(super) words: Words,
}

/// The names in a piece of source.
#[derive(Default)]
pub(super) struct Words {
    /// Names that do not come after `::`.
    pub(super) names: BTreeSet<String>,
    /// Those that come after it.
    later: BTreeSet<String>,
    /// Those before a parenthesis, and those in texts.
    called: BTreeSet<String>,
}

impl<'a> Found<'a> {
    /// Begins with a struct, and adds what is named by the items that were found, until there is nothing new.
    pub(super) fn from(file: &'a syn::File, text: &'a str, spec: &str) -> Self {
        let mut is_found = vec![false; file.items.len()];
        let mut words = Words::default();
        words.names.insert(spec.to_owned());
        let mut types = BTreeSet::new();
        loop {
            let found_before = is_found.iter().filter(|it| **it).count();
            for (item, is_found) in file.items.iter().zip(&mut is_found) {
                if !*is_found && is_named(item, &words, &types) {
                    *is_found = true;
                    types.extend(type_name(item));
                    words.add(source(text, item).parse().unwrap_or_default());
                }
            }
            if is_found.iter().filter(|it| **it).count() == found_before {
                break;
            }
        }
        let found = file.items.iter().zip(is_found).filter(|(_, is_found)| *is_found);
        Self { text, items: found.map(|(item, _)| item).collect(), words }
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.items.iter().map(|item| source(self.text, item))
    }
}

impl Words {
    /// Documentation is no use of what it names.
    fn add(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (at, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Group(group) if !is_documentation(group) => self.add(group.stream()),
                TokenTree::Ident(name) => {
                    let name = name.to_string();
                    if matches!(tokens.get(at + 1), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis)
                    {
                        self.called.insert(name.clone());
                    }
                    let is_later = at >= 2 && is_path(&tokens[at - 2], &tokens[at - 1]);
                    if is_later { &mut self.later } else { &mut self.names }.insert(name);
                }
                TokenTree::Literal(literal) => {
                    let text = text_of(literal).unwrap_or_default();
                    let is_outside = |letter: char| !letter.is_alphanumeric() && letter != '_';
                    let words = text.split(is_outside).filter(|it| !it.is_empty());
                    self.later.extend(words.map(str::to_owned));
                    self.called.insert(text);
                }
                TokenTree::Group(_) | TokenTree::Punct(_) => {}
            }
        }
    }

    fn has(&self, name: &str) -> bool {
        self.names.contains(name) || self.later.contains(name)
    }
}

fn is_path(first: &TokenTree, second: &TokenTree) -> bool {
    matches!((first, second), (TokenTree::Punct(a), TokenTree::Punct(b))
        if a.as_char() == ':' && a.spacing() == Spacing::Joint && b.as_char() == ':')
}

fn is_documentation(group: &proc_macro2::Group) -> bool {
    group.delimiter() == Delimiter::Bracket
        && matches!(group.stream().into_iter().next(), Some(TokenTree::Ident(name)) if name == "doc")
}

/// Whether an item is used: a type or constant by its name, a function by a call or in an attribute, an `impl` of a trait by
/// its type.
fn is_named(item: &Item, words: &Words, types: &BTreeSet<String>) -> bool {
    match item {
        Item::Struct(_) | Item::Enum(_) | Item::Type(_) => {
            type_name(item).is_some_and(|name| words.has(&name))
        }
        Item::Const(item) => words.has(&item.ident.to_string()),
        Item::Static(item) => words.has(&item.ident.to_string()),
        Item::Fn(item) => words.called.contains(&item.sig.ident.to_string()),
        Item::Impl(item) if item.trait_.is_some() => match &*item.self_ty {
            Type::Path(path) => {
                path.path.get_ident().is_some_and(|it| types.contains(&it.to_string()))
            }
            _ => false,
        },
        _ => false,
    }
}

pub(super) fn type_name(item: &Item) -> Option<String> {
    match item {
        Item::Struct(item) => Some(item.ident.to_string()),
        Item::Enum(item) => Some(item.ident.to_string()),
        Item::Type(item) => Some(item.ident.to_string()),
        _ => None,
    }
}

fn source<'a>(text: &'a str, item: &Item) -> &'a str {
    &text[item.span().byte_range()]
}
