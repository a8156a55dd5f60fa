//! Expressions that select devices.

use std::sync::{Arc, LazyLock};

use super::{
    check::Constructs,
    issue,
    rule::compile,
    ty::{Declared, Type},
};

/// What the real parser says about nothing, for which there is no place to show.
const NOTHING: &str = "compilation failed: ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>' expecting \
                       {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, \
                       BYTES, IDENTIFIER}";

/// Why an expression selects no devices.
pub(crate) fn device_selector_error(source: &str) -> Option<String> {
    if source.is_empty() {
        return Some(NOTHING.to_owned());
    }
    let device = ("device".to_owned(), device().ty());
    match compile(source, vec![device], Constructs::Nothing) {
        Err(issues) => Some(format!("compilation failed: {}", issue::print(source, issues))),
        Ok(expression) if !matches!(expression.node.ty, Type::Bool | Type::Dyn) => {
            let ty = &expression.node.ty;
            Some(format!("must evaluate to bool or the unknown type, not {ty}"))
        }
        Ok(expression) => expression.instantiated("program").err(),
    }
}

/// The type of the one variable.
fn device() -> Arc<Declared> {
    static DEVICE: LazyLock<Arc<Declared>> = LazyLock::new(|| {
        let by_domain = |value| {
            let by_name = Type::map(Type::String, value);
            Declared::of_type(Type::map(Type::String, by_name))
        };
        let fields = vec![
            ("driver".to_owned(), Declared::of_type(Type::String)),
            ("attributes".to_owned(), by_domain(Type::Dyn)),
            ("capacity".to_owned(), by_domain(Type::Named("kubernetes.Quantity".into()))),
            ("allowMultipleAllocations".to_owned(), Declared::of_type(Type::Bool)),
        ];
        Declared::named("kubernetes.DRADevice", fields)
    });
    Arc::clone(&DEVICE)
}
