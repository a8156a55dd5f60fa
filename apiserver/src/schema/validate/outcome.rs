//! What was found wrong with a value, and how much of it was right.

use crate::schema::FieldError;

/// The result of the checks of one value.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    errors: Vec<FieldError>,
    /// How many checks were made: of several wrong branches, the one with the most is reported.
    pub(super) matches: usize,
}

impl Outcome {
    /// One error.
    pub(super) fn of(error: FieldError) -> Self {
        Self { errors: vec![error], matches: 0 }
    }

    /// A check that found nothing.
    pub(super) fn passed() -> Self {
        Self { errors: Vec::new(), matches: 1 }
    }

    pub(super) fn is_valid(&self) -> bool {
        self.errors.is_empty()
    }

    pub(super) fn push(&mut self, error: FieldError) {
        self.errors.push(error);
    }

    /// Adds what another check found.
    pub(super) fn merge(&mut self, other: Self) {
        self.errors.extend(other.errors);
        self.matches += other.matches;
    }

    /// The same of one of the checks of a value.
    pub(super) fn step(&mut self, other: Self) {
        self.merge(other);
        self.matches += 1;
    }

    /// Forgets errors that were found twice. Only branches of one value find the same.
    pub(super) fn without_repetition(mut self) -> Self {
        let mut seen: Vec<FieldError> = Vec::with_capacity(self.errors.len());
        for error in self.errors.drain(..) {
            if !seen.contains(&error) {
                seen.push(error);
            }
        }
        self.errors = seen;
        self
    }

    /// Forgets the errors.
    pub(super) fn excused(self) -> Self {
        Self { errors: Vec::new(), ..self }
    }

    pub(super) fn into_errors(self) -> Vec<FieldError> {
        self.errors
    }
}
