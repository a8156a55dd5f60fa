//! How long tests take.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// The tests that ended, with their times.
static TAKEN: Mutex<Vec<(Duration, String)>> = Mutex::new(Vec::new());

/// Records a test that ended, whatever its outcome.
pub(crate) fn record(test: &str, time: Duration) {
    taken().push((time, test.to_owned()));
}

/// Prints the slowest tests of the run, if any are requested.
pub(crate) fn print(slowest: usize) {
    if slowest > 0 {
        print!("{}", report(&mut taken(), slowest));
    }
}

fn report(taken: &mut [(Duration, String)], slowest: usize) -> String {
    taken.sort_by(|a, b| b.cmp(a));
    let all: Duration = taken.iter().map(|(time, _)| *time).sum();
    let line =
        |(time, test): &(Duration, String)| format!("{:8.2} s  {test}\n", time.as_secs_f64());
    let lines: String = taken.iter().take(slowest).map(line).collect();
    format!("slowest tests:\n{lines}{:8.2} s  all {} tests\n\n", all.as_secs_f64(), taken.len())
}

fn taken() -> MutexGuard<'static, Vec<(Duration, String)>> {
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_tests_come_first_and_the_sum_counts_all() {
        let taken = [(500, "quick"), (12_000, "slow"), (1_250, "between")];
        let mut taken = taken.map(|(time, test)| (Duration::from_millis(time), test.to_owned()));
        let expected = "\
slowest tests:
   12.00 s  slow
    1.25 s  between
   13.75 s  all 3 tests

";
        assert_eq!(report(&mut taken, 2), expected);
    }
}
