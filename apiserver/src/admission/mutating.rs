//! The first half of the chain: what may change an object.
//!
//! ```text
//!  webhooks in order ──(one changed the object)──> those before it that asked for another look, once
//! ```

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    attributes::Form,
    limits,
    pass::{Pass, Refine},
    patched::patched,
    priority,
    review::Review,
    webhook::{Refusal, Webhook},
};
use crate::status::StatusError;

/// Which webhooks look again.
#[derive(Debug, Default)]
struct Again {
    /// Whether this is the second round.
    is_second: bool,
    /// Whether there is to be one.
    is_due: bool,
    /// Those that were asked and want to see later changes.
    asked: BTreeSet<String>,
    /// Those of them after which something changed.
    due: BTreeSet<String>,
    /// The object after the webhooks of the first round.
    output: Option<Value>,
}

/// Runs the mutating half.
pub(super) fn run(
    pass: &Pass<'_>,
    object: &mut Option<Value>,
    refine: Refine<'_>,
) -> Result<(), StatusError> {
    limits::mutate(pass, object);
    priority::mutate(pass, object)?;
    if pass.chain.mutating.is_empty() {
        return Ok(());
    }
    let mut again = Again::default();
    webhooks(pass, object, refine, &mut again)?;
    if again.is_due {
        again.is_second = true;
        limits::mutate(pass, object);
        priority::mutate(pass, object)?;
        webhooks(pass, object, refine, &mut again)?;
    }
    Ok(())
}

fn webhooks(
    pass: &Pass<'_>,
    object: &mut Option<Value>,
    refine: Refine<'_>,
    again: &mut Again,
) -> Result<(), StatusError> {
    if again.is_second && again.output != *object {
        again.require();
    }
    for webhook in &pass.chain.mutating {
        let form = webhook.form(pass.cluster, &pass.attributes(object.as_ref()))?;
        let Some(form) = form else { continue };
        if again.is_second && !again.due.contains(&webhook.id) {
            continue;
        }
        let outcome = ask(pass, webhook, &form, object.as_ref());
        if let Ok(Some(changed)) = &outcome
            && Some(changed) != object.as_ref()
        {
            again.require();
            again.is_due = true;
        }
        if webhook.is_reinvoked {
            again.asked.insert(webhook.id.clone());
        }
        match outcome {
            Ok(Some(mut changed)) => {
                refine(&mut changed)?;
                *object = Some(changed);
            }
            Ok(None) => {}
            Err(Refusal::Failed(_)) if webhook.ignores_failure => {}
            Err(refusal) => return Err(webhook.refusal(refusal)),
        }
    }
    again.output.clone_from(object);
    Ok(())
}

/// The object as a webhook wants it; `None` if it leaves it.
fn ask(
    pass: &Pass<'_>,
    webhook: &Webhook,
    form: &Form,
    object: Option<&Value>,
) -> Result<Option<Value>, Refusal> {
    let asked = &pass.asked;
    webhook.check_dry_run(asked.dry_run)?;
    let review = Review::of(webhook, &pass.attributes(object), form, pass.cluster.ids.uid())?;
    let text = pass.caller()?.post(webhook.post(&review.body))?;
    let answer = review.answer(webhook, true, &text)?;
    answer.warnings.iter().for_each(|warning| pass.warnings.warn(warning));
    let Some(patch) = &answer.patch else { return Ok(None) };
    let shown = object.map(|object| form.of_object(asked, object));
    let changed = patched(webhook, patch, shown.as_ref())?;
    Ok(changed.map(|changed| form.back(asked, &changed)))
}

impl Again {
    fn require(&mut self) {
        self.due.append(&mut self.asked);
    }
}
