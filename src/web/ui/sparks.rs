//! How busy an operator was in the last five minutes, as small lines with their figures. Pure.

use std::fmt::Write;

use askama::{Template, filters::HtmlSafe};

use super::{parts::count, time::took};
use crate::board::{TREND_POINTS, TrendPoint};

/// The lines of an operator. In words for screen readers, because a line has no words.
#[derive(Debug, Template)]
#[template(path = "sparks.html")]
pub(super) struct Sparks {
    label: String,
    lines: [Spark; 4],
}

impl HtmlSafe for Sparks {}

#[derive(Debug)]
struct Spark {
    name: &'static str,
    /// The newest figure, or the largest.
    value: String,
    /// The `d` of an SVG path in a box of [`TREND_POINTS`] by [`HEIGHT`].
    path: String,
    tone: &'static str,
}

/// The height of the highest point.
const HEIGHT: f64 = 16.0;

impl Sparks {
    /// `None` before the first point.
    pub(super) fn of(points: &[TrendPoint]) -> Option<Self> {
        let last = points.last()?;
        let all = |value: fn(&TrendPoint) -> f64| points.iter().map(value).collect::<Vec<_>>();
        let waiting = points.iter().map(|point| point.waiting).max().unwrap_or_default();
        let (reconciles, errors) = (rate(last.reconciles), rate(last.errors));
        let (mean, most) = (took(last.mean), count(waiting));
        let line = |name, value, path: Vec<f64>| {
            let tone = if name == "errors" { "bad" } else { "busy" };
            Spark { name, value, path: self::path(&path), tone }
        };
        Some(Self {
            label: format!(
                "In the last 5 minutes at most {most} waiting; now {reconciles} reconciles/s, {errors} errors/s, \
                 {mean} for each"
            ),
            lines: [
                line("reconciles", format!("{reconciles}/s"), all(|point| point.reconciles)),
                line("errors", format!("{errors}/s"), all(|point| point.errors)),
                line("waiting", format!("at most {most}"), all(waiting_of)),
                line("duration", mean, all(|point| point.mean.as_secs_f64())),
            ],
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "the height of a line")]
fn waiting_of(point: &TrendPoint) -> f64 {
    point.waiting as f64
}

/// A rate with about two digits.
fn rate(rate: f64) -> String {
    match rate {
        0.0 => "0".to_owned(),
        ..0.1 => "<0.1".to_owned(),
        ..9.95 => format!("{rate:.1}"),
        _ => format!("{rate:.0}"),
    }
}

/// The line through the values, which ends at the right. Equal values in a row take one step.
fn path(values: &[f64]) -> String {
    let most = values.iter().copied().fold(0.0, f64::max);
    let heights: Vec<i32> = values.iter().map(|value| height(*value, most)).collect();
    let Some((first, rest)) = heights.split_first() else { return String::new() };
    let mut path = format!("M{} {first}", TREND_POINTS - values.len());
    let (mut at, mut flat) = (*first, 0);
    for next in rest {
        if *next == at {
            flat += 1;
            continue;
        }
        step(&mut path, flat);
        // Writing to a text cannot fail.
        let _ = write!(path, "l1 {}", next - at);
        (at, flat) = (*next, 0);
    }
    step(&mut path, flat);
    path
}

fn step(path: &mut String, flat: u32) {
    if flat > 0 {
        let _ = write!(path, "h{flat}");
    }
}

/// From the top.
#[expect(clippy::cast_possible_truncation, reason = "it is at most the height")]
fn height(value: f64, most: f64) -> i32 {
    let part = if most > 0.0 { value / most } else { 0.0 };
    (HEIGHT - part * HEIGHT).round() as i32
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn point(reconciles: f64, waiting: usize) -> TrendPoint {
        TrendPoint { reconciles, errors: 0.0, waiting, mean: Duration::from_millis(4) }
    }

    #[test]
    fn a_line_ends_at_the_right_and_flat_parts_are_one_step() {
        assert_eq!(path(&[0.0, 0.0, 0.0]), "M57 16h2");
        assert_eq!(path(&[0.0, 4.0, 4.0, 4.0, 2.0]), "M55 16l1 -16h2l1 8");
        assert_eq!(path(&[]), "");
    }

    #[test]
    fn the_lines_have_their_figures_also_in_words() {
        assert!(Sparks::of(&[]).is_none());
        let html = Sparks::of(&[point(3.0, 7), point(12.4, 1)]).unwrap().to_string();
        let label = "In the last 5 minutes at most 7 waiting; now 12 reconciles/s, 0 errors/s, 4.0 ms for each";
        assert!(html.contains(&format!("aria-label=\"{label}\"")), "{html}");
        assert!(html.contains("12/s") && html.contains("at most 7"), "{html}");
    }

    #[test]
    fn five_busy_minutes_take_little_space() {
        let points: Vec<_> = (0..60).map(|at| point(f64::from(at * 7 % 13), 3)).collect();
        let html = Sparks::of(&points).unwrap().to_string();
        assert!(html.len() < 2000, "{}", html.len());
    }

    #[test]
    fn rates_have_about_two_digits() {
        let shown = [0.0, 0.04, 0.25, 9.96, 1234.5].map(rate);
        assert_eq!(shown, ["0", "<0.1", "0.2", "10", "1234"]);
    }
}
