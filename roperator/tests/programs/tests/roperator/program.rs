//! A program that is written for roperator, as a process.

use std::{
    ffi::OsStr,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, ChildStderr, Command, ExitStatus, Stdio},
    thread,
};

/// A running program. Dropping it kills it.
pub(crate) struct Program {
    process: Child,
    port: u16,
}

impl Program {
    /// Returns when it serves health and metrics.
    pub(crate) fn start(file: impl AsRef<OsStr>) -> Self {
        Self::start_with(file, [])
    }

    /// The same with more variables of its environment.
    pub(crate) fn start_with<const N: usize>(
        file: impl AsRef<OsStr>,
        environment: [(&str, &OsStr); N],
    ) -> Self {
        let mut command = Command::new(file);
        command.env("ROPERATOR_SERVER_PORT", "0").env("RUST_LOG", "info").envs(environment);
        let mut process = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut log = BufReader::new(process.stderr.take().unwrap());
        let port = port(&mut log);
        // The process would wait if nobody read its log.
        thread::spawn(move || {
            log.lines().map_while(Result::ok).for_each(|line| eprintln!("{line}"));
        });
        Self { process, port }
    }

    /// The status and the body of the answer to a GET.
    pub(crate) fn get(&self, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        let body = answer.split("\r\n\r\n").nth(1).unwrap_or_default().to_owned();
        (status, body)
    }

    pub(crate) fn assert_serves_health_and_metrics(&self) {
        assert_eq!(self.get("/health"), (200, String::new()));
        let (status, metrics) = self.get("/metrics");
        assert_eq!(status, 200);
        assert!(metrics.contains("operetta_reconciles_total"), "{metrics}");
        assert_eq!(self.get("/api/v1/operators").0, 404, "nothing else is served");
    }

    /// Sends SIGTERM, and waits for the end.
    pub(crate) fn terminate(mut self) -> ExitStatus {
        let kill = Command::new("kill").arg(self.process.id().to_string()).status().unwrap();
        assert!(kill.success());
        self.process.wait().unwrap()
    }
}

fn port(log: &mut BufReader<ChildStderr>) -> u16 {
    let mut before = Vec::new();
    for line in log.lines().map_while(Result::ok) {
        if let Some((_, address)) = line.split_once("http://") {
            return address.trim().rsplit(':').next().unwrap().parse().unwrap();
        }
        before.push(line);
    }
    panic!("the program has ended: {}", before.join("\n"));
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
