//! chromedriver on its own port, for the duration of a test.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

use operetta_harness::ignore_outside_ci;

/// A running chromedriver.
pub(crate) struct Driver {
    process: Child,
    pub(crate) url: String,
}

impl Driver {
    /// Starts it. Without the program the test is ignored.
    pub(crate) fn start() -> Self {
        let missing = |program: &str| Command::new(program).arg("--version").output().is_err();
        if let Some(program) = ["chromedriver", "chromium"].into_iter().find(|it| missing(it)) {
            ignore_outside_ci(format!("no `{program}` (Debian: chromium, chromium-driver)"));
        }
        Self::launch()
    }

    /// It binds a free IPv4 port and the same IPv6 port, which may be in use: then it exits, and is
    /// started again.
    fn launch() -> Self {
        let mut output = Vec::new();
        for _ in 0..3 {
            let mut process = Command::new("chromedriver")
                .arg("--port=0")
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
            while let Some(line) = lines.next().map(Result::unwrap) {
                if let Some(port) = port_of(&line) {
                    // Its further output has to be read.
                    std::thread::spawn(move || lines.count());
                    return Self { process, url: format!("http://127.0.0.1:{port}") };
                }
                output.push(line);
            }
            process.wait().unwrap();
        }
        panic!("chromedriver does not start: {output:#?}");
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn port_of(line: &str) -> Option<u16> {
    let (_, rest) = line.split_once("started successfully on port ")?;
    rest.trim_end_matches('.').parse().ok()
}
