//! The most that an expression can cost for the largest object, as the real server estimates it.
//!
//! The estimate decides which rules a definition may have, so it is the same step by step. A size that nothing bounds is
//! the largest number.

mod calls;
mod size;

use std::{collections::HashMap, sync::Arc};

use super::{
    node::{Fold, Kind, Node},
    ty::Type,
    value::Val,
};
use crate::cel::ty::Declared;
use size::Range;

/// The most that the expression can cost.
pub(super) fn most(node: &Node, declared: &Arc<Declared>) -> u64 {
    let mut estimate = Estimate {
        declared,
        paths: HashMap::new(),
        sizes: HashMap::new(),
        entries: HashMap::new(),
        locals: Vec::new(),
    };
    estimate.cost(node).max
}

/// A path through the declaration, from a variable.
type Path = Vec<Arc<str>>;

/// The sizes of keys and of values.
#[derive(Debug, Clone, Copy)]
struct Entries {
    is_list: bool,
    key: Range,
    value: Range,
}

struct Local {
    name: Arc<str>,
    path: Path,
    size: Option<Range>,
    entries: Option<Entries>,
}

struct Estimate<'a> {
    declared: &'a Arc<Declared>,
    paths: HashMap<u64, Path>,
    sizes: HashMap<u64, Range>,
    entries: HashMap<u64, Entries>,
    locals: Vec<Local>,
}

