//! That something is wrong with a parent is told in four places, as people look at different ones:
//! a condition of the parent, a Warning Event, a metric, and the web endpoint.

use serde_json::{Value, json};

use crate::{
    recipe::RECIPE,
    world::{EVENT, Kind, Operators, World, condition, eventually},
};

/// Trouble that a test is about to make.
pub(crate) struct Trouble<'a> {
    world: &'a World,
    operators: &'a Operators,
    operator: &'a str,
    /// The type of its parents.
    kind: Kind,
    reason: &'a str,
    /// What was counted of its kind before.
    counted: u64,
}

impl<'a> Trouble<'a> {
    /// Trouble of some kind with a parent of an operator: begin with this, then make it.
    pub(crate) async fn ahead(
        world: &'a World,
        operators: &'a Operators,
        operator: &'a str,
        reason: &'a str,
    ) -> Self {
        let mut trouble = Self { world, operators, operator, kind: RECIPE, reason, counted: 0 };
        trouble.counted = trouble.count().await;
        trouble
    }

    /// The same with a parent that is no recipe.
    pub(crate) fn of(self, kind: Kind) -> Self {
        Self { kind, ..self }
    }

    /// Waits until it is told of a parent, with these words, in all four places.
    pub(crate) async fn until_told(&self, parent: &str, words: &str) {
        self.until_in_condition(parent, words).await;
        self.until_in_event(parent, words).await;
        self.until_counted(parent).await;
        self.until_on_the_web(parent, words).await;
    }

    async fn until_in_condition(&self, parent: &str, words: &str) {
        let is_said = |parent: &Value| {
            let ready = condition(parent, "Ready");
            ready["status"] == "False"
                && ready["reason"] == self.reason
                && ready["observedGeneration"] == parent["metadata"]["generation"]
                && says(&ready["message"], words)
        };
        let what = format!("{}: {words}: as a condition of {parent}", self.reason);
        self.world.until(self.kind, parent, &what, is_said).await;
    }

    async fn until_in_event(&self, parent: &str, words: &str) {
        let is_it = |event: &Value| {
            event["type"] == "Warning"
                && event["reason"] == self.reason
                && event["regarding"]["name"] == parent
                && says(&event["note"], words)
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
        eventually(&what, parent, |parent| says(&parent["message"], words)).await;
    }

    /// Where trouble of this kind is counted.
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

/// Waits until it is shown, in three places, what the type of an operator's parents does not declare: fields
/// and who wants them.
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
    let expected = json!([{"path": path, "wantedBy": wanted_by}]);
    eventually(&format!("{expected} at {of_operator}"), shown, |shown| *shown == expected).await;
    let (code, checks) = operators.http("/readyz?verbose").await;
    let sign = if wanted_by == "handler" { '-' } else { '+' };
    let line = format!("[{sign}]status/{operator} ");
    let is_said = |shown: &str| shown.starts_with(&line) && shown.contains(path);
    assert!(code == 200 && checks.lines().any(is_said), "{line}{path} in\n{checks}");
    let (_, metrics) = operators.http("/metrics").await;
    let labels = format!("operator=\"{operator}\",wanted_by=\"{wanted_by}\"");
    let series = format!("operetta_undeclared_status_fields{{{labels}}} 1");
    assert!(metrics.lines().any(|shown| shown == series), "{series} in\n{metrics}");
}

/// Asserts that no Event says so of any parent. Stop the operators first: then all Events are sent.
pub(crate) async fn assert_no_event_of_undeclared(world: &World) {
    let events = world.list(EVENT).await;
    let is_it = |event: &&Value| {
        event["reason"] == "UndeclaredStatus" || says(&event["note"], "does not declare")
    };
    assert_eq!(events.iter().find(is_it), None);
}

fn says(text: &Value, words: &str) -> bool {
    text.as_str().is_some_and(|text| text.contains(words))
}
