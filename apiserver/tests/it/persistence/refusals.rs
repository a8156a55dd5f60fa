//! Data directories that cannot be used, and who may read one that can.

use std::{
    fs, io,
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    path::Path,
};

use futures::future::join_all;
use kube::config::{KubeConfigOptions, Kubeconfig};
use operetta_apiserver::{DataDirectoryError, Server};

use super::folder::Folder;
use crate::common::{config_map, config_maps, create};

/// Changes the bytes of a file.
type Damage = fn(&mut Vec<u8>);

/// Makes a link to a file.
type Link = fn(&Path, &Path) -> io::Result<()>;

/// A data directory that was used.
async fn used(name: &str) -> Folder {
    let folder = Folder::new(name);
    let server = Server::builder().start_in(folder.path()).unwrap();
    // At one time: what waits for the disk together is one transaction.
    let objects = config_maps(&server.client());
    let made = |number| {
        let objects = objects.clone();
        async move { create(&objects, config_map(&format!("a{number}"), "1")).await }
    };
    join_all((0..50).map(made)).await;
    server.close().await;
    folder
}

fn start(folder: &Folder) -> Result<Server, DataDirectoryError> {
    Server::builder().start_in(folder.path())
}

#[operetta_harness::test]
async fn a_second_process_is_refused_and_the_error_names_the_directory() {
    let folder = Folder::new("second");
    let program = folder.program();
    let error = folder.refusal();
    let name = folder.path().display();
    assert_eq!(
        error,
        format!(
            "error: --data: the data directory {name} is in use by another process: stop that process, \
             or name another directory\n"
        )
    );
    assert!(matches!(start(&folder), Err(DataDirectoryError::InUse { .. })));
    program.kill();
    start(&folder).expect("it is free again");
}

#[operetta_harness::test]
async fn a_newer_format_is_refused() {
    let folder = used("newer").await;
    fs::write(folder.path().join("format"), "2\n").unwrap();
    let error = folder.refusal();
    assert!(error.contains("has format 2, and this version reads formats up to 1"), "{error}");
    assert!(error.contains(&folder.path().display().to_string()), "{error}");
}

#[operetta_harness::test]
async fn a_directory_with_other_files_is_refused_and_not_touched() {
    let folder = Folder::new("foreign");
    fs::create_dir_all(folder.path()).unwrap();
    fs::write(folder.path().join("notes"), "mine").unwrap();
    assert!(matches!(start(&folder), Err(DataDirectoryError::Foreign { .. })));
    let names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(names, ["notes"]);
}

#[operetta_harness::test]
async fn a_link_in_a_new_directory_is_not_followed() {
    let links: [Link; 2] =
        [|file, link| fs::hard_link(file, link), |file, link| symlink(file, link)];
    for link in links {
        let folder = Folder::new("linked");
        let victim = folder.path().with_extension("victim");
        fs::create_dir_all(folder.path()).unwrap();
        fs::write(&victim, "").unwrap();
        fs::set_permissions(&victim, fs::Permissions::from_mode(0o644)).unwrap();
        link(&victim, &folder.path().join("objects.redb")).unwrap();
        link(&victim, &folder.path().join("format.draft")).unwrap();
        let error = start(&folder).unwrap_err().to_string();
        assert!(error.contains("objects.redb") && error.contains("exists"), "{error}");
        let metadata = fs::metadata(&victim).unwrap();
        assert_eq!((metadata.len(), metadata.permissions().mode() & 0o777), (0, 0o644));
        fs::remove_file(victim).unwrap();
    }
}

#[operetta_harness::test]
async fn a_file_that_cannot_be_read_or_created_is_named() {
    let folder = Folder::new("file");
    fs::write(folder.path(), "").unwrap();
    let error = start(&folder).unwrap_err().to_string();
    assert!(error.starts_with(&format!("cannot use {}: ", folder.path().display())), "{error}");
    fs::remove_file(folder.path()).unwrap();
}

#[operetta_harness::test]
async fn a_damaged_file_is_refused_and_the_error_says_what_to_do() {
    let damages: [(&str, Damage); 4] = [
        ("objects.redb", Vec::clear),
        ("objects.redb", |bytes| bytes.truncate(bytes.len() / 2)),
        ("format", Vec::clear),
        ("credentials.json", |bytes| bytes.truncate(bytes.len() / 2)),
    ];
    for (number, (name, damage)) in damages.into_iter().enumerate() {
        let folder = used(&format!("damage-{number}")).await;
        let server = start(&folder).unwrap();
        server.serve("127.0.0.1:0".parse().unwrap()).unwrap().stop().await;
        server.close().await;
        change(&folder.path().join(name), &damage);
        let error = folder.refusal();
        assert!(
            error.contains(&format!("{}/{name} is damaged (", folder.path().display())),
            "{error}"
        );
        assert!(
            error.contains("): restore the data directory from a copy, or remove it"),
            "{error}"
        );
    }
}

#[operetta_harness::test]
async fn no_flipped_byte_of_the_objects_changes_an_object_without_a_refusal() {
    let folder = used("flip").await;
    let objects = folder.path().join("objects.redb");
    let sound = fs::read(&objects).unwrap();
    let all = |server: Server| async move {
        let all = config_maps(&server.client())
            .list(&kube::api::ListParams::default())
            .await
            .unwrap()
            .items;
        server.close().await;
        all
    };
    let expected = all(start(&folder).unwrap()).await;
    let mut refusals = 0;
    for at in (0..sound.len()).step_by(sound.len() / 97) {
        fs::write(&objects, &sound).unwrap();
        change(&objects, &|bytes| bytes[at] ^= 0x10);
        match start(&folder) {
            Ok(server) => assert_eq!(all(server).await, expected, "byte {at}"),
            Err(DataDirectoryError::Damaged { .. }) => refusals += 1,
            Err(other) => panic!("byte {at}: {other}"),
        }
    }
    assert!(refusals > 0);
}

#[operetta_harness::test]
async fn credentials_and_the_address_stay_valid_and_only_the_owner_may_read_them() {
    let folder = Folder::new("credentials");
    let program = folder.program();
    let before = folder.client().await;
    create(&config_maps(&before), config_map("a", "1")).await;
    let text = fs::read_to_string(folder.path().join("kubeconfig")).unwrap();
    program.kill();
    let _program = folder.program();
    assert_eq!(fs::read_to_string(folder.path().join("kubeconfig")).unwrap(), text);
    let old = Kubeconfig::from_yaml(&text).unwrap();
    let config =
        kube::Config::from_custom_kubeconfig(old, &KubeConfigOptions::default()).await.unwrap();
    config_maps(&kube::Client::try_from(config).unwrap()).get("a").await.unwrap();
    assert_eq!(mode(folder.path()), 0o700);
    for file in fs::read_dir(folder.path()).unwrap() {
        let path = file.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

fn change(path: &Path, change: &dyn Fn(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}
