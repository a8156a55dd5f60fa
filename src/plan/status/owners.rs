//! Which operator owns what of a status. Values only.

use crate::object::FieldSet;

/// What the operators of a parent own of its status.
#[derive(Debug, Clone, Default)]
pub(crate) struct Beside {
    /// The fields of this operator.
    pub(crate) own: Vec<FieldSet>,
    /// The other operators with their fields.
    pub(crate) others: Vec<(String, Vec<FieldSet>)>,
}

impl Beside {
    /// Whether this operator wrote a condition last.
    pub(super) fn owns_condition(&self, ty: &str) -> bool {
        let of_list = |own: &FieldSet| {
            let list = own.field("conditions")?;
            list.items().iter().find(|item| item.keys.get("type").is_some_and(|it| it == ty))?;
            Some(())
        };
        self.own.iter().any(|own| of_list(own).is_some())
    }
}
