//! Asserts that a failure of a parent is reported in four places: a condition of the parent, a Warning
//! Event, a metric, and the web endpoint.

use serde_json::{Value, json};

use crate::{
    recipe::RECIPE,
    world::{EVENT, Kind, Operators, World, condition, eventually},
};

/// A failure that a test is about to cause.
pub(crate) struct ExpectedFailure<'a> {
    world: &'a World,
    operators: &'a Operators,
    operator: &'a str,
    /// The type of its parents.
    kind: Kind,
    reason: &'a str,
    /// The value of its metric before.
    counted: u64,
}

impl<'a> ExpectedFailure<'a> {
    /// Begins before the failure of a parent is caused.
    pub(crate) async fn before(
        world: &'a World,
        operators: &'a Operators,
        operator: &'a str,
        reason: &'a str,
    ) -> Self {
        let mut failure = Self { world, operators, operator, kind: RECIPE, reason, counted: 0 };
        failure.counted = failure.count().await;
        failure
    }

    /// Waits until it is reported for a parent, with these words, in all four places.
    pub(crate) async fn until_reported(&self, parent: &str, words: &str) {
        self.until_in_condition(parent, words).await;
        self.until_in_event(parent, words).await;
        self.until_counted(parent).await;
        self.until_on_the_web(parent, words).await;
    }

    async fn until_in_condition(&self, parent: &str, words: &str) {
        let is_reported = |parent: &Value| {
            let ready = condition(parent, "Ready");
            ready["status"] == "False"
                && ready["reason"] == self.reason
                && ready["observedGeneration"] == parent["metadata"]["generation"]
                && contains(&ready["message"], words)
        };
        let what = format!("{}: {words}: as a condition of {parent}", self.reason);
        self.world.until(self.kind, parent, &what, is_reported).await;
    }

    async fn until_in_event(&self, parent: &str, words: &str) {
        let is_it = |event: &Value| {
            event["type"] == "Warning"
                && event["reason"] == self.reason
                && event["regarding"]["name"] == parent
                && contains(&event["note"], words)
        };
        let what = format!("{}: {words}: as an Event of {parent}", self.reason);
        eventually(&what, || self.world.list(EVENT), |events| events.iter().any(is_it)).await;
    }

    async fn until_counted(&self, parent: &str) {
        let what = format!("{}: {} of {parent}", self.reason, self.series());
        eventually(&what, || self.count(), |count| *count > self.counted).await;
    }

    async fn until_on_the_web(&self, parent: &str, words: &str) {
        let path = format!(
            "/api/v1/operators/{}/parents/{}/{parent}",
            self.operator, self.world.namespace
        );
        let what = format!("{}: {words}: at {path}", self.reason);
        let parent = || async {
            let (_, body) = self.operators.http(&path).await;
            serde_json::from_str::<Value>(&body).unwrap_or_default()
        };
        eventually(&what, parent, |parent| contains(&parent["message"], words)).await;
    }

    /// The metric of this failure.
    fn series(&self) -> String {
        let operator = self.operator;
        let (name, more) = match self.reason {
            "HandlerPanicked" => ("handler_panics", ""),
            "HandlerTimeout" => ("handler_timeouts", ""),
            "Conflict" => ("conflicts", ""),
            _ => ("reconciles", ",outcome=\"failed\""),
        };
        format!("operetta_{name}_total{{operator=\"{operator}\"{more}")
    }

    async fn count(&self) -> u64 {
        let (_, metrics) = self.operators.http("/metrics").await;
        let series = self.series();
        let lines = metrics.lines().filter(|line| line.starts_with(&series));
        lines.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
    }
}

/// Waits until an undeclared status field of an operator is reported in three places, with who wants it.
pub(crate) async fn until_undeclared(
    operators: &Operators,
    operator: &str,
    (path, wanted_by): (&str, &str),
) {
    let of_operator = format!("/api/v1/operators/{operator}");
    let shown = || async {
        let (_, body) = operators.http(&of_operator).await;
        serde_json::from_str::<Value>(&body).unwrap_or_default()["undeclaredStatus"].clone()
    };
    let expected = json!({"path": path, "wantedBy": wanted_by});
    let is_shown =
        |shown: &Value| shown.as_array().is_some_and(|fields| fields.contains(&expected));
    eventually(&format!("{expected} at {of_operator}"), shown, is_shown).await;
    let (code, checks) = operators.http("/readyz?verbose").await;
    let sign = if wanted_by == "handler" { '-' } else { '+' };
    let line = format!("[{sign}]status/{operator} ");
    let is_reported = |shown: &str| shown.starts_with(&line) && shown.contains(path);
    assert!(code == 200 && checks.lines().any(is_reported), "{line}{path} in\n{checks}");
    let (_, metrics) = operators.http("/metrics").await;
    let labels = format!("operator=\"{operator}\",wanted_by=\"{wanted_by}\"");
    let series = format!("operetta_undeclared_status_fields{{{labels}}} 1");
    assert!(metrics.lines().any(|shown| shown == series), "{series} in\n{metrics}");
}

/// Asserts that no Event reports undeclared fields. The operators must be stopped, so that all Events are
/// sent.
pub(crate) async fn assert_no_event_of_undeclared(world: &World) {
    let events = world.list(EVENT).await;
    let is_it = |event: &&Value| {
        event["reason"] == "UndeclaredStatus" || contains(&event["note"], "does not declare")
    };
    assert_eq!(events.iter().find(is_it), None);
}

fn contains(text: &Value, words: &str) -> bool {
    text.as_str().is_some_and(|text| text.contains(words))
}
