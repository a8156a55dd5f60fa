//! Who manages which fields: `metadata.managedFields`, decoded and encoded.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{field_set::FieldSet, fields_v1};

/// The name of the entry that the oldest updates are merged into.
const ANCIENT_CHANGES: &str = "ancient-changes";
/// How many entries of updates an object may have.
const MAX_UPDATE_MANAGERS: usize = 10;

/// How a manager writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// Server-side apply.
    Apply,
    /// Any other write.
    Update,
}

impl Operation {
    /// The word of `managedFields`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Apply => "Apply",
            Self::Update => "Update",
        }
    }
}

/// The identity of an entry of `managedFields`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ManagerId {
    pub(super) manager: String,
    pub(super) operation: Operation,
    /// `None` for appliers: their entry follows them from version to version.
    pub(super) api_version: Option<String>,
    pub(super) subresource: String,
}

/// What one manager has.
#[derive(Debug, Clone)]
pub(super) struct Managed {
    pub(super) api_version: String,
    pub(super) fields: FieldSet,
    pub(super) time: Option<String>,
}

/// All entries of an object.
pub(super) type Managers = BTreeMap<ManagerId, Managed>;

impl ManagerId {
    pub(super) fn applier(manager: &str, subresource: Option<&str>) -> Self {
        let subresource = subresource.unwrap_or_default().to_owned();
        let manager = manager.to_owned();
        Self { manager, operation: Operation::Apply, api_version: None, subresource }
    }

    pub(super) fn updater(manager: &str, api_version: &str, subresource: Option<&str>) -> Self {
        let api_version = Some(api_version.to_owned());
        let subresource = subresource.unwrap_or_default().to_owned();
        Self { manager: manager.to_owned(), operation: Operation::Update, api_version, subresource }
    }

    /// The form of an id that decides the order of messages and of equally old entries.
    pub(super) fn sort_key(&self) -> String {
        let api_version = self.api_version.as_deref();
        let fields = [
            ("manager", Some(self.manager.as_str())),
            ("operation", Some(self.operation.as_str())),
            ("apiVersion", api_version),
            ("subresource", Some(self.subresource.as_str())),
        ];
        let fields = fields.into_iter().filter_map(|(name, value)| {
            let value = value.filter(|value| !value.is_empty())?;
            Some(format!("{}:{}", Value::from(name), Value::from(value)))
        });
        format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
    }
}

/// The entries of an object; none if it has no `managedFields`.
pub(super) fn decode(managed_fields: Option<&Value>) -> Result<Managers, String> {
    let entries = match managed_fields {
        None | Some(Value::Null) => return Ok(Managers::new()),
        Some(Value::Array(entries)) => entries,
        Some(other) => return Err(format!("managedFields is no list: {other}")),
    };
    entries.iter().enumerate().map(|(index, entry)| decode_entry(index, entry)).collect()
}

fn decode_entry(index: usize, entry: &Value) -> Result<(ManagerId, Managed), String> {
    let text = |field: &str| entry.get(field).and_then(Value::as_str).unwrap_or_default();
    let api_version = text("apiVersion").to_owned();
    let operation = match text("operation") {
        "Apply" => Operation::Apply,
        "Update" => Operation::Update,
        _ => return Err("operation must be `Apply` or `Update`".to_owned()),
    };
    if api_version.is_empty() {
        return Err("apiVersion must not be empty".to_owned());
    }
    match text("fieldsType") {
        "FieldsV1" => {}
        "" => return Err(format!("missing fieldsType in managed fields entry {index}")),
        other => {
            return Err(format!("invalid fieldsType {other:?} in managed fields entry {index}"));
        }
    }
    let id = ManagerId {
        manager: text("manager").to_owned(),
        operation,
        api_version: (operation == Operation::Update).then(|| api_version.clone()),
        subresource: text("subresource").to_owned(),
    };
    let fields = entry.get("fieldsV1").filter(|fields| !fields.is_null());
    let fields = fields.map_or_else(|| Ok(FieldSet::default()), fields_v1::decode)?;
    let time = entry.get("time").and_then(Value::as_str).map(ToOwned::to_owned);
    Ok((id, Managed { api_version, fields, time }))
}

