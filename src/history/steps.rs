//! How long the steps of a reconcile took, to the microsecond. Reads no clock.

use std::{borrow::Cow, time::Duration};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer, ser::SerializeMap};

use super::wire::in_millis;

/// A step of a reconcile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum ReconcileStep {
    /// Reading the caches, and adding our finalizer where needed.
    Snapshot,
    /// The handler.
    Sync,
    /// Comparing the desired with the existing children.
    Plan,
    /// Writing and deleting children.
    Apply,
    /// Writing the parent's status.
    Status,
}

/// How long each step took; a step that was not reached took no time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct StepTimes([u32; ReconcileStep::ALL.len()]);

/// The steps that ended within some time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Laps(u8);

impl Laps {
    pub(crate) fn add(&mut self, step: ReconcileStep) {
        self.0 |= 1 << step as u8;
    }

    /// In the order of steps.
    pub(crate) fn ended(self) -> impl Iterator<Item = ReconcileStep> {
        ReconcileStep::ALL.into_iter().filter(move |step| self.0 & (1 << *step as u8) != 0)
    }
}

impl ReconcileStep {
    /// Every step, in their order.
    pub(crate) const ALL: [Self; 5] =
        [Self::Snapshot, Self::Sync, Self::Plan, Self::Apply, Self::Status];

    /// The step in one word, also as a metric label.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Snapshot => "snapshot",
            Self::Sync => "sync",
            Self::Plan => "plan",
            Self::Apply => "apply",
            Self::Status => "status",
        }
    }
}

impl StepTimes {
    /// Adds the time of a step, rounded up to microseconds.
    pub(crate) fn add(&mut self, step: ReconcileStep, took: Duration) {
        let micros = u32::try_from(took.as_nanos().div_ceil(1000)).unwrap_or(u32::MAX);
        let total = &mut self.0[step as usize];
        *total = total.saturating_add(micros);
    }

    /// The steps that were reached, in their order.
    pub(crate) fn taken(self) -> impl Iterator<Item = (ReconcileStep, Duration)> {
        let times = ReconcileStep::ALL.into_iter().zip(self.0).filter(|(_, micros)| *micros > 0);
        times.map(|(step, micros)| (step, Duration::from_micros(micros.into())))
    }
}

impl Serialize for StepTimes {
    /// In milliseconds.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (step, took) in self.taken() {
            map.serialize_entry(step.name(), &in_millis(took))?;
        }
        map.end()
    }
}

impl JsonSchema for StepTimes {
    fn schema_name() -> Cow<'static, str> {
        "StepTimes".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let number = json_schema!({"type": "number"});
        let steps =
            ReconcileStep::ALL.map(|step| (step.name().to_owned(), number.clone().to_value()));
        let steps: serde_json::Map<_, _> = steps.into_iter().collect();
        json_schema!({
            "description": "How long each step took; a step that was not reached is missing.",
            "type": "object",
            "properties": steps,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_one_step_add_up_and_steps_that_were_not_reached_are_not_shown() {
        let mut times = StepTimes::default();
        times.add(ReconcileStep::Sync, Duration::from_micros(1500));
        times.add(ReconcileStep::Sync, Duration::from_micros(500));
        times.add(ReconcileStep::Plan, Duration::from_nanos(1));
        // No binary fraction: 302 µs times a thousand would show sixteen digits.
        times.add(ReconcileStep::Apply, Duration::from_micros(302));
        let shown = serde_json::to_string(&times).unwrap();
        assert_eq!(shown, r#"{"sync":2.0,"plan":0.001,"apply":0.302}"#);
        times.add(ReconcileStep::Status, Duration::MAX);
        times.add(ReconcileStep::Status, Duration::MAX);
        assert_eq!(times.taken().count(), 4);
    }
}
