//! A compiled expression: the parsed one with types, resolved functions and folded constants.

use std::{collections::BTreeMap, sync::Arc};

use cel::{
    IdedExpr,
    common::ast::{ComprehensionExpr, EntryExpr, Expr, LiteralValue},
};

use super::{
    check::Checked,
    functions,
    overloads::find,
    ty::Type,
    value::{Failure, Key, List, Map, Outcome, Val},
};

/// A part of an expression.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) id: u64,
    pub(super) ty: Type,
    pub(super) kind: Kind,
    /// The value, if it is known without an object.
    pub(super) constant: Option<Val<'static>>,
}

#[derive(Debug)]
pub(super) enum Kind {
    Literal,
    /// The name of a type.
    TypeName,
    Variable(Arc<str>),
    Select {
        operand: Box<Node>,
        field: Arc<str>,
        test: bool,
    },
    Call(Call),
    List {
        elements: Vec<Node>,
        optional: Vec<usize>,
    },
    Map {
        entries: Vec<(Node, Node, bool)>,
    },
    /// An object of a type that can be constructed.
    Object {
        name: Arc<str>,
        fields: Vec<(Arc<str>, Node, bool)>,
    },
    Fold(Box<Fold>),
}

/// A call; the target of a member function is the first argument.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) function: Arc<str>,
    pub(super) overloads: Vec<Arc<str>>,
    pub(super) is_member: bool,
    pub(super) args: Vec<Node>,
}

/// A loop, or the binding of a name.
#[derive(Debug)]
pub(super) struct Fold {
    pub(super) range: Node,
    pub(super) first: Arc<str>,
    pub(super) second: Option<Arc<str>>,
    pub(super) accumulator: Arc<str>,
    pub(super) init: Node,
    pub(super) condition: Node,
    pub(super) step: Node,
    pub(super) result: Node,
}

impl Fold {
    /// Whether this gives a value a name, and loops over nothing.
    pub(super) fn is_binding(&self) -> bool {
        &*self.accumulator != super::parse::ACCUMULATOR
    }
}

impl Call {
    /// The overload, if the compiler knows which one it is.
    pub(super) fn overload(&self) -> &str {
        match self.overloads.as_slice() {
            [one] => one,
            _ => "",
        }
    }
}

/// Builds the compiled expression.
pub(super) fn lower(expr: &IdedExpr, checked: &Checked) -> Node {
    let ty = checked.type_of(expr.id);
    let (kind, constant) = match &expr.expr {
        _ if checked.type_names.contains_key(&expr.id) => {
            let name = functions::name_of_type(&checked.type_names[&expr.id]);
            (Kind::TypeName, Some(Val::Type(name.into())))
        }
        Expr::Literal(literal) => (Kind::Literal, Some(literal_value(literal))),
        Expr::Ident(name) => (Kind::Variable(name.as_str().into()), None),
        Expr::Select(select) => {
            let operand = Box::new(lower(&select.operand, checked));
            let field = select.field.as_str().into();
            (Kind::Select { operand, field, test: select.test }, None)
        }
        Expr::Call(_) => lower_call(expr, checked),
        Expr::List(list) => {
            let elements: Vec<_> =
                list.elements.iter().map(|element| lower(element, checked)).collect();
            let optional = list.optional_indices.clone();
            let constant = constant_list(&elements, &optional);
            (Kind::List { elements, optional }, constant)
        }
        Expr::Map(map) => {
            let entries = map.entries.iter().filter_map(|entry| match &entry.expr {
                EntryExpr::MapEntry(entry) => {
                    let (key, value) = (lower(&entry.key, checked), lower(&entry.value, checked));
                    Some((key, value, entry.optional))
                }
                EntryExpr::StructField(_) => None,
            });
            let entries: Vec<_> = entries.collect();
            let constant = constant_map(&entries);
            (Kind::Map { entries }, constant)
        }
        Expr::Comprehension(fold) => (Kind::Fold(Box::new(lower_fold(fold, checked))), None),
        Expr::Struct(object) => {
            let name = object.type_name.as_str().into();
            let fields = object.entries.iter().filter_map(|entry| match &entry.expr {
                EntryExpr::StructField(field) => {
                    let value = lower(&field.value, checked);
                    Some((field.field.as_str().into(), value, field.optional))
                }
                EntryExpr::MapEntry(_) => None,
            });
            (Kind::Object { name, fields: fields.collect() }, None)
        }
        Expr::Unspecified => (Kind::Literal, Some(Val::Null)),
    };
    Node { id: expr.id, ty, kind, constant }
}

fn lower_fold(fold: &ComprehensionExpr, checked: &Checked) -> Fold {
    Fold {
        range: lower(&fold.iter_range, checked),
        first: fold.iter_var.as_str().into(),
        second: fold.iter_var2.as_deref().filter(|name| !name.is_empty()).map(Into::into),
        accumulator: fold.accu_var.as_str().into(),
        init: lower(&fold.accu_init, checked),
        condition: lower(&fold.loop_cond, checked),
        step: lower(&fold.loop_step, checked),
        result: lower(&fold.result, checked),
    }
}

