//! List and map literals whose parts have different types, which the real server refuses.

use cel::{
    IdedExpr,
    common::ast::{EntryExpr, Expr},
};

use super::ty::Type;

/// The parts of list and map literals whose type is not that of the first, except below `format`.
pub(super) fn mixed_literals(
    expr: &IdedExpr,
    type_of: &dyn Fn(u64) -> Type,
) -> Vec<(u64, Type, Type)> {
    let differing = |parts: Vec<u64>| -> Option<(u64, Type, Type)> {
        let mut parts = parts.into_iter().map(|id| (id, type_of(id).unwrapped().0));
        let (_, first) = parts.next()?;
        parts.find(|(_, ty)| *ty != first).map(|(id, ty)| (id, first, ty))
    };
    let mut mixed = Vec::new();
    let inner: Vec<&IdedExpr> = match &expr.expr {
        Expr::Call(call) if call.func_name == "format" => Vec::new(),
        Expr::Call(call) => call.target.as_deref().into_iter().chain(&call.args).collect(),
        Expr::Select(select) => vec![&select.operand],
        Expr::List(list) => {
            mixed.extend(differing(list.elements.iter().map(|element| element.id).collect()));
            list.elements.iter().collect()
        }
        Expr::Map(map) => {
            let entries = map.entries.iter().filter_map(|entry| match &entry.expr {
                EntryExpr::MapEntry(entry) => Some(entry),
                EntryExpr::StructField(_) => None,
            });
            let entries: Vec<_> = entries.collect();
            mixed.extend(differing(entries.iter().map(|entry| entry.key.id).collect()));
            mixed.extend(differing(entries.iter().map(|entry| entry.value.id).collect()));
            entries.iter().flat_map(|entry| [&entry.key, &entry.value]).collect()
        }
        Expr::Struct(object) => {
            let fields = object.entries.iter().filter_map(|entry| match &entry.expr {
                EntryExpr::StructField(field) => Some(&field.value),
                EntryExpr::MapEntry(_) => None,
            });
            fields.collect()
        }
        Expr::Comprehension(fold) => {
            vec![&fold.iter_range, &fold.accu_init, &fold.loop_cond, &fold.loop_step, &fold.result]
        }
        _ => Vec::new(),
    };
    mixed.extend(inner.into_iter().flat_map(|inner| mixed_literals(inner, type_of)));
    mixed
}
