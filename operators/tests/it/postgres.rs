//! The scripts of the operator `database`, run by a real `PostgreSQL` of this machine. Without one they are
//! ignored. The entry point of the image is played by the test.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use operetta_harness::{Folder, ignore};

const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/database/scripts");

/// A primary, and what its copies and clients need.
struct Postgres {
    folder: Folder,
    port: u16,
}

impl Postgres {
    /// Makes a database cluster as the image does, with `init.sh`, and starts it.
    fn start() -> Self {
        let folder = new_folder();
        let port = free_port();
        let postgres = Self { folder, port };
        postgres.shell("mkdir backups", &[]);
        fs::write(postgres.folder.join("password"), "super").unwrap();
        for script in ["init", "clone", "backup", "restore"] {
            let text = fs::read_to_string(format!("{SCRIPTS}/{script}.sh")).unwrap();
            let backups = postgres.folder.join("backups");
            let text = text.replace("/backups", backups.to_str().unwrap());
            fs::write(postgres.folder.join(format!("{script}.sh")), text).unwrap();
        }
        postgres.shell(
            "initdb --pgdata primary --username postgres --pwfile password --auth-local trust \
             --auth-host scram-sha-256 && echo 'host all all all scram-sha-256' >> primary/pg_hba.conf",
            &[],
        );
        postgres.serve("primary", postgres.port, "-c listen_addresses=''");
        let here = postgres.folder.to_str().unwrap();
        postgres.shell("bash init.sh", &[("PGHOST", here), ("PGDATA", "primary")]);
        postgres.end("primary");
        postgres.serve("primary", postgres.port, "");
        postgres
    }

    fn serve(&self, data: &str, port: u16, options: &str) {
        let here = self.folder.display();
        let start = format!(
            "pg_ctl --pgdata {data} --log {data}.log --wait --options \
             \"-p {port} -k {here} {options}\" start > /dev/null"
        );
        self.shell(&start, &[]);
    }

    fn end(&self, data: &str) {
        self.shell(&format!("pg_ctl --pgdata {data} --mode fast --wait stop"), &[]);
    }

    /// Runs a script of the client of the primary, as a Job does.
    fn client(&self, command: &str, more: &[(&str, &str)]) -> (bool, String) {
        let client = [
            ("PGHOST", "127.0.0.1"),
            ("PGUSER", "postgres"),
            ("PGDATABASE", "app"),
            ("PGPASSWORD", "super"),
        ];
        self.run(command, &[&client, more].concat())
    }

    fn ask(&self, query: &str) -> String {
        let (is_good, answer) = self.client(&format!("psql -qAtc \"{query}\""), &[]);
        assert!(is_good, "{query}: {answer}");
        answer.trim().to_owned()
    }

    /// Runs `clone.sh` as the Pod of this name does.
    fn clone_as(&self, pod: &str) -> String {
        let environment =
            [("HOSTNAME", pod), ("PRIMARY", "main-0"), ("PGHOST", "127.0.0.1"), ("PGDATA", pod)];
        self.shell("bash clone.sh", &environment)
    }

    fn shell(&self, command: &str, environment: &[(&str, &str)]) -> String {
        let (is_good, output) = self.run(command, environment);
        assert!(is_good, "{command}: {output}");
        output
    }

    fn run(&self, command: &str, environment: &[(&str, &str)]) -> (bool, String) {
        let mut shell = as_user();
        shell.args(["bash", "-c", command]).current_dir(&self.folder).env_clear();
        let path = format!("{}:/usr/bin:/bin", programs().display());
        shell.env("PATH", path).env("PGPORT", self.port.to_string()).env("LC_ALL", "C");
        let secrets = [("REPLICATION_PASSWORD", "copy"), ("APP_PASSWORD", "it's")];
        let all: BTreeMap<_, _> = secrets.iter().chain(environment).copied().collect();
        let output = shell.envs(all).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(text).unwrap())
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        for data in ["primary", "main-1"] {
            let _ = self.run(&format!("pg_ctl --pgdata {data} --mode immediate stop"), &[]);
        }
    }
}