fn lower_call(expr: &IdedExpr, checked: &Checked) -> (Kind, Option<Val<'static>>) {
    let Expr::Call(call) = &expr.expr else { return (Kind::Literal, None) };
    let overloads = checked.overloads.get(&expr.id).cloned().unwrap_or_default();
    let qualified = checked.qualified.get(&expr.id);
    let function = qualified.map_or(call.func_name.as_str(), String::as_str);
    let target = if qualified.is_some() { None } else { call.target.as_deref() };
    let args = target.into_iter().chain(&call.args).map(|arg| lower(arg, checked)).collect();
    let call = Call { function: function.into(), overloads, is_member: target.is_some(), args };
    let constant = constant_call(&call);
    (Kind::Call(call), constant)
}

/// Conversions of constants are made once.
fn constant_call(call: &Call) -> Option<Val<'static>> {
    call.converted().and_then(Result::ok)
}

impl Call {
    /// Why the conversion of a constant fails, if this is one that does.
    pub(super) fn failing_constant(&self) -> Option<String> {
        match self.converted()? {
            Err(Failure::Error(reason)) => Some(reason),
            _ => None,
        }
    }

    fn converted(&self) -> Option<Outcome<'static>> {
        const CONVERSIONS: [&str; 11] = [
            "bool",
            "bytes",
            "double",
            "duration",
            "dyn",
            "int",
            "string",
            "timestamp",
            "type",
            "uint",
            "list",
        ];
        let [arg] = self.args.as_slice() else { return None };
        if !CONVERSIONS.contains(&&*self.function) || find(&self.function).is_none() {
            return None;
        }
        Some(functions::call(&self.function, &[arg.constant.clone()?]))
    }
}

fn constant_list(elements: &[Node], optional: &[usize]) -> Option<Val<'static>> {
    if !optional.is_empty() {
        return None;
    }
    let constants = elements.iter().map(|element| element.constant.clone());
    Some(Val::List(List::own(constants.collect::<Option<_>>()?)))
}

fn constant_map(entries: &[(Node, Node, bool)]) -> Option<Val<'static>> {
    let mut constants = BTreeMap::new();
    for (key, value, optional) in entries {
        if *optional {
            return None;
        }
        constants.insert(Key::of(key.constant.as_ref()?)?, value.constant.clone()?);
    }
    Some(Val::Map(Map::own(constants)))
}

fn literal_value(literal: &LiteralValue) -> Val<'static> {
    match literal {
        LiteralValue::Boolean(value) => Val::Bool(*value.inner()),
        LiteralValue::Bytes(value) => Val::Bytes(value.inner().into()),
        LiteralValue::Double(value) => Val::Double(*value.inner()),
        LiteralValue::Int(value) => Val::Int(*value.inner()),
        LiteralValue::Null => Val::Null,
        LiteralValue::String(value) => Val::text(value.inner()),
        LiteralValue::UInt(value) => Val::Uint(*value.inner()),
    }
}

impl Node {
    /// Whether a variable occurs in this expression.
    pub(super) fn reads(&self, variable: &str) -> bool {
        let mut found = matches!(&self.kind, Kind::Variable(name) if **name == *variable);
        self.for_each_part(&mut |part| found = found || part.reads(variable));
        found
    }

    /// Visits the parts directly inside.
    pub(super) fn for_each_part(&self, visit: &mut dyn FnMut(&Self)) {
        match &self.kind {
            Kind::Literal | Kind::TypeName | Kind::Variable(_) => {}
            Kind::Select { operand, .. } => visit(operand),
            Kind::Call(call) => call.args.iter().for_each(visit),
            Kind::List { elements, .. } => elements.iter().for_each(visit),
            Kind::Map { entries } => {
                for (key, value, _) in entries {
                    visit(key);
                    visit(value);
                }
            }
            Kind::Object { fields, .. } => fields.iter().for_each(|(_, value, _)| visit(value)),
            Kind::Fold(fold) => {
                for part in [&fold.range, &fold.init, &fold.condition, &fold.step, &fold.result] {
                    visit(part);
                }
            }
        }
    }

    /// Changes the parts directly inside.
    pub(super) fn for_each_part_mut(&mut self, change: &mut dyn FnMut(&mut Self)) {
        match &mut self.kind {
            Kind::Literal | Kind::TypeName | Kind::Variable(_) => {}
            Kind::Select { operand, .. } => change(operand),
            Kind::Call(call) => call.args.iter_mut().for_each(change),
            Kind::List { elements, .. } => elements.iter_mut().for_each(change),
            Kind::Map { entries } => {
                for (key, value, _) in entries {
                    change(key);
                    change(value);
                }
            }
            Kind::Object { fields, .. } => {
                for (_, value, _) in fields {
                    change(value);
                }
            }
            Kind::Fold(fold) => {
                let Fold { range, init, condition, step, result, .. } = &mut **fold;
                for part in [range, init, condition, step, result] {
                    change(part);
                }
            }
        }
    }
}
