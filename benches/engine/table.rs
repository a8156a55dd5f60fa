//! The output: aligned rows, with the command and the machine.

use std::{env, fs, thread, time::Duration};

/// One figure.
pub(crate) struct Row {
    pub(crate) figure: String,
    pub(crate) value: String,
    pub(crate) floor: String,
    /// The ratio of the value to the floor.
    pub(crate) ratio: String,
    pub(crate) target: String,
}

const HEAD: [&str; 6] = ["figure", "value", "floor", "beside", "target", "cluster"];

impl Row {
    pub(crate) fn new(figure: impl Into<String>, value: impl Into<String>) -> Self {
        let (figure, value) = (figure.into(), value.into());
        let none = || "-".to_owned();
        Self { figure, value, floor: none(), ratio: none(), target: none() }
    }

    pub(crate) fn floor(mut self, floor: impl Into<String>) -> Self {
        self.floor = floor.into();
        self
    }

    /// A time beside its floor.
    pub(crate) fn times(figure: impl Into<String>, value: Duration, floor: Duration) -> Self {
        let ratio = format!("{:.2}", value.as_secs_f64() / floor.as_secs_f64());
        Self { ratio, ..Self::new(figure, time(value)).floor(time(floor)) }
    }

    /// A time beside its floor, and the difference.
    pub(crate) fn latency(figure: impl Into<String>, value: Duration, floor: Duration) -> Self {
        let above = (value.as_secs_f64() - floor.as_secs_f64()) * 1000.0;
        Self::new(figure, time(value)).floor(time(floor)).ratio(format!("{above:+.2} ms"))
    }

    pub(crate) fn ratio(mut self, ratio: impl Into<String>) -> Self {
        self.ratio = ratio.into();
        self
    }

    pub(crate) fn target(mut self, target: impl Into<String>) -> Self {
        self.target = target.into();
        self
    }

    fn cells<'a>(&'a self, cluster: &'a str) -> [&'a str; 6] {
        [&self.figure, &self.value, &self.floor, &self.ratio, &self.target, cluster]
    }
}

/// The rows under their head, with the command that made them.
pub(crate) fn render(rows: &[Row], cluster: &str) -> String {
    let lines: Vec<[&str; 6]> =
        std::iter::once(HEAD).chain(rows.iter().map(|row| row.cells(cluster))).collect();
    let width = |column: usize| lines.iter().map(|line| line[column].len()).max().unwrap_or(0);
    let widths: [usize; 6] = std::array::from_fn(width);
    let mut text = String::new();
    for line in &lines {
        let cells = line.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        text += cells.collect::<Vec<_>>().join("  ").trim_end();
        text += "\n";
    }
    format!("\n{text}\nprinted by: {}", command())
}

/// The machine of the figures.
pub(crate) fn machine() -> String {
    let cpus = thread::available_parallelism().map_or(0, usize::from);
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default();
    format!("{cpus} CPUs, shared with the API server; load average {load}")
}

/// Seconds or milliseconds, whichever is more readable.
pub(crate) fn time(time: Duration) -> String {
    if time < Duration::from_secs(1) {
        format!("{:.2} ms", time.as_secs_f64() * 1000.0)
    } else {
        format!("{:.2} s", time.as_secs_f64())
    }
}

/// A number per one of another.
#[expect(clippy::cast_precision_loss, reason = "numbers of requests fit")]
pub(crate) fn per(count: usize, of: usize) -> String {
    format!("{:.2}", count as f64 / of as f64)
}

/// The value at a percentile.
pub(crate) fn percentile(values: &[Duration], percent: usize) -> Duration {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let last = sorted.len().saturating_sub(1);
    sorted.get((sorted.len() * percent / 100).min(last)).copied().unwrap_or_default()
}

/// Not the median: alternating turns are comparable only as a sum.
pub(crate) fn mean(values: &[Duration]) -> Duration {
    let count = u32::try_from(values.len()).unwrap_or(u32::MAX);
    values.iter().sum::<Duration>().checked_div(count).unwrap_or_default()
}

fn command() -> String {
    let arguments: Vec<String> =
        env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let chosen = env::var("OPERETTA_BENCH_CLUSTER").ok();
    let chosen = chosen.map_or(String::new(), |kind| format!("OPERETTA_BENCH_CLUSTER={kind} "));
    let arguments =
        if arguments.is_empty() { String::new() } else { format!(" -- {}", arguments.join(" ")) };
    format!("{chosen}cargo bench --bench engine{arguments}")
}
