//! Lists: of an object, of an expression, and concatenations that share both.

use std::sync::Arc;

use serde_json::Value;

use super::{
    data::of_data,
    equal::equal,
    val::{Failure, Outcome, Val, error},
};
use crate::schema::{ListType, Schema};

/// A list.
#[derive(Debug, Clone)]
pub(in crate::cel) struct List<'a> {
    items: Items<'a>,
    kind: Kind<'a>,
}

#[derive(Debug, Clone)]
enum Items<'a> {
    /// Elements of an object, and their schema.
    Data(&'a [Value], &'a Schema),
    Own(Arc<Vec<Val<'a>>>),
    /// Two lists after each other, and their length.
    Concat(Arc<(List<'a>, List<'a>)>, usize),
}

/// What distinguishes elements.
#[derive(Debug, Clone, Copy)]
enum Kind<'a> {
    Atomic,
    Set,
    Keyed(&'a [String]),
}

impl<'a> List<'a> {
    /// A list of an object.
    pub(in crate::cel) fn data(
        items: &'a [Value],
        schema: &'a Schema,
        element: &'a Schema,
    ) -> Self {
        let kind = match &schema.list_type {
            ListType::Atomic => Kind::Atomic,
            ListType::Set => Kind::Set,
            ListType::Map(keys) => Kind::Keyed(keys),
        };
        Self { items: Items::Data(items, element), kind }
    }

    /// A list of its own.
    pub(in crate::cel) fn own(items: Vec<Val<'a>>) -> Self {
        Self { items: Items::Own(Arc::new(items)), kind: Kind::Atomic }
    }

    pub(in crate::cel) fn len(&self) -> usize {
        match &self.items {
            Items::Data(items, _) => items.len(),
            Items::Own(items) => items.len(),
            Items::Concat(_, len) => *len,
        }
    }

    /// The element at this index.
    pub(in crate::cel) fn get(&self, index: usize) -> Outcome<'a> {
        if index >= self.len() {
            return error(format!("index out of bounds: {index}"));
        }
        match &self.items {
            Items::Data(items, schema) => match items.get(index) {
                Some(item) => of_data(item, schema),
                None => error(format!("index out of bounds: {index}")),
            },
            Items::Own(items) => match items.get(index) {
                Some(item) => Ok(item.clone()),
                None => error(format!("index out of bounds: {index}")),
            },
            Items::Concat(both, _) => match index.checked_sub(both.0.len()) {
                Some(index) => both.1.get(index),
                None => both.0.get(index),
            },
        }
    }

    /// The element that this value points at.
    pub(in crate::cel) fn index(&self, index: &Val<'_>) -> Outcome<'a> {
        let at = match index {
            Val::Int(at) => *at,
            #[expect(clippy::cast_possible_truncation, reason = "it has no fraction")]
            Val::Double(at) if at.fract() == 0.0 => *at as i64,
            Val::Uint(at) => i64::try_from(*at).unwrap_or(i64::MAX),
            _ => {
                return error(format!("unsupported index type '{}' in list", index.type_name()));
            }
        };
        match usize::try_from(at) {
            Ok(at) => self.get(at),
            Err(_) => error(format!("index out of bounds: {at}")),
        }
    }

    /// The elements in order.
    pub(in crate::cel) fn iter(&self) -> impl Iterator<Item = Outcome<'a>> + '_ {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Whether an element equals the value.
    pub(in crate::cel) fn contains(&self, value: &Val<'a>) -> Result<bool, Failure> {
        let mut failure = None;
        for element in self.iter() {
            match element.and_then(|element| equal(&element, value)) {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                Err(other) => failure = failure.or(Some(other)),
            }
        }
        failure.map_or(Ok(false), Err)
    }

    /// This list and then the other; sets are united, and keyed lists merged.
    pub(in crate::cel) fn concat(mut self, other: Self) -> Result<Self, Failure> {
        match self.kind {
            Kind::Set => return self.united(&other),
            Kind::Keyed(keys) => return self.merged(&other, keys),
            Kind::Atomic => {}
        }
        // The accumulator of a macro is not shared, and grows in place.
        if let (Items::Own(items), 1) = (&mut self.items, other.len())
            && let Some(items) = Arc::get_mut(items)
        {
            items.push(other.get(0)?);
            return Ok(self);
        }
        let len = self.len() + other.len();
        Ok(Self { items: Items::Concat(Arc::new((self, other)), len), kind: Kind::Atomic })
    }

    fn united(&self, other: &Self) -> Result<Self, Failure> {
        let mut items = self.iter().collect::<Result<Vec<_>, _>>()?;
        for element in other.iter() {
            let element = element?;
            if !Self::own(items.clone()).contains(&element)? {
                items.push(element);
            }
        }
        Ok(Self { items: Items::Own(Arc::new(items)), kind: self.kind })
    }

    fn merged(&self, other: &Self, keys: &[String]) -> Result<Self, Failure> {
        let mut items = self.iter().collect::<Result<Vec<_>, _>>()?;
        for element in other.iter() {
            let element = element?;
            match position(&items, &element, keys) {
                Some(at) => items[at] = element,
                None => items.push(element),
            }
        }
        Ok(Self { items: Items::Own(Arc::new(items)), kind: self.kind })
    }

    /// Whether both have equal elements; the order of sets and keyed lists does not matter.
    pub(in crate::cel) fn equals(&self, other: &Self) -> Result<bool, Failure> {
        if self.len() != other.len() {
            return Ok(false);
        }
        match self.kind {
            Kind::Atomic => self.equals_in_order(other),
            Kind::Set => {
                for element in other.iter() {
                    if !self.contains(&element?)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Kind::Keyed(keys) => {
                let items = self.iter().collect::<Result<Vec<_>, _>>()?;
                for element in other.iter() {
                    let element = element?;
                    let Some(at) = position(&items, &element, keys) else { return Ok(false) };
                    if !equal(&items[at], &element)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }

    fn equals_in_order(&self, other: &Self) -> Result<bool, Failure> {
        for (mine, other) in self.iter().zip(other.iter()) {
            if !equal(&mine?, &other?)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Where the last element with the same keys is.
fn position(items: &[Val<'_>], element: &Val<'_>, keys: &[String]) -> Option<usize> {
    let key = |value: &Val<'_>| -> Vec<Option<Value>> {
        let Val::Map(map) = value else { return Vec::new() };
        keys.iter().map(|key| map.raw(key).cloned()).collect()
    };
    let wanted = key(element);
    items.iter().rposition(|item| key(item) == wanted)
}
