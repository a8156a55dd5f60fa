//! The shortest sequence that shows a difference.

use super::{
    Example,
    difference::Difference,
    operation::{Body, Operation},
    servers::Pair,
};

/// A shorter sequence with a difference of the same class, if the example shows it at all when repeated.
pub(crate) async fn shortest(
    pair: &Pair,
    class: &str,
    example: &Example,
) -> Option<(Vec<Operation>, Difference)> {
    // Others rarely interfere.
    let last = example.sequence.last()?;
    let same = |it: &&Operation| it.object() == last.object() || it.rest.is_empty();
    let related: Vec<_> = example.sequence.iter().filter(same).cloned().collect();
    let mut best = if let Some(difference) = shows(pair, class, &related).await {
        (related, difference)
    } else {
        let difference = shows(pair, class, &example.sequence).await?;
        (example.sequence.clone(), difference)
    };
    let mut at = 0;
    while at + 1 < best.0.len() {
        let mut shorter = best.0.clone();
        shorter.remove(at);
        match shows(pair, class, &shorter).await {
            Some(difference) => best = (shorter, difference),
            None => at += 1,
        }
    }
    for at in 0..best.0.len() {
        best = simpler(pair, class, best, at).await;
    }
    Some(best)
}

/// Without the changes and options that are not needed.
async fn simpler(
    pair: &Pair,
    class: &str,
    mut best: (Vec<Operation>, Difference),
    at: usize,
) -> (Vec<Operation>, Difference) {
    let parts = |operation: &Operation| match &operation.body {
        Body::Value(_, mutations) | Body::Live(mutations) => mutations.len(),
        Body::None | Body::Text(_) => 0,
    };
    for part in (0..parts(&best.0[at])).rev() {
        let mut simple = best.0.clone();
        if let Body::Value(_, mutations) | Body::Live(mutations) = &mut simple[at].body {
            mutations.remove(part);
        }
        if let Some(difference) = shows(pair, class, &simple).await {
            best = (simple, difference);
        }
    }
    for option in (0..best.0[at].query.len()).rev() {
        let mut simple = best.0.clone();
        simple[at].query.remove(option);
        if let Some(difference) = shows(pair, class, &simple).await {
            best = (simple, difference);
        }
    }
    best
}

async fn shows(pair: &Pair, class: &str, sequence: &[Operation]) -> Option<Difference> {
    let differences = pair.run(sequence).await;
    let last = sequence.len() - 1;
    differences.into_iter().find(|it| it.at == last && it.class() == class)
}
