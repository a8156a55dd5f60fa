//! The shortest sequence that shows a difference.

use super::{
    Example,
    difference::Difference,
    operation::{Body, Operation, Sequence},
    servers::Pair,
};

/// A shorter sequence with a difference of the same class, if the example shows it at all when repeated.
pub(crate) async fn shortest(
    pair: &Pair,
    class: &str,
    example: &Example,
) -> Option<(Sequence, Difference)> {
    let mut whole = example.sequence.clone();
    whole.watches.retain(|watch| class.contains(&watch.name()));
    // Others rarely interfere.
    let last = whole.operations.last()?;
    let same = |it: &&Operation| it.object() == last.object() || it.rest.is_empty();
    let operations = whole.operations.iter().filter(same).cloned().collect();
    let related = Sequence { watches: whole.watches.clone(), operations };
    let mut best = if let Some(difference) = shows(pair, class, &related).await {
        (related, difference)
    } else {
        let difference = shows(pair, class, &whole).await?;
        (whole, difference)
    };
    let mut at = 0;
    // A watch is not shown by the last operation, so that it may go too.
    let kept = usize::from(best.0.watches.is_empty());
    while at + kept < best.0.operations.len() && best.0.operations.len() > 1 {
        let mut shorter = best.0.clone();
        shorter.operations.remove(at);
        match shows(pair, class, &shorter).await {
            Some(difference) => best = (shorter, difference),
            None => at += 1,
        }
    }
    for at in 0..best.0.operations.len() {
        best = simpler(pair, class, best, at).await;
    }
    Some(best)
}

/// Without the changes and options that are not needed.
async fn simpler(
    pair: &Pair,
    class: &str,
    mut best: (Sequence, Difference),
    at: usize,
) -> (Sequence, Difference) {
    let parts = |operation: &Operation| match &operation.body {
        Body::Value(_, mutations) | Body::Live(mutations) => mutations.len(),
        Body::None | Body::Text(_) => 0,
    };
    for part in (0..parts(&best.0.operations[at])).rev() {
        let mut simple = best.0.clone();
        if let Body::Value(_, mutations) | Body::Live(mutations) = &mut simple.operations[at].body {
            mutations.remove(part);
        }
        if let Some(difference) = shows(pair, class, &simple).await {
            best = (simple, difference);
        }
    }
    for option in (0..best.0.operations[at].query.len()).rev() {
        let mut simple = best.0.clone();
        simple.operations[at].query.remove(option);
        if let Some(difference) = shows(pair, class, &simple).await {
            best = (simple, difference);
        }
    }
    best
}

async fn shows(pair: &Pair, class: &str, sequence: &Sequence) -> Option<Difference> {
    let differences = pair.run(sequence).await;
    let last = sequence.operations.len() - 1;
    differences.into_iter().find(|it| it.at == last && it.class() == class)
}