/// Where the programs of `PostgreSQL` are; the test is ignored without them.
fn programs() -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let found = versions.map(|version| version.path().join("bin"));
    let mut found: Vec<_> = found.filter(|bin| bin.join("initdb").exists()).collect();
    found.sort();
    found.pop().unwrap_or_else(|| ignore("PostgreSQL is not installed"))
}

/// `PostgreSQL` refuses to run as root.
fn as_user() -> Command {
    let mut command = Command::new("setpriv");
    if is_root() {
        command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]);
    }
    command
}

fn is_root() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    status.lines().any(|line| line.starts_with("Uid:\t0\t"))
}

/// A folder that the user of `PostgreSQL` can use: the folder of the build may not be.
fn new_folder() -> Folder {
    programs();
    let folder = Folder::new();
    if is_root() {
        let owner = Command::new("chown").arg("postgres").arg(&*folder).status().unwrap();
        assert!(owner.success());
    }
    folder
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[operetta_harness::test]
fn the_scripts_make_copies_backups_and_a_restore() {
    let postgres = Postgres::start();
    let app = [("PGUSER", "app"), ("PGPASSWORD", "it's")];
    let table = "psql -qc 'create table t as select generate_series(1, 100) as x'";
    assert_eq!(postgres.client(table, &app), (true, String::new()), "the program has its database");

    // A copy of the primary; the primary itself copies nothing.
    assert_eq!(postgres.clone_as("main-0"), "");
    assert!(!postgres.folder.join("main-0").exists());
    postgres.clone_as("main-1");
    let port = free_port();
    postgres.serve("main-1", port, "");
    let ask = "psql -qAtc 'select count(*), pg_is_in_recovery() from t'";
    let there = port.to_string();
    let answer = postgres.client(ask, &[&app[..], &[("PGPORT", &there)]].concat());
    assert_eq!(answer, (true, "100|t\n".to_owned()));
    postgres.end("main-1");
    let mark = postgres.folder.join("main-1/mark");
    postgres.shell("touch main-1/mark", &[]);
    postgres.clone_as("main-1");
    assert!(mark.exists(), "a copy that can follow is kept");

    // The oldest backup goes.
    let retention = [("RETENTION", "1")];
    let backup = || {
        let (is_good, output) = postgres.client("bash backup.sh", &retention);
        assert!(is_good, "{output}");
        Path::new(output.trim()).to_owned()
    };
    let old = postgres.folder.join("backups/20200101T000000Z.dump");
    postgres.shell("touch backups/20200101T000000Z.dump backups/20200101T000000Z.dump.part", &[]);
    let new = backup();
    assert!(new.exists() && !old.exists(), "{}", new.display());
    assert_eq!(fs::read_dir(postgres.folder.join("backups")).unwrap().count(), 1);

    // A database with tables is not overwritten; an empty one gets the backup.
    let restore = |more: &[(&str, &str)]| postgres.client("bash restore.sh", more);
    let kept = (true, "the database has 1 tables: nothing is restored\n".to_owned());
    assert_eq!(restore(&[]), kept);
    postgres.ask("drop table t");
    assert_eq!(restore(&[]), (true, String::new()));
    let owner = "select count(*), (select tableowner from pg_tables where tablename = 't') from t";
    assert_eq!(postgres.ask(owner), "100|app");
    let (is_good, output) = restore(&[("BACKUP", "no-such.dump")]);
    assert!(!is_good && output.contains("there is no backup"), "{output}");

    // The primary has removed what the copy lacks.
    for _ in 0..3 {
        postgres.ask("create table gone()");
        postgres.ask("drop table gone");
        postgres.ask("select pg_switch_wal()");
        postgres.ask("checkpoint");
    }
    let output = postgres.clone_as("main-1");
    assert!(output.contains("any more: the copy is made again") && !mark.exists(), "{output}");
    postgres.shell("touch main-1/mark", &[]);
    postgres.end("primary");
    let output = postgres.clone_as("main-1");
    assert!(output.contains("the primary does not answer: the copy is kept"), "{output}");
    assert!(mark.exists());
}
