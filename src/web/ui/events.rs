//! The Kubernetes Events about a parent and its children, in the columns of kubectl. Pure.

use std::time::SystemTime;

use super::{
    parts::{Mark, Prose, count, counted},
    time::Moment,
};
use crate::web::kubernetes_events::{EventView, EventsView};

#[derive(Debug)]
pub(super) struct Events {
    pub(super) rows: Vec<EventRow>,
    /// Whether they are complete.
    pub(super) summary: String,
    pub(super) errors: Vec<String>,
}

#[derive(Debug)]
pub(super) struct EventRow {
    pub(super) last: Option<Moment>,
    pub(super) mark: Mark,
    pub(super) reason: String,
    pub(super) object: String,
    pub(super) message: Prose,
    pub(super) source: String,
    pub(super) count: u64,
}

impl Events {
    /// Omits this namespace from the names of objects.
    pub(super) fn new(events: EventsView, here: Option<&str>, now: SystemTime) -> Self {
        let EventsView { items, omitted, objects_omitted, errors } = events;
        let summary = summary(items.len(), omitted, objects_omitted, errors.is_empty());
        let rows = items.into_iter().map(|event| EventRow::new(event, here, now));
        Self { rows: rows.collect(), summary, errors }
    }
}

fn summary(events: usize, omitted: usize, objects_omitted: usize, is_all: bool) -> String {
    let read = match events {
        0 if is_all => Some("There are none: the API server keeps Events for about an hour."),
        0 => None,
        _ => Some("Read from the API server just now."),
    };
    let older = format!("At least {} older Events are not shown.", count(omitted));
    let objects = counted(objects_omitted, "further object", "further objects");
    let parts = [
        read.map(str::to_owned),
        (omitted > 0).then_some(older),
        (objects_omitted > 0).then(|| format!("The Events about {objects} were not read.")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

impl EventRow {
    fn new(event: EventView, here: Option<&str>, now: SystemTime) -> Self {
        let EventView { last_seen, first_seen: _, r#type, reason, object, message, count, source } =
            event;
        let away = object.key.namespace.as_deref().filter(|namespace| Some(*namespace) != here);
        let away = away.map(|namespace| format!("{namespace}/")).unwrap_or_default();
        Self {
            last: last_seen.map(|last| Moment::past(last.0, now)),
            mark: if r#type == "Warning" { Mark::warn("warning") } else { Mark::plain("normal") },
            reason,
            object: format!("{} {away}{}", object.kind, object.key.name),
            message: message.into(),
            source,
            count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_shows_what_is_omitted() {
        assert!(summary(0, 0, 0, true).starts_with("There are none"));
        assert_eq!(summary(0, 0, 0, false), "", "there may be some");
        let partial = summary(100, 1200, 1, true);
        assert!(partial.contains("At least 1,200 older Events are not shown."), "{partial}");
        assert!(partial.contains("The Events about 1 further object were not read."), "{partial}");
    }
}
