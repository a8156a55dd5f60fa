//! The second half of the chain: what may only refuse. Webhooks are asked at the same time; the first
//! refusal in their order is the answer.

use serde_json::Value;

use super::{
    limits,
    pass::Pass,
    policy, priority,
    review::Review,
    webhook::{Refusal, Webhook},
};
use crate::status::StatusError;

/// Runs the validating half; a deletion has no object.
pub(super) fn run(pass: &Pass<'_>, object: Option<&Value>) -> Result<(), StatusError> {
    limits::validate(pass, object)?;
    priority::validate(pass, object)?;
    policy::validate(pass, object)?;
    webhooks(pass, object)?;
    limits::charge(pass, object)
}

fn webhooks(pass: &Pass<'_>, object: Option<&Value>) -> Result<(), StatusError> {
    let attributes = pass.attributes(object);
    let mut reviews: Vec<(&Webhook, Result<Review, Refusal>)> = Vec::new();
    for webhook in &pass.chain.validating {
        let Some(form) = webhook.form(pass.cluster, &attributes)? else { continue };
        let allowed = webhook.check_dry_run(attributes.asked.dry_run);
        let review =
            allowed.and_then(|()| Review::of(webhook, &attributes, &form, pass.cluster.ids.uid()));
        reviews.push((webhook, review));
    }
    let posts: Vec<_> = reviews
        .iter()
        .filter_map(|(webhook, review)| Some(webhook.post(&review.as_ref().ok()?.body)))
        .collect();
    if reviews.is_empty() {
        return Ok(());
    }
    let caller = pass.caller().map_err(|refusal| reviews[0].0.refusal(refusal))?;
    let mut texts = caller.post_all(posts).into_iter();
    let mut first = Ok(());
    for (webhook, review) in reviews {
        let answer = review.and_then(|review| {
            let text = texts.next().unwrap_or_else(|| Ok(bytes::Bytes::new()))?;
            review.answer(webhook, false, &text)
        });
        match answer {
            Ok(answer) => answer.warnings.iter().for_each(|warning| pass.warnings.warn(warning)),
            Err(Refusal::Failed(_)) if webhook.ignores_failure => {}
            Err(refusal) => first = first.and_then(|()| Err(webhook.refusal(refusal))),
        }
    }
    first
}
