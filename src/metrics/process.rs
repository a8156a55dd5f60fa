//! The process metrics that every Prometheus client exports under these names, from `/proc/self`.
//!
//! The `process` feature of the metrics crate is not used: it counts CPU time in whole seconds and
//! needs a second version of rustix. Without `/proc` the metrics are absent.

use std::fs;

use prometheus::{
    Counter, Gauge, Opts, Result,
    core::{Collector, Desc},
    proto::MetricFamily,
};

use super::described::Registrar;

pub(super) fn register(registrar: &mut Registrar) -> Result<()> {
    registrar.register(Process::new()?)
}

struct Process {
    cpu: Counter,
    gauges: [Gauge; 6],
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Facts {
    cpu_seconds: f64,
    start_time: f64,
    virtual_bytes: f64,
    resident_bytes: f64,
    threads: f64,
    open_files: f64,
    max_files: f64,
}

/// Linux shows times to user space in hundredths of a second on every architecture that Rust's
/// standard library supports.
const TICKS_PER_SECOND: f64 = 100.0;

impl Process {
    fn new() -> Result<Self> {
        let gauge = |name: &str, help: &str| Gauge::with_opts(Opts::new(name, help));
        let cpu = Opts::new("process_cpu_seconds_total", "User and system CPU time, in seconds.");
        Ok(Self {
            cpu: Counter::with_opts(cpu)?,
            gauges: [
                gauge("process_start_time_seconds", "When the process started, in Unix time.")?,
                gauge("process_virtual_memory_bytes", "Virtual memory.")?,
                gauge("process_resident_memory_bytes", "Resident memory.")?,
                gauge("process_threads", "Threads.")?,
                gauge("process_open_fds", "Open file descriptors.")?,
                gauge("process_max_fds", "The limit of open file descriptors.")?,
            ],
        })
    }

    fn update(&self, facts: Facts) {
        let Facts {
            cpu_seconds,
            start_time,
            virtual_bytes,
            resident_bytes,
            threads,
            open_files,
            max_files,
        } = facts;
        self.cpu.inc_by((cpu_seconds - self.cpu.get()).max(0.0));
        let values = [start_time, virtual_bytes, resident_bytes, threads, open_files, max_files];
        for (gauge, value) in self.gauges.iter().zip(values) {
            gauge.set(value);
        }
    }
}

impl Collector for Process {
    fn desc(&self) -> Vec<&Desc> {
        self.cpu.desc().into_iter().chain(self.gauges.iter().flat_map(Collector::desc)).collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let Some(facts) = read() else { return Vec::new() };
        self.update(facts);
        let gauges = self.gauges.iter().flat_map(Collector::collect);
        self.cpu.collect().into_iter().chain(gauges).collect()
    }
}

#[allow(clippy::cast_precision_loss)] // The number of descriptors is small.
fn read() -> Option<Facts> {
    let file = |name: &str| fs::read_to_string(name).ok();
    let (cpu_seconds, since_boot) = times(&file("/proc/self/stat")?)?;
    let status = file("/proc/self/status")?;
    let open_files = fs::read_dir("/proc/self/fd").ok()?.count() as f64;
    Some(Facts {
        cpu_seconds,
        start_time: number(&file("/proc/stat")?, "btime")? + since_boot,
        virtual_bytes: number(&status, "VmSize:")? * 1024.0,
        resident_bytes: number(&status, "VmRSS:")? * 1024.0,
        threads: number(&status, "Threads:")?,
        open_files,
        // `unlimited` is not a number, and does not occur in practice.
        max_files: number(&file("/proc/self/limits")?, "Max open files")?,
    })
}

/// CPU time, and the start of the process after the start of the system, in seconds.
fn times(stat: &str) -> Option<(f64, f64)> {
    // The second field is the name of the program in parentheses, and may contain anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks = |index: usize| fields.split_whitespace().nth(index)?.parse::<f64>().ok();
    // Fields 14, 15 and 22, counted from 1; the first after the name is 3.
    let (cpu, since_boot) = (ticks(11)? + ticks(12)?, ticks(19)?);
    Some((cpu / TICKS_PER_SECOND, since_boot / TICKS_PER_SECOND))
}

/// The first number in the line that starts with a name.
fn number(text: &str, name: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_program_may_contain_anything() {
        let stat = "7 (a) b (c) S 1 7 7 0 -1 4194560 1 0 0 0 150 50 0 0 20 0 5 0 1200 9 9";
        assert_eq!(times(stat), Some((2.0, 12.0)));
        assert_eq!(times("nonsense"), None);
    }

    #[test]
    fn a_number_is_found_by_the_start_of_its_line() {
        let status = "Name:\tx\nVmRSS:\t  2048 kB\nThreads:\t5\n";
        assert_eq!(number(status, "VmRSS:"), Some(2048.0));
        assert_eq!(number(status, "VmSize:"), None);
        assert_eq!(
            number("Max open files            1024   4096   files", "Max open files"),
            Some(1024.0)
        );
    }
}
