//! Everyday kubectl commands on the embedded server and on the real control plane: what is printed must be the same.
//!
//! The commands stand in `commands.txt`, the files that they name in `objects/`. Commands that still differ stand in
//! `open.txt`, which may only shrink: `UPDATE_EXPECT=1` rewrites it, `OPERETTA_KUBECTL_SHOW=1` prints both outputs of
//! those. Both servers enforce roles. Without the programs of the real control plane the test is ignored.

mod mask;
mod shell;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    thread,
};

use operetta_apiserver::{Server, User};

use shell::{Printed, Shell};

use crate::common::{control_plane, open_cases::open_cases};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/kubectl_alike");

/// Why the commands that differ do so.
const WHY: &str = "# The embedded server starts with the rules of cluster roles that are made of others. On the real one a controller
# fills them, which does not run here.";

#[operetta_harness::test]
#[ignore = "exhaustive: .ci/long kubectl_alike"]
async fn kubectl_prints_the_same_as_with_the_real_server() {
    let real = control_plane::own().await;
    let server = Server::builder().rbac().without_controller_manager().start();
    let running = server.serve("127.0.0.1:0".parse().unwrap()).unwrap();
    // The administrator of the real one has a certificate, too.
    let admin = running.kubeconfig_of(&User::new("admin").group("system:masters")).unwrap();
    let home = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("kubectl_alike");
    for side in ["embedded", "real"] {
        fs::create_dir_all(home.join(side)).unwrap();
    }
    fs::write(home.join("embedded/kubeconfig"), admin).unwrap();
    fs::copy(real.kubeconfig_path(), home.join("real/kubeconfig")).unwrap();
    let kubectl = real.kubectl();
    let shells = ["embedded", "real"].map(|name| Shell::new(&kubectl, &home.join(name)));
    let outputs = tokio::task::spawn_blocking(move || run_both(shells)).await.unwrap();
    running.stop().await;
    judge(&outputs);
}

/// A command with what it printed with the embedded and with the real server.
type Compared = (String, [Printed; 2]);

fn run_both(shells: [Shell; 2]) -> Vec<Compared> {
    let text = fs::read_to_string(Path::new(FOLDER).join("commands.txt")).unwrap();
    let [embedded, real] = shells.map(|shell| {
        let text = text.clone();
        thread::spawn(move || run(&shell, &text))
    });
    let (embedded, real) = (embedded.join().unwrap(), real.join().unwrap());
    embedded.into_iter().zip(real).map(|((command, a), (_, b))| (command, [a, b])).collect()
}

/// Runs all commands, those under one title in a namespace of their own.
fn run(shell: &Shell, text: &str) -> Vec<(String, Printed)> {
    let mut namespace = String::new();
    let mut printed = Vec::new();
    let is_command = |line: &&str| !line.is_empty() && !line.starts_with('#');
    for (at, line) in text.lines().filter(is_command).enumerate() {
        if line.starts_with("== ") {
            namespace = format!("test{at}x");
            shell.begin(&namespace);
        } else {
            printed.push((line.to_owned(), shell.run(line, &namespace)));
        }
    }
    printed
}

fn judge(outputs: &[Compared]) {
    let file = Path::new(FOLDER).join("open.txt");
    let differing = outputs.iter().filter(|(_, [embedded, real])| embedded != real);
    let now: BTreeSet<&str> = differing.clone().map(|(command, _)| command.as_str()).collect();
    println!(
        "figure: {} of {} commands print the same",
        outputs.len() - differing.clone().count(),
        outputs.len()
    );
    if std::env::var_os("OPERETTA_KUBECTL_SHOW").is_some() {
        differing.clone().for_each(show);
    }
    let Some(open) = open_cases(&file, WHY, &now) else { return };
    let new: Vec<_> = differing.filter(|(command, _)| !open.contains(command.as_str())).collect();
    for compared in &new {
        show(compared);
    }
    assert!(new.is_empty(), "{} commands print something else", new.len());
}

fn show((command, [embedded, real]): &Compared) {
    println!("$ {command}\n--- embedded\n{embedded}\n--- real\n{real}\n");
}
