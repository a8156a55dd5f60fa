//! Objects as Rust types: each is parsed at the first access, and once.

use std::{
    any::Any,
    sync::{Arc, OnceLock},
};

use crate::object::ParseAsError;

/// The parsed objects of a list, by the Rust types that were asked for; mostly one. Clones share what
/// was parsed before.
#[derive(Clone, Default)]
pub(super) struct Parsed(OnceLock<Arc<AsType>>);

/// What the objects are as one Rust type.
pub(super) type Slots<C> = [OnceLock<Result<C, ParseAsError>>];

struct AsType {
    /// A boxed list of [`Slots`].
    slots: Box<dyn Any + Send + Sync>,
    others: Parsed,
}

impl Parsed {
    /// One slot for each of `count` objects.
    pub(super) fn slots<C: Send + Sync + 'static>(&self, count: usize) -> &Slots<C> {
        let known = self.0.get_or_init(|| Arc::new(AsType::of::<C>(count)));
        match known.slots.downcast_ref::<Vec<OnceLock<Result<C, ParseAsError>>>>() {
            Some(slots) => slots,
            None => known.others.slots(count),
        }
    }

    /// Drops what was parsed; to be called when the objects change.
    pub(super) fn forget(&mut self) {
        self.0.take();
    }
}

impl AsType {
    fn of<C: Send + Sync + 'static>(count: usize) -> Self {
        let slots: Vec<OnceLock<Result<C, ParseAsError>>> =
            std::iter::repeat_with(OnceLock::new).take(count).collect();
        Self { slots: Box::new(slots), others: Parsed::default() }
    }
}
