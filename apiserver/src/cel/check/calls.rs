//! Which functions a call means, and the type that it returns.

use std::sync::Arc;

use cel::common::ast::{CallExpr, Expr, LiteralValue, operators};

use super::{
    super::{
        overloads::{self, ESCAPE_KEY, Overload},
        ty::Type,
    },
    Checker, Constructs, qualified_name,
};

impl Checker<'_> {
    pub(super) fn call(&mut self, id: u64, call: &CallExpr) -> Type {
        if call.func_name == operators::OPT_SELECT {
            return self.optional_select(id, call);
        }
        let args: Vec<_> = call.args.iter().map(|arg| self.visit(arg)).collect();
        let Some(target) = call.target.as_deref() else {
            return match overloads::find(&call.func_name) {
                Some(overloads) => {
                    self.resolve_call(id, &call.func_name, overloads, false, call, &args)
                }
                None => self.undeclared(id, &call.func_name),
            };
        };
        if let Some(prefix) = qualified_name(target) {
            let name = format!("{prefix}.{}", call.func_name);
            let is_known = name != ESCAPE_KEY || self.constructs == Constructs::Patches;
            if let Some(overloads) = overloads::find(&name).filter(|_| is_known) {
                self.found.qualified.insert(id, name.clone());
                return self.resolve_call(id, &name, overloads, false, call, &args);
            }
        }
        let mut all = vec![self.visit(target)];
        all.extend(args);
        match overloads::find(&call.func_name) {
            Some(overloads) => self.resolve_call(id, &call.func_name, overloads, true, call, &all),
            None => self.undeclared(id, &call.func_name),
        }
    }

    fn optional_select(&mut self, id: u64, call: &CallExpr) -> Type {
        let [operand, field] = call.args.as_slice() else { return Type::Error };
        let Expr::Literal(LiteralValue::String(name)) = &field.expr else {
            let message = "unsupported optional field selection: field is not a name";
            return self.report(field.id, message.to_owned());
        };
        self.found.types.insert(field.id, Type::String);
        let ty = self.select_field(id, operand, name.inner(), true);
        self.found.overloads.insert(id, vec!["select_optional_field".into()]);
        ty
    }

    fn resolve_call(
        &mut self,
        id: u64,
        name: &str,
        overloads: &[Overload],
        is_member: bool,
        call: &CallExpr,
        args: &[Type],
    ) -> Type {
        if matches!(name, operators::LOGICAL_AND | operators::LOGICAL_OR) {
            return self.logical(id, call, args, overloads);
        }
        let mut result: Option<Type> = None;
        let mut ids = Vec::new();
        for overload in overloads.iter().filter(|overload| overload.is_member == is_member) {
            let signature: Vec<_> =
                overload.parameters.iter().chain([&overload.result]).cloned().collect();
            let mut parameters = self.found.bindings.instantiate(&signature);
            let Some(returned) = parameters.pop() else { continue };
            if !self.found.bindings.assign_all(args, &parameters) {
                continue;
            }
            ids.push(Arc::clone(&overload.id));
            let returned = self.resolve(&returned);
            result = Some(match result {
                None => returned,
                Some(first) if first == Type::Dyn || first == returned => first,
                Some(_) => Type::Dyn,
            });
        }
        let Some(result) = result else {
            return self.no_overload(id, name, args, is_member);
        };
        self.found.overloads.insert(id, ids);
        result
    }

    fn logical(&mut self, id: u64, call: &CallExpr, args: &[Type], overloads: &[Overload]) -> Type {
        let mut fits = true;
        for (arg, ty) in call.args.iter().zip(args) {
            if !self.found.bindings.assign(ty, &Type::Bool) {
                self.mismatch(arg.id, &Type::Bool, ty);
                fits = false;
            }
        }
        let ids = overloads.iter().map(|overload| Arc::clone(&overload.id)).collect();
        self.found.overloads.insert(id, ids);
        if fits { Type::Bool } else { Type::Error }
    }
}
