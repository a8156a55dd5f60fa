//! The program as a child process with little memory, and connections to it.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{Shutdown, TcpStream},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    crypto::ring,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};
use serde_json::Value;

/// The address space of the program in KiB.
const ADDRESS_SPACE: u64 = (512 + MORE_IN_DEBUG) * 1024;
/// How many MiB a deep stack takes more in a debug build: see `deep` in the sources.
const MORE_IN_DEBUG: u64 = if cfg!(debug_assertions) { 120 } else { 0 };
/// How long an answer may take before the program counts as hanging.
const PATIENCE: Duration = Duration::from_mins(2);

/// A connection over TLS.
pub(crate) type Tls = StreamOwned<ClientConnection, TcpStream>;

/// The running program.
pub(crate) struct Process {
    child: Mutex<Child>,
    folder: PathBuf,
    address: String,
    token: String,
    tls: Arc<ClientConfig>,
}

impl Process {
    /// Starts it, and waits until its kubeconfig is there.
    pub(crate) fn start() -> Self {
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let (process, number) = (std::process::id(), STARTED.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(format!("hostile-{process}-{number}"));
        fs::create_dir_all(&folder).expect("a folder can be made");
        let kubeconfig = folder.join("config");
        let script = format!("ulimit -v {ADDRESS_SPACE}; exec \"$0\" \"$@\"");
        let mut command = Command::new("sh");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_operetta-apiserver")]);
        command.args(["--storage-mib", "64", "--kubeconfig"]).arg(&kubeconfig);
        // Every thread of its own would reserve 64 MiB of address space otherwise.
        command.env("MALLOC_ARENA_MAX", "1");
        let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
        let mut output = BufReader::new(child.stdout.take().expect("it has an output"));
        for _ in 0..2 {
            output.read_line(&mut String::new()).expect("it says where it listens");
        }
        let text = fs::read_to_string(&kubeconfig).expect("it has written its kubeconfig");
        let config: Value = serde_yaml_ng::from_str(&text).expect("a kubeconfig is YAML");
        let cluster = &config["clusters"][0]["cluster"];
        let string = |value: &Value| value.as_str().expect("it is a text").to_owned();
        Self {
            child: Mutex::new(child),
            folder,
            address: string(&cluster["server"]).trim_start_matches("https://").to_owned(),
            token: string(&config["users"][0]["user"]["token"]),
            tls: trusting(&string(&cluster["certificate-authority-data"])),
        }
    }

    /// What it has open, and how many KiB of memory it takes.
    pub(crate) fn usage(&self) -> (usize, u64) {
        let id = self.child.lock().expect("no test panicked with it").id();
        let files = fs::read_dir(format!("/proc/{id}/fd")).expect("it lives").count();
        let status = fs::read_to_string(format!("/proc/{id}/status")).expect("it lives");
        let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let memory = memory.and_then(|it| it.trim().strip_suffix(" kB")?.parse().ok());
        (files, memory.expect("it takes memory"))
    }

    /// How a client trusts it.
    pub(crate) fn trust(&self) -> ClientConfig {
        ClientConfig::clone(&self.tls)
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// The header that says who asks.
    pub(crate) fn authorization(&self) -> String {
        format!("Bearer {}", self.token)
    }

    /// A plain connection.
    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout can be set");
        stream.set_write_timeout(Some(PATIENCE)).expect("a timeout can be set");
        stream
    }

    /// A connection over TLS.
    pub(crate) fn connect_tls(&self) -> Tls {
        let name = ServerName::try_from("localhost").expect("a name");
        let tls = ClientConnection::new(Arc::clone(&self.tls), name).expect("TLS is set up");
        StreamOwned::new(tls, self.connect())
    }

    /// The first lines of a request, with the token.
    pub(crate) fn head(&self, method: &str, target: &str, headers: &str) -> String {
        let token = &self.token;
        format!(
            "{method} {target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\
             Connection: close\r\n{headers}\r\n"
        )
    }

    /// Sends a request and returns the answer.
    pub(crate) fn send(&self, method: &str, target: &str, media: &str, body: &[u8]) -> String {
        let headers = format!("Content-Type: {media}\r\nContent-Length: {}\r\n", body.len());
        self.send_raw(self.head(method, target, &headers).as_bytes(), body)
    }

    /// Sends bytes and returns the answer; a connection that the server closes is an answer too.
    pub(crate) fn send_raw(&self, head: &[u8], body: &[u8]) -> String {
        let mut stream = self.connect_tls();
        let sent = stream.write_all(head).and_then(|()| stream.write_all(body));
        let _ = sent.and_then(|()| stream.flush());
        Self::answer(stream, head)
    }

    /// Sends bytes and no more, whatever they promise, and returns the answer.
    pub(crate) fn send_half(&self, head: &[u8]) -> String {
        let mut stream = self.connect_tls();
        let _ = stream.write_all(head).and_then(|()| stream.flush());
        let _ = stream.sock.shutdown(Shutdown::Write);
        Self::answer(stream, head)
    }

    fn answer(mut stream: Tls, head: &[u8]) -> String {
        let begun = Instant::now();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(begun.elapsed() < PATIENCE, "it hangs on {}", String::from_utf8_lossy(&head[..80]));
        let _ = stream.sock.shutdown(Shutdown::Both);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Whether it lives and answers.
    pub(crate) fn assert_alive(&mut self, after: &str) {
        let child = self.child.get_mut().expect("no test panicked with it");
        let ended = child.try_wait().expect("it can be asked");
        assert!(ended.is_none(), "after {after} it ended with {ended:?}");
        let answer = self.send("GET", "/api/v1/namespaces/default", "", b"");
        assert!(answer.starts_with("HTTP/1.1 200"), "after {after} it answers {answer:?}");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let child = self.child.get_mut().expect("no test panicked with it");
        let _ = child.kill();
        let _ = child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn trusting(authority: &str) -> Arc<ClientConfig> {
    let pem = BASE64_STANDARD.decode(authority).expect("it is base64");
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_slice(&pem).expect("it is PEM"))
        .expect("it is an authority");
    let config = ClientConfig::builder_with_provider(ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .expect("there are versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    Arc::new(config)
}
