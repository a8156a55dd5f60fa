//! The content of one module: its imports, definitions and declarations, and the paths in its code with
//! their lines. Comments and code that is compiled for tests only do not count.
//!
//! In macro calls and in the strings of `#[serde(...)]` every path of at least two names counts.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
    path::{Path, PathBuf},
};

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::{
    Attribute, Item, ItemMod, ItemUse, Macro, Meta, Token, UseTree, Visibility, ext::IdentExt,
    punctuated::Punctuated, visit, visit::Visit,
};

use super::crate_tree::ModulePath;

/// A path in a file.
#[derive(Clone)]
pub(crate) struct Mention {
    pub(crate) names: Vec<String>,
    pub(crate) line: usize,
    /// Whether it is a glob import: `use a::*`.
    pub(crate) glob: bool,
}

/// A module, which is a file or a block in one.
#[derive(Default)]
pub(crate) struct Module {
    pub(crate) path: ModulePath,
    pub(crate) file: PathBuf,
    /// The modules that are declared here and have a file of their own.
    pub(crate) declared: Vec<String>,
    /// All modules that are declared here.
    pub(crate) children: BTreeSet<String>,
    pub(crate) defined: BTreeSet<String>,
    /// By local name. One name may import two items: a function and a module.
    pub(crate) imports: BTreeMap<String, Vec<Mention>>,
    pub(crate) globs: Vec<Mention>,
    /// Paths that are used here without an import, or from one.
    pub(crate) written: Vec<Mention>,
}

impl Module {
    /// The module of a file, and the inline modules in it.
    pub(crate) fn read(path: ModulePath, file: &Path, text: &str) -> Vec<Self> {
        let syntax = syn::parse_file(text)
            .unwrap_or_else(|error| panic!("{} is not valid Rust: {error}", file.display()));
        let mut reader = Reader::new(path, file);
        reader.visit_file(&syntax);
        reader.blocks.push(reader.module);
        reader.blocks
    }

    /// All paths, imports too.
    pub(crate) fn mentions(&self) -> impl Iterator<Item = &Mention> {
        self.imports.values().flatten().chain(&self.globs).chain(&self.written)
    }
}

struct Reader {
    module: Module,
    blocks: Vec<Module>,
}

impl Reader {
    fn new(path: ModulePath, file: &Path) -> Self {
        let module = Module { path, file: file.to_owned(), ..Module::default() };
        Self { module, blocks: Vec::new() }
    }

    fn block(&mut self, module: &ItemMod, items: &[Item]) {
        let path = [self.module.path.clone(), vec![module.ident.to_string()]].concat();
        let mut reader = Self::new(path, &self.module.file);
        for item in items {
            reader.visit_item(item);
        }
        self.blocks.append(&mut reader.blocks);
        self.blocks.push(reader.module);
    }