/// The value of `metadata.managedFields`; `None` where there are no entries.
pub(super) fn encode(managers: &Managers) -> Option<Value> {
    let mut entries: Vec<_> = managers.iter().collect();
    entries.sort_by_key(|(id, managed)| {
        let time = managed.time.as_deref().unwrap_or_default();
        (id.operation, time, &id.manager, &managed.api_version, &id.subresource)
    });
    let entries = entries.into_iter().map(|(id, managed)| encode_entry(id, managed));
    let entries: Vec<_> = entries.collect();
    (!entries.is_empty()).then_some(Value::Array(entries))
}

fn encode_entry(id: &ManagerId, managed: &Managed) -> Value {
    let mut entry = Map::new();
    let optional = |text: &str| (!text.is_empty()).then(|| Value::from(text));
    let fields = [
        ("manager", optional(&id.manager)),
        ("operation", optional(id.operation.as_str())),
        ("apiVersion", optional(&managed.api_version)),
        ("time", managed.time.as_deref().map(Value::from)),
        ("fieldsType", Some(json!("FieldsV1"))),
        ("fieldsV1", Some(fields_v1::encode(&managed.fields))),
        ("subresource", optional(&id.subresource)),
    ];
    for (name, value) in fields {
        entry.extend(value.map(|value| (name.to_owned(), value)));
    }
    Value::Object(entry)
}

/// Whether a request removes all managers: `[]` or `[{}]`.
pub(super) fn is_reset(managed_fields: Option<&Value>) -> bool {
    match managed_fields.and_then(Value::as_array).map(Vec::as_slice) {
        Some([]) => true,
        Some([only]) => only.as_object().is_some_and(Map::is_empty),
        _ => false,
    }
}

/// Merges the oldest updates, per version, until there are few enough.
pub(super) fn cap_updates(managers: &mut Managers) {
    let mut updates = managers.iter().filter(|(id, _)| id.operation == Operation::Update);
    let mut oldest: Vec<_> = updates
        .by_ref()
        .map(|(id, managed)| (managed.time.clone().unwrap_or_default(), id.sort_key(), id.clone()))
        .collect();
    oldest.sort();
    let mut count = oldest.len();
    let mut first_of_version: BTreeMap<String, ManagerId> = BTreeMap::new();
    for (_, _, id) in oldest {
        if count <= MAX_UPDATE_MANAGERS {
            return;
        }
        let version = id.api_version.clone().unwrap_or_default();
        match first_of_version.get(&version) {
            None => {
                first_of_version.insert(version, id);
            }
            Some(first) => {
                merge_into_ancient(managers, &version, first, &id);
                count -= 1;
            }
        }
    }
}

fn merge_into_ancient(managers: &mut Managers, version: &str, first: &ManagerId, id: &ManagerId) {
    let ancient = ManagerId::updater(ANCIENT_CHANGES, version, None);
    if *id == ancient {
        // It would be lost when it is removed below, so that the first one is merged into it instead.
        return move_fields(managers, first, &ancient);
    }
    move_fields(managers, first, &ancient);
    move_fields(managers, id, &ancient);
}

fn move_fields(managers: &mut Managers, from: &ManagerId, to: &ManagerId) {
    if from == to {
        return;
    }
    let Some(moved) = managers.remove(from) else { return };
    let Managed { api_version, fields: added, time } = moved;
    let (mut fields, known) = match managers.remove(to) {
        Some(known) => (known.fields, known.time),
        None => (FieldSet::default(), None),
    };
    fields.absorb(added);
    managers.insert(to.clone(), Managed { api_version, fields, time: time.max(known) });
}
