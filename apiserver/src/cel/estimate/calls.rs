//! The most that a call can cost, by the sizes of its arguments.

use super::{Entries, Estimate, size::Range};
use crate::cel::{
    node::{Call, Kind, Node},
    ty::Type,
    value::Val,
};

const STRING: f64 = 0.1;
const PATTERN: f64 = 0.25;
/// The size of the patterns of named formats.
const LONGEST_FORMAT: f64 = 128.0;

/// The cost of one overload, and the size of what it returns.
struct Estimated {
    cost: Range,
    size: Option<Range>,
}

impl Estimated {
    fn of(cost: Range) -> Self {
        Self { cost, size: None }
    }

    fn sized(cost: Range, size: Range) -> Self {
        Self { cost, size: Some(size) }
    }
}

impl Estimate<'_> {
    pub(super) fn call(&mut self, node: &Node, call: &Call) -> Range {
        if let ("dyn", [arg]) = (&*call.function, call.args.as_slice()) {
            let cost = self.cost(arg).plus(Range::fixed(1));
            self.copy_sizes(node, arg);
            return cost;
        }
        let costs: Vec<_> = call.args.iter().map(|arg| self.cost(arg)).collect();
        // The real server adds the cost of the target of a member outside of the union of the overloads.
        let mut total = Range::none();
        let mut size: Option<Range> = None;
        for overload in &call.overloads {
            let estimated = self.overload(node, call, overload, &costs);
            total = total.union(estimated.cost);
            size = match (size, estimated.size) {
                (Some(known), Some(other)) => Some(known.union(other)),
                (known, other) => known.or(other),
            };
            if let Some(step) = match &**overload {
                "index_list" => Some("@items"),
                "index_map" => Some("@values"),
                _ => None,
            } {
                size = self.entry_sizes(&call.args[0]).map(|entries| entries.value);
                let mut path = self.path(&call.args[0]);
                path.push(step.into());
                self.paths.insert(node.id, path);
            }
            if size.is_none() {
                size = self.size(node);
            }
        }
        if call.overloads.is_empty() {
            return Range::fixed(0);
        }
        if let Some(size) = size {
            self.sizes.insert(node.id, size);
        }
        total
    }

    fn overload(&mut self, node: &Node, call: &Call, overload: &str, costs: &[Range]) -> Estimated {
        let args = call.args.as_slice();
        let sum = costs.iter().fold(Range::fixed(0), |sum, cost| sum.plus(*cost));
        match (overload, costs) {
            ("logical_and" | "logical_or", [first, second]) => {
                let max = first.plus(*second).max;
                return Estimated::of(Range { min: first.min, max });
            }
            ("conditional", [condition, yes, no]) => {
                let size = self.size_or_unknown(&args[1]).union(self.size_or_unknown(&args[2]));
                let entries = union(self.entry_sizes(&args[1]), self.entry_sizes(&args[2]));
                entries.map(|entries| self.entries.insert(node.id, entries));
                return Estimated::sized(condition.plus(yes.union(*no)), size);
            }
            _ => {}
        }
        let own = self.own_cost(node, call, overload, args);
        Estimated { cost: own.cost.plus(sum), size: own.size }
    }

    /// The cost without that of the arguments.
    fn own_cost(&mut self, node: &Node, call: &Call, overload: &str, args: &[Node]) -> Estimated {
        let mut size =
            |at: usize| args.get(at).map_or(Range::UNKNOWN, |arg| self.size_or_unknown(arg));
        let one = Range::fixed(1);
        match &*call.function {
            "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => {
                return self.list_traversal(&args[0]);
            }
            "url" => return Estimated::sized(size(0).scaled(STRING), size(0)),
            "lowerAscii" | "upperAscii" | "substring" | "trim" => {
                return Estimated::sized(size(0).scaled(STRING), size(0));
            }
            "replace" if args.len() >= 3 => {
                let replaced = replaced(size(0), size(1), size(2));
                return Estimated::sized(size(0).scaled(2.0 * STRING), replaced);
            }
            "split" => {
                let limit = args.get(2).and_then(|arg| arg.constant.as_ref());
                let max = match limit {
                    #[expect(clippy::cast_sign_loss, reason = "the real server wraps too")]
                    Some(Val::Int(limit)) => *limit as u64,
                    _ => size(0).max,
                };
                return Estimated::sized(size(0).scaled(2.0 * STRING), Range { min: 0, max });
            }
            "join" => return self.join(args),
            "find" | "findAll" => {
                let max = size(0).max;
                let cost = size(0).plus(one).scaled(STRING).times(size(1).scaled(PATTERN));
                return Estimated::sized(cost, Range { min: 0, max });
            }
            "ip" if overload == "cidr_ip" => return Estimated::of(one),
            "cidr" | "isIP" | "isCIDR" | "ip" | "quantity" | "isQuantity" | "semver"
            | "isSemver" => return Estimated::of(size(0).scaled(STRING)),
            "ip.isCanonical" => return Estimated::of(size(0).scaled(2.0 * STRING)),
            "containsIP" | "containsCIDR" => {
                let bytes = Range { min: 4, max: 16 };
                let mut cost = bytes.plus(bytes).scaled(STRING);
                if &*call.function == "containsCIDR" {
                    cost = cost.plus(bytes.scaled(STRING)).plus(one);
                }
                if overload.ends_with("_string") {
                    cost = cost.plus(size(1).scaled(STRING));
                }
                return Estimated::of(cost);
            }
            "validate" => {
                return Estimated::of(size(1).scaled(STRING).scaled(LONGEST_FORMAT * PATTERN));
            }
            "_==_" if is_of_library(args) => return Estimated::of(one),
            "slice"
            | "lists.range"
            | "reverse"
            | "flatten"
            | "distinct"
            | "sort"
            | "@sortByAssociatedKeys" => return self.new_list(call, args),
            "sets.contains" | "sets.intersects" => {
                return Estimated::of(size(0).times(size(1)).scaled(1.0).plus(one));
            }
            "sets.equivalent" => {
                return Estimated::of(size(0).times(size(1)).scaled(2.0).plus(one));
            }
            _ => {}
        }
        self.by_overload(node, overload, args)
    }

    fn by_overload(&mut self, node: &Node, overload: &str, args: &[Node]) -> Estimated {
        let mut size =
            |at: usize| args.get(at).map_or(Range::UNKNOWN, |arg| self.size_or_unknown(arg));
        let one = Range::fixed(1);
        Estimated::of(match overload {
            "string_format" => size(0).scaled(STRING),
            "starts_with_string" | "ends_with_string" => size(1).scaled(STRING),
            "string_to_bytes" => {
                let of = size(0);
                let size = Range { min: of.min, max: of.max.wrapping_mul(4) };
                return Estimated::sized(of.scaled(STRING), size);
            }
            "bytes_to_string" => {
                let of = size(0);
                return Estimated::sized(of.scaled(STRING), Range { min: of.min / 4, max: of.max });
            }
            "strings_quote" => {
                let of = size(0);
                let max = of.max.wrapping_mul(2).wrapping_add(2);
                let size = Range { min: of.min.wrapping_add(2), max };
                return Estimated::sized(of.scaled(STRING), size);
            }
            "in_list" => size(1).scaled(1.0),
            "matches_string" | "matches" => {
                size(0).plus(one).scaled(STRING).times(size(1).scaled(PATTERN))
            }
            "contains_string" => size(0).scaled(STRING).times(size(1).scaled(STRING)),
            "add_string" | "add_bytes" | "add_list" => {
                let total = size(0).plus(size(1));
                let entries = union(self.entry_sizes(&args[0]), self.entry_sizes(&args[1]));
                entries.map(|entries| self.entries.insert(node.id, entries));
                let cost = if overload == "add_list" { one } else { total.scaled(STRING) };
                return Estimated::sized(cost, total);
            }
            "less_string"
            | "greater_string"
            | "less_equals_string"
            | "greater_equals_string"
            | "less_bytes"
            | "greater_bytes"
            | "less_equals_bytes"
            | "greater_equals_bytes"
            | "equals"
            | "not_equals" => {
                let max = size(0).max.min(size(1).max);
                Range { min: u64::from(max > 0), max }.scaled(STRING)
            }
            _ => one,
        })
    }

    fn list_traversal(&mut self, target: &Node) -> Estimated {
        let size = self.size_or_unknown(target);
        let Type::List(element) = &target.ty else {
            return Estimated::of(size.scaled(STRING));
        };
        let mut cost = Range::fixed(1);
        if matches!(**element, Type::String | Type::Bytes) {
            cost = cost.plus(self.element_size(target).scaled(STRING));
        }
        Estimated::of(size.times(cost))
    }

    fn element_size(&self, list: &Node) -> Range {
        let mut path = self.path(list);
        if path.is_empty() {
            return Range::UNKNOWN;
        }
        path.push("@items".into());
        self.declared_size(&path).unwrap_or(Range::UNKNOWN)
    }

    fn join(&mut self, args: &[Node]) -> Estimated {
        let list = self.size_or_unknown(&args[0]);
        let mut size = list.times(self.element_size(&args[0]));
        if let Some(separator) = args.get(1) {
            let separator = self.size_or_unknown(separator);
            let count = Range { min: list.min.saturating_sub(1), max: list.max.saturating_sub(1) };
            size = size.plus(separator.times(count));
        }
        Estimated::sized(size.scaled(STRING), size)
    }

    fn new_list(&mut self, call: &Call, args: &[Node]) -> Estimated {
        let constant =
            |at: usize, other: u64| match args.get(at).map(|arg| (&arg.kind, &arg.constant)) {
                Some((Kind::Literal, Some(Val::Int(value)))) => u64::try_from(*value).unwrap_or(0),
                _ => other,
            };
        let mut factor = 1.0;
        let size = match &*call.function {
            "lists.range" => Range::fixed(constant(0, u64::MAX)),
            "slice" => {
                let max = self.size_or_unknown(&args[0]).max;
                Range::fixed(constant(2, max).wrapping_sub(constant(1, 0)))
            }
            "flatten" => {
                #[expect(clippy::cast_precision_loss, reason = "as the real server")]
                let depth = constant(1, if args.len() == 2 { u64::MAX } else { 1 }) as f64;
                factor = depth;
                self.size_or_unknown(&args[0])
            }
            "reverse" => self.size_or_unknown(&args[0]),
            function => {
                let keys = &args[usize::from(function == "@sortByAssociatedKeys")];
                factor = match &keys.ty {
                    Type::List(element)
                        if function != "distinct"
                            && matches!(**element, Type::String | Type::Bytes) =>
                    {
                        2.0 + STRING
                    }
                    _ => 2.0,
                };
                let size = self.size_or_unknown(keys);
                size.times(size)
            }
        };
        Estimated::sized(size.scaled(factor).plus(Range::fixed(11)), size)
    }
}

/// The size after replacement: as often as possible, or as rarely.
fn replaced(text: Range, old: Range, new: Range) -> Range {
    let (max_count, max_kept) = if old.min == 0 {
        (text.max.saturating_add(1), text.max)
    } else if new.max <= old.min {
        (0, text.max)
    } else {
        (text.max.div_ceil(old.min), 0)
    };
    let (min_count, min_kept) = if old.max == 0 {
        (text.min.saturating_add(1), text.min)
    } else if old.max <= new.min {
        (0, text.min)
    } else {
        (text.min.div_ceil(old.max), 0)
    };
    let count = Range { min: min_count, max: max_count };
    count.times(new).plus(Range { min: min_kept, max: max_kept })
}

fn union(a: Option<Entries>, b: Option<Entries>) -> Option<Entries> {
    let (a, b) = (a?, b?);
    Some(Entries { is_list: a.is_list, key: a.key.union(b.key), value: a.value.union(b.value) })
}

fn is_of_library(args: &[Node]) -> bool {
    match args {
        [a, b] => a.ty == b.ty && matches!(a.ty, Type::Named(_)),
        _ => false,
    }
}
