//! The first half of the chain: what may change an object.
//!
//! ```text
//!  policies ─ webhooks, each in order ──(one changed the object)──> those before it that asked for another look,
//!                                                                   once
//! ```

use serde_json::Value;

use super::{
    again::Again,
    attributes::Form,
    limits,
    pass::{Pass, Refine, Unknown},
    patched::patched,
    policy, priority,
    review::Review,
    webhook::{Refusal, Webhook},
};
use crate::status::StatusError;

/// Runs the mutating half.
pub(super) fn run(
    pass: &Pass<'_>,
    object: &mut Option<Value>,
    refine: Refine<'_>,
) -> Result<(), StatusError> {
    let (mut policies, mut webhooks) = (Again::default(), Again::default());
    round(pass, object, refine, (&mut policies, &mut webhooks))?;
    if policies.is_due() || webhooks.is_due() {
        policies.start_second();
        webhooks.start_second();
        round(pass, object, refine, (&mut policies, &mut webhooks))?;
    }
    Ok(())
}

fn round(
    pass: &Pass<'_>,
    object: &mut Option<Value>,
    refine: Refine<'_>,
    (policies, webhooks): (&mut Again, &mut Again),
) -> Result<(), StatusError> {
    limits::mutate(pass, object);
    priority::mutate(pass, object)?;
    policy::mutate(pass, object, refine, policies)?;
    ask_all(pass, object, refine, webhooks)
}

fn ask_all(
    pass: &Pass<'_>,
    object: &mut Option<Value>,
    refine: Refine<'_>,
    again: &mut Again,
) -> Result<(), StatusError> {
    again.begin(object.as_ref());
    for webhook in &pass.chain.mutating {
        let form = webhook.form(pass.cluster, &pass.attributes(object.as_ref()))?;
        let Some(form) = form.filter(|_| !again.skips(&webhook.id)) else { continue };
        let outcome = ask(pass, webhook, &form, object.as_ref());
        if let Ok(Some(changed)) = &outcome
            && Some(changed) != object.as_ref()
        {
            again.changed();
        }
        if webhook.is_reinvoked {
            again.remember(&webhook.id);
        }
        match outcome {
            Ok(Some(mut changed)) => {
                refine(&mut changed, Unknown::Dropped)?;
                *object = Some(changed);
            }
            Ok(None) => {}
            Err(Refusal::Failed(_)) if webhook.ignores_failure => {}
            Err(refusal) => return Err(webhook.refusal(refusal)),
        }
    }
    again.end(object.as_ref());
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
