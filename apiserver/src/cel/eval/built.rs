//! Lists, maps and objects that an expression builds.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    super::{
        node::Node,
        value::{Outcome, Val, error},
    },
    Run,
};
use crate::cel::value::{Constructed, Key, List, Map};

impl<'a> Run<'a> {
    pub(super) fn list(&mut self, elements: &'a [Node], optional: &[usize]) -> Outcome<'a> {
        let mut items = Vec::with_capacity(elements.len());
        for (at, element) in elements.iter().enumerate() {
            let value = match self.eval(element) {
                Ok(value) => value,
                Err(failure) => {
                    self.spend(10)?;
                    return Err(failure);
                }
            };
            match value {
                Val::Optional(value) if optional.contains(&at) => {
                    items.extend(value.map(|value| Val::clone(&value)));
                }
                value => items.push(value),
            }
        }
        self.spend(10)?;
        Ok(Val::List(List::own(items)))
    }

    pub(super) fn map(&mut self, entries: &'a [(Node, Node, bool)]) -> Outcome<'a> {
        let mut map = BTreeMap::new();
        for (key, value, optional) in entries {
            let both = self.eval(key).and_then(|key| Ok((key, self.eval(value)?)));
            let (key, value) = match both {
                Ok(both) => both,
                Err(failure) => {
                    self.spend(30)?;
                    return Err(failure);
                }
            };
            let Some(known) = Key::of(&key) else {
                return error(format!("unsupported key type: {}", key.type_name()));
            };
            match value {
                Val::Optional(value) if *optional => {
                    value.map(|value| map.insert(known, Val::clone(&value)));
                }
                value => {
                    map.insert(known, value);
                }
            }
        }
        self.spend(30)?;
        Ok(Val::Map(Map::own(map)))
    }

    pub(super) fn object(
        &mut self,
        name: &Arc<str>,
        given: &'a [(Arc<str>, Node, bool)],
    ) -> Outcome<'a> {
        let mut fields = BTreeMap::new();
        for (field, value, optional) in given {
            match self.eval(value) {
                Ok(Val::Optional(value)) if *optional => {
                    value.map(|value| fields.insert(Arc::clone(field), Val::clone(&value)));
                }
                Ok(value) => {
                    fields.insert(Arc::clone(field), value);
                }
                Err(failure) => {
                    self.spend(40)?;
                    return Err(failure);
                }
            }
        }
        self.spend(40)?;
        Ok(Val::Constructed(Arc::new(Constructed { name: Arc::clone(name), fields })))
    }
}
