//! What environment variables request of a run.

use std::env;

use thiserror::Error;

use crate::Mark;

const MARK: &str = "OPERETTA_TEST_MARK";
const TIMES: &str = "OPERETTA_TEST_TIMES";

/// The settings of a run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    /// The mark of the tests that run; without one all do.
    only: Option<Mark>,
    /// How many of the slowest tests are printed.
    pub(crate) slowest: usize,
}

/// Why nothing runs.
#[derive(Debug, Error)]
pub(crate) enum SettingsError {
    #[error("{MARK}={0}: unknown mark; known: {known}", known = Mark::ALL.map(Mark::word).join(", "))]
    UnknownMark(String),
    #[error("{TIMES}={0}: not a number of tests")]
    NotANumber(String),
}

impl Settings {
    /// Reads the variables.
    pub(crate) fn from_environment() -> Result<Self, SettingsError> {
        Self::of(|name| Some(env::var_os(name)?.to_string_lossy().into_owned()))
    }

    fn of(variable: impl Fn(&str) -> Option<String>) -> Result<Self, SettingsError> {
        let only = variable(MARK).map(mark).transpose()?;
        let slowest = variable(TIMES).map(number).transpose()?.unwrap_or_default();
        Ok(Self { only, slowest })
    }

    /// Whether a test with these marks runs.
    pub(crate) fn select(&self, marks: &[Mark]) -> bool {
        self.only.is_none_or(|only| marks.contains(&only))
    }
}

fn mark(word: String) -> Result<Mark, SettingsError> {
    let known = Mark::ALL.into_iter().find(|mark| mark.word() == word);
    known.ok_or(SettingsError::UnknownMark(word))
}

fn number(text: String) -> Result<usize, SettingsError> {
    text.parse().map_err(|_| SettingsError::NotANumber(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &str, value: &str) -> Result<Settings, SettingsError> {
        Settings::of(|asked| (asked == name).then(|| value.to_owned()))
    }

    #[test]
    fn without_variables_all_tests_run_and_no_times_are_printed() {
        let settings = Settings::of(|_| None).unwrap();
        assert!(settings.select(&[]) && settings.select(&[Mark::Server]));
        assert_eq!(settings.slowest, 0);
    }

    #[test]
    fn with_a_mark_only_tests_that_have_it_run() {
        let settings = with(MARK, "server").unwrap();
        assert!(settings.select(&[Mark::Server]));
        assert!(!settings.select(&[]));
    }

    #[test]
    fn an_unknown_mark_is_an_error_that_names_the_known_ones() {
        let error = with(MARK, "sever").unwrap_err().to_string();
        assert_eq!(error, "OPERETTA_TEST_MARK=sever: unknown mark; known: server");
    }

    #[test]
    fn the_number_of_slowest_tests_is_read_and_anything_else_is_an_error() {
        assert_eq!(with(TIMES, "20").unwrap().slowest, 20);
        let error = with(TIMES, "all").unwrap_err().to_string();
        assert_eq!(error, "OPERETTA_TEST_TIMES=all: not a number of tests");
    }
}