    fn import(&mut self, tree: &UseTree, before: &[String]) {
        let and = |name: &Ident| {
            let name =
                Some(name.unraw().to_string()).filter(|name| name != "self" || before.is_empty());
            before.iter().cloned().chain(name).collect::<Vec<_>>()
        };
        match tree {
            UseTree::Path(path) => self.import(&path.tree, &and(&path.ident)),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree, before)),
            UseTree::Name(leaf) => {
                let names = and(&leaf.ident);
                self.import_leaf(names.last().cloned(), &names, &leaf.ident);
            }
            UseTree::Rename(leaf) => {
                let given = leaf.rename.unraw().to_string();
                self.import_leaf(Some(given), &and(&leaf.ident), &leaf.ident);
            }
            UseTree::Glob(leaf) => {
                let line = leaf.star_token.spans[0].start().line;
                self.module.globs.push(Mention { names: before.to_vec(), line, glob: true });
            }
        }
    }

    fn import_leaf(&mut self, given: Option<String>, names: &[String], at: &Ident) {
        let line = at.span().start().line;
        let mention = Mention { names: names.to_vec(), line, glob: false };
        self.module.imports.entry(given.unwrap_or_default()).or_default().push(mention);
    }

    /// The paths in the tokens of a macro: names with `::` between them.
    fn tokens(&mut self, tokens: TokenStream) {
        let (mut path, mut colons) = (Vec::new(), 0);
        for token in tokens {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == ':' => {
                    colons += 1;
                    continue;
                }
                TokenTree::Ident(name) => {
                    if colons != 2 {
                        self.write(&mem::take(&mut path));
                    }
                    path.push(name);
                }
                TokenTree::Group(group) => {
                    self.write(&mem::take(&mut path));
                    self.tokens(group.stream());
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => self.write(&mem::take(&mut path)),
            }
            colons = 0;
        }
        self.write(&path);
    }

    /// A single name is defined here or imported, so it is skipped.
    fn write(&mut self, path: &[Ident]) {
        if let [first, _, ..] = path {
            let names = path.iter().map(|name| name.unraw().to_string()).collect();
            let line = first.span().start().line;
            self.module.written.push(Mention { names, line, glob: false });
        }
    }

    /// `serialize_with = "wire::time"` names a function.
    fn strings(&mut self, tokens: TokenStream) {
        for token in tokens {
            if let TokenTree::Literal(literal) = token
                && let Ok(text) = syn::parse2::<syn::LitStr>(TokenTree::from(literal).into())
                && let Ok(path) = text.parse::<syn::Path>()
            {
                self.visit_path(&path);
            }
        }
    }
}

impl Visit<'_> for Reader {
    fn visit_item(&mut self, item: &Item) {
        if !is_test(attributes_of(item)) {
            self.module.defined.extend(name_of(item));
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, module: &ItemMod) {
        let name = module.ident.unraw().to_string();
        match &module.content {
            Some((_, items)) => self.block(module, items),
            None => self.module.declared.push(name.clone()),
        }
        self.module.children.insert(name);
    }

    fn visit_item_use(&mut self, item: &ItemUse) {
        self.import(&item.tree, &[]);
    }

    fn visit_impl_item(&mut self, item: &syn::ImplItem) {
        let is_for_tests = matches!(item, syn::ImplItem::Fn(method) if is_test(&method.attrs));
        if !is_for_tests {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_path(&mut self, path: &syn::Path) {
        let names: Vec<_> = path.segments.iter().map(|segment| segment.ident.clone()).collect();
        self.write(&names);
        visit::visit_path(self, path);
    }

    /// `pub(in crate::a)` uses nothing of it.
    fn visit_visibility(&mut self, _: &Visibility) {}

    fn visit_macro(&mut self, call: &Macro) {
        self.visit_path(&call.path);
        self.tokens(call.tokens.clone());
    }

    fn visit_attribute(&mut self, attribute: &Attribute) {
        self.visit_path(attribute.path());
        if let Meta::List(list) = &attribute.meta {
            self.tokens(list.tokens.clone());
            if list.path.is_ident("serde") {
                self.strings(list.tokens.clone());
            }
        }
    }
}

/// Whether an item is compiled for tests only.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let condition = attribute.path().is_ident("cfg").then(|| attribute.parse_args::<Meta>());
        attribute.path().is_ident("test")
            || condition.is_some_and(|it| it.is_ok_and(|it| needs_test(&it)))
    })
}

/// `test`, `all(test, ..)`; not `any(test, ..)` nor `not(test)`.
fn needs_test(condition: &Meta) -> bool {
    let all = Punctuated::<Meta, Token![,]>::parse_terminated;
    match condition {
        Meta::List(list) if list.path.is_ident("all") => {
            list.parse_args_with(all).is_ok_and(|all| all.iter().any(needs_test))
        }
        other => other.path().is_ident("test"),
    }
}

fn attributes_of(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn name_of(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        _ => return None,
    };
    Some(name.unraw().to_string())
}