impl Estimate<'_> {
    fn cost(&mut self, node: &Node) -> Range {
        match &node.kind {
            Kind::Literal => Range::fixed(0),
            Kind::TypeName => {
                self.paths.insert(node.id, vec!["type".into()]);
                Range::fixed(1)
            }
            Kind::Variable(name) => {
                let path = self
                    .local(name)
                    .map_or_else(|| vec![Arc::clone(name)], |local| local.path.clone());
                self.paths.insert(node.id, path);
                Range::fixed(1)
            }
            Kind::Select { operand, test: true, .. } => self.cost(operand),
            Kind::Select { operand, field, test: false } => {
                let mut sum = self.cost(operand);
                if matches!(operand.ty, Type::Map(_) | Type::Object(_) | Type::Parameter(_)) {
                    sum = sum.plus(Range::fixed(1));
                }
                let mut path = self.path(operand);
                path.push(Arc::clone(field));
                self.paths.insert(node.id, path);
                sum
            }
            Kind::Call(call) => self.call(node, call),
            Kind::List { elements, .. } => self.list(node, elements),
            Kind::Map { entries } => self.map(node, entries),
            // No rule about the values of a definition constructs objects.
            Kind::Object { .. } => Range::fixed(40),
            Kind::Fold(fold) => self.fold(node, fold),
        }
    }

    fn list(&mut self, node: &Node, elements: &[Node]) -> Range {
        let mut sum = Range::fixed(10);
        let mut value = Range::none();
        for element in elements {
            sum = sum.plus(self.cost(element));
            value = value.union(self.size_or_unknown(element));
        }
        if elements.is_empty() {
            value.min = 0;
        }
        self.entries.insert(node.id, Entries { is_list: true, key: Range::fixed(1), value });
        sum
    }

    fn map(&mut self, node: &Node, entries: &[(Node, Node, bool)]) -> Range {
        let mut sum = Range::fixed(30);
        let (mut keys, mut values) = (Range::none(), Range::none());
        for (key, value, _) in entries {
            sum = sum.plus(self.cost(key)).plus(self.cost(value));
            keys = keys.union(self.size_or_unknown(key));
            values = values.union(self.size_or_unknown(value));
        }
        if entries.is_empty() {
            (keys.min, values.min) = (0, 0);
        }
        self.entries.insert(node.id, Entries { is_list: false, key: keys, value: values });
        sum
    }

    fn fold(&mut self, node: &Node, fold: &Fold) -> Range {
        let mut sum = self.cost(&fold.range).plus(self.cost(&fold.init));
        let accumulator = Local {
            name: Arc::clone(&fold.accumulator),
            path: self.path(&fold.init),
            size: self.size(&fold.init),
            entries: self.entry_sizes(&fold.init),
        };
        self.locals.push(accumulator);
        if fold.is_binding() {
            sum = sum.plus(self.cost(&fold.result));
            self.locals.pop();
            self.copy_sizes(node, &fold.result);
            return sum;
        }
        let outer = self.locals.len();
        self.push_loop(fold);
        let turn = self.cost(&fold.condition).plus(self.cost(&fold.step));
        self.locals.truncate(outer);
        sum = sum.plus(self.cost(&fold.result));
        self.locals.pop();
        let count = self.size_or_unknown(&fold.range);
        self.fold_sizes(node, fold, count);
        sum.plus(count.times(turn))
    }

    fn push_loop(&mut self, fold: &Fold) {
        let entries = self.entry_sizes(&fold.range);
        let is_list =
            entries.map_or(matches!(fold.range.ty, Type::List(_)), |entries| entries.is_list);
        let path = self.path(&fold.range);
        let local = |name: &Arc<str>, step: &str, size| {
            let path = path.iter().cloned().chain([Arc::from(step)]).collect();
            Local { name: Arc::clone(name), path, size, entries: None }
        };
        let key = entries.map(|entries| entries.key);
        let value = entries.map(|entries| entries.value);
        let (values, keys) = if is_list { ("@items", "@indices") } else { ("@values", "@keys") };
        let locals = match &fold.second {
            Some(second) => vec![local(&fold.first, keys, key), local(second, values, value)],
            None if is_list => vec![local(&fold.first, values, value)],
            None => vec![local(&fold.first, keys, key)],
        };
        self.locals.extend(locals);
    }

    fn fold_sizes(&mut self, node: &Node, fold: &Fold, count: Range) {
        match fold.init.kind {
            Kind::Literal => {
                if let Some(size) = self.size(&fold.init) {
                    self.sizes.insert(node.id, size);
                }
            }
            Kind::List { .. } | Kind::Map { .. } => {
                self.sizes.insert(node.id, count);
                if let Some(entries) = self.entry_sizes(&fold.step) {
                    self.entries.insert(node.id, entries);
                }
            }
            _ => {}
        }
    }

    fn copy_sizes(&mut self, to: &Node, from: &Node) {
        if let Some(size) = self.size(from) {
            self.sizes.insert(to.id, size);
        }
        if let Some(entries) = self.entry_sizes(from) {
            self.entries.insert(to.id, entries);
        }
    }

    fn local(&self, name: &str) -> Option<&Local> {
        self.locals.iter().rev().find(|local| &*local.name == name)
    }

    fn path(&self, node: &Node) -> Path {
        if let Kind::Variable(name) = &node.kind
            && let Some(local) = self.local(name)
        {
            return local.path.clone();
        }
        self.paths.get(&node.id).cloned().unwrap_or_default()
    }

    fn size_or_unknown(&mut self, node: &Node) -> Range {
        self.size(node).unwrap_or(Range::UNKNOWN)
    }

    /// The size of the value, as far as it is known.
    fn size(&mut self, node: &Node) -> Option<Range> {
        if let Some(size) = self.sizes.get(&node.id) {
            return Some(*size);
        }
        if let Some(size) = literal_size(node) {
            return Some(size);
        }
        if let Some(size) = self.declared_size(&self.path(node)) {
            self.sizes.insert(node.id, size);
            return Some(size);
        }
        if node.ty.is_scalar() {
            return Some(Range::fixed(1));
        }
        match &node.kind {
            Kind::Variable(name) => self.local(name)?.size,
            _ => None,
        }
    }

    fn entry_sizes(&self, node: &Node) -> Option<Entries> {
        if let Some(entries) = self.entries.get(&node.id) {
            return Some(*entries);
        }
        match &node.kind {
            Kind::Variable(name) => self.local(name)?.entries,
            _ => None,
        }
    }

    /// What the schema says of the size at a path.
    fn declared_size(&self, path: &[Arc<str>]) -> Option<Range> {
        let mut at = self.declared;
        // The first step is the variable itself.
        for step in path.get(1..)? {
            at = match &**step {
                "@items" | "@values" => at.element()?,
                "@keys" if at.is_map() => return Some(Range { min: 0, max: 0 }),
                "@keys" => return None,
                name => at.field(name)?,
            };
        }
        Some(Range { min: 0, max: at.max_elements })
    }
}

fn literal_size(node: &Node) -> Option<Range> {
    match (&node.kind, &node.constant) {
        (Kind::Literal, Some(Val::String(_) | Val::Bytes(_))) => {
            node.constant.as_ref().and_then(Val::size).map(Range::fixed)
        }
        (Kind::Literal, Some(_)) => Some(Range::fixed(1)),
        (Kind::List { elements, .. }, _) => Some(Range::fixed(elements.len() as u64)),
        (Kind::Map { entries }, _) => Some(Range::fixed(entries.len() as u64)),
        _ => None,
    }
}
