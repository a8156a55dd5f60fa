//! The messages of all Go structs: their fields by number.
//!
//! JSON shows the fields of an embedded struct beside those of its holder; in protobuf they are in a
//! message of their own.

use std::{
    collections::{BTreeMap, HashMap},
    sync::LazyLock,
};

use crate::builtin::{self, GoStruct, GoType, WireForm};

/// The Go struct of a schema, which may hold schemas.
pub(super) const SCHEMA: &str = "apiextensions.v1.JSONSchemaProps";

/// One message.
#[derive(Debug)]
pub(super) struct Layout {
    /// The name of the Go struct, as errors call it.
    pub(super) name: &'static str,
    /// The fields by number, which is the order in which they are written.
    pub(super) slots: BTreeMap<u32, Slot>,
}

/// What has a number in a message.
#[derive(Debug)]
pub(super) enum Slot {
    Field(Field),
    Embedded(Layout),
}

/// One field.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    /// The name in JSON.
    pub(super) name: &'static str,
    pub(super) ty: &'static GoType,
    pub(super) form: WireForm,
}

/// The message of a struct.
pub(super) fn of(name: &str) -> &'static Layout {
    LAYOUTS.get(name).expect("the data file has every struct that it refers to")
}

static LAYOUTS: LazyLock<HashMap<&'static str, Layout>> = LazyLock::new(|| {
    builtin::structs().iter().map(|(name, go_struct)| (*name, layout(name, go_struct))).collect()
});

fn layout(name: &'static str, go_struct: &'static GoStruct) -> Layout {
    let mut layout = Layout::new(name.rsplit('.').next().unwrap_or_default());
    for (name, field) in &go_struct.fields {
        if let Some(wire) = &field.wire {
            layout.insert(&wire.numbers, Field { name, ty: &field.ty, form: wire.form });
        }
    }
    layout
}

impl Layout {
    fn new(name: &'static str) -> Self {
        Self { name, slots: BTreeMap::new() }
    }

    fn insert(&mut self, numbers: &[u32], field: Field) {
        match numbers {
            [] => {}
            [number] => {
                self.slots.insert(*number, Slot::Field(field));
            }
            [number, inner @ ..] => {
                let embedded = || Slot::Embedded(Self::new(self.name));
                let slot = self.slots.entry(*number).or_insert_with(embedded);
                if let Slot::Embedded(layout) = slot {
                    layout.insert(inner, field);
                }
            }
        }
    }
}
