//! How many answers of the two servers are the same.

use super::refusal::Refusal;

/// The answers counted so far.
#[derive(Debug, Default)]
pub(crate) struct Score {
    asked: usize,
    refused: usize,
    same_fields: usize,
    same_texts: usize,
    same: usize,
}

impl Score {
    pub(crate) fn add(&mut self, name: &str, (ours, theirs): (Refusal, Refusal)) {
        if theirs.code == 0 {
            return eprintln!("panics there: {name}");
        }
        self.asked += 1;
        let is_refused = theirs.code >= 400;
        self.refused += usize::from(is_refused);
        let same_fields = ours.code == theirs.code && ours.fields() == theirs.fields();
        let same_texts = ours.clone().without_body() == theirs.clone().without_body();
        self.same_fields += usize::from(is_refused && same_fields);
        self.same_texts += usize::from(is_refused && same_texts);
        let specs = [&ours, &theirs].map(|answer| &answer.body["spec"]);
        let is_same = same_texts && specs[0] == specs[1];
        self.same += usize::from(is_same);
        if !is_same {
            let kind = if !same_fields {
                "fields"
            } else if same_texts {
                "body"
            } else {
                "texts"
            };
            let mut text = format!("{kind} {name}\n  there {theirs}\n  here  {ours}");
            if same_texts {
                text = format!("{text}\n  there {}\n  here  {}", specs[1], specs[0]);
            }
            eprintln!("{text}");
        }
    }

    /// Prints the figure, and fails if fewer of a hundred refusals name the same fields.
    pub(crate) fn is_at_least(&self, what: &str, percent: usize) {
        let Self { asked, refused, same_fields, same_texts, same } = self;
        println!(
            "figure: {asked} {what}, {same} answers are the same; of {refused} refusals {same_fields} name the same \
             fields, {same_texts} in the same words"
        );
        assert!(same_fields * 100 >= refused * percent, "fewer than {percent} of 100 are the same");
    }
}
