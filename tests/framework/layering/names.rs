//! Resolves a path in a module to the module that defines its item, through every `use`, or to another crate.

use super::{
    crate_tree::{CrateTree, ModulePath},
    module::{Mention, Module},
};

/// What a path resolves to.
#[derive(Debug, PartialEq)]
pub(crate) enum Target {
    /// An item that is defined in this module.
    Item(ModulePath),
    /// The module itself.
    Module(ModulePath),
    /// An item of another crate, by its full path.
    Foreign(Vec<String>),
}

impl CrateTree {
    /// Resolves a path that a module uses.
    pub(crate) fn target(&self, module: &[String], mention: &Mention) -> Target {
        match self.find(module, &mention.names, mention.glob, 0) {
            Target::Module(all) if mention.glob => Target::Item(all),
            target => target,
        }
    }

    /// `is_prefix`: the path continues, so a module is preferred to a function of the same name.
    fn find(&self, module: &[String], names: &[String], is_prefix: bool, depth: usize) -> Target {
        let (first, rest) = names.split_first().map_or(("", names), |(first, rest)| (first, rest));
        match first {
            "crate" => self.walk(&[], rest, is_prefix, depth),
            "self" => self.find_above(module, rest, is_prefix, depth),
            "super" => self.find_above(parent_of(module), rest, is_prefix, depth),
            _ if self.knows(module, first) => self.walk(module, names, is_prefix, depth),
            _ => Target::Foreign(names.to_vec()),
        }
    }

    fn find_above(&self, at: &[String], rest: &[String], is_prefix: bool, depth: usize) -> Target {
        match rest.split_first() {
            Some((first, rest)) if first == "super" => {
                self.find_above(parent_of(at), rest, is_prefix, depth)
            }
            _ => self.walk(at, rest, is_prefix, depth),
        }
    }

    fn knows(&self, module: &[String], name: &str) -> bool {
        self.modules.get(module).is_some_and(|module| {
            module.children.contains(name)
                || module.defined.contains(name)
                || imports_of(module, name).next().is_some()
        })
    }

    /// Resolves names from a module. `depth` bounds chains of imports.
    fn walk(&self, at: &[String], names: &[String], is_prefix: bool, depth: usize) -> Target {
        let (Some((name, rest)), Some(module)) = (names.split_first(), self.modules.get(at)) else {
            return Target::Module(at.to_vec());
        };
        let is_prefix_here = is_prefix || !rest.is_empty();
        let child = [at, std::slice::from_ref(name)].concat();
        let is_child = self.modules.contains_key(&child);
        if is_child && (is_prefix_here || !self.is_item(at, name)) {
            return self.walk(&child, rest, is_prefix, depth);
        }
        let imports = imports_of(module, name).filter(|_| depth < 16);
        let meant = imports.map(|import| self.find(at, &import.names, is_prefix_here, depth + 1));
        match meant.max_by_key(|target| is_prefix_here == matches!(target, Target::Module(_))) {
            Some(Target::Module(there)) => self.walk(&there, rest, is_prefix, depth + 1),
            Some(Target::Foreign(path)) => Target::Foreign([&path, rest].concat()),
            Some(item) => item,
            None => self.through_globs(at, name, rest, is_prefix, depth),
        }
    }

    /// Resolves a name that is neither defined here nor imported by name through the glob imports.
    fn through_globs(
        &self,
        at: &[String],
        name: &String,
        rest: &[String],
        is_prefix: bool,
        depth: usize,
    ) -> Target {
        let module = &self.modules[at];
        let globs = module.globs.iter().filter(|_| depth < 16 && !module.defined.contains(name));
        let names = [std::slice::from_ref(name), rest].concat();
        globs
            .filter_map(|glob| match self.find(at, &glob.names, true, depth + 1) {
                Target::Module(there) if self.knows(&there, name) => Some(there),
                _ => None,
            })
            .map(|there| self.walk(&there, &names, is_prefix, depth + 1))
            .next()
            .unwrap_or_else(|| Target::Item(at.to_vec()))
    }

    fn is_item(&self, module: &[String], name: &str) -> bool {
        let module = &self.modules[module];
        module.defined.contains(name) || imports_of(module, name).next().is_some()
    }
}

fn parent_of(module: &[String]) -> &[String] {
    module.split_last().map_or(&[], |(_, parent)| parent)
}

/// The imports of a name. `use serde;` imports a crate of the same name, which resolves nothing.
fn imports_of<'a>(module: &'a Module, name: &'a str) -> impl Iterator<Item = &'a Mention> {
    let imports = module.imports.get(name).into_iter().flatten();
    imports.filter(move |import| import.names[0] != name)
}
