//! Replacing a certificate that is in use.

use operetta_harness::Folder;
use rcgen::{CertificateParams, KeyPair};

use super::*;

/// A folder whose files are behind a symbolic link, as in volumes of kubelet.
struct Mount(Folder);

impl Mount {
    fn new() -> Self {
        let mount = Self(Folder::new());
        for file in ["tls.crt", "tls.key"] {
            std::os::unix::fs::symlink(Path::new("..data").join(file), mount.0.join(file)).unwrap();
        }
        mount
    }

    /// Replaces both files at once.
    fn swap(&self, version: &str, (certificate, key): (&str, &str)) {
        let data = self.0.join(version);
        fs::create_dir_all(&data).unwrap();
        fs::write(data.join("tls.crt"), certificate).unwrap();
        fs::write(data.join("tls.key"), key).unwrap();
        let link = self.0.join("..data_tmp");
        std::os::unix::fs::symlink(version, &link).unwrap();
        fs::rename(link, self.0.join("..data")).unwrap();
    }

    fn tls(&self) -> Tls {
        Tls::from_files(self.0.join("tls.crt"), self.0.join("tls.key"))
    }
}

fn pair() -> (String, String) {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    (params.self_signed(&key).unwrap().pem(), key.serialize_pem())
}

fn served(certificates: &Certificates) -> CertificateDer<'static> {
    certificates.state().current.as_ref().unwrap().cert[0].clone()
}

fn der(pem: &str) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()
}

#[test]
fn a_certificate_replaced_behind_a_link_is_in_use_after_a_check() {
    let mount = Mount::new();
    let ((first, first_key), (second, second_key)) = (pair(), pair());
    mount.swap("1", (&first, &first_key));
    let certificates = mount.tls().load().unwrap();
    assert_eq!(served(&certificates), der(&first));
    certificates.check();
    assert_eq!(served(&certificates), der(&first));
    mount.swap("2", (&second, &second_key));
    certificates.check();
    assert_eq!((served(&certificates), certificates.problem()), (der(&second), None));
}

#[test]
fn an_invalid_pair_leaves_the_old_one_in_use_until_a_valid_one() {
    let mount = Mount::new();
    let ((first, first_key), (second, second_key)) = (pair(), pair());
    mount.swap("1", (&first, &first_key));
    let certificates = mount.tls().load().unwrap();
    for (version, broken, why) in [
        ("2", (second.as_str(), first_key.as_str()), "together"),
        ("3", (second.as_str(), "no key"), "tls.key contains no private key"),
        ("4", ("", second_key.as_str()), "tls.crt contains no certificate"),
    ] {
        mount.swap(version, broken);
        for _ in 0..2 {
            certificates.check();
            let problem = certificates.problem().unwrap();
            assert!(problem.contains(why), "{problem}");
            assert_eq!(served(&certificates), der(&first));
        }
    }
    mount.swap("5", (&second, &second_key));
    certificates.check();
    assert_eq!((served(&certificates), certificates.problem()), (der(&second), None));
}

#[test]
fn files_that_were_absent_are_loaded_when_they_return() {
    let mount = Mount::new();
    let (certificate, key) = pair();
    mount.swap("1", (&certificate, &key));
    let certificates = mount.tls().load().unwrap();
    fs::remove_file(mount.0.join("..data")).unwrap();
    certificates.check();
    assert!(certificates.problem().unwrap().contains("tls.crt"));
    mount.swap("1", (&certificate, &key));
    certificates.check();
    assert_eq!((served(&certificates), certificates.problem()), (der(&certificate), None));
}

#[test]
fn errors_name_the_files_and_never_quote_them() {
    let (certificate, key) = pair();
    let (_, other) = pair();
    let secret: String = key.lines().nth(1).unwrap().to_owned();
    for (certificate, key) in [
        (certificate.as_str(), other.as_str()),
        (certificate.as_str(), ""),
        (key.as_str(), key.as_str()),
        (certificate.as_str(), &format!("-----BEGIN PRIVATE KEY-----\n{secret}\n-----END")),
        (&format!("-----BEGIN {secret}\n"), key.as_str()),
    ] {
        let tls = Tls::from_pem(certificate, key);
        let shown = format!("{tls:?}");
        let error = tls.load().unwrap_err();
        let shown = format!("{shown} {error} {error:?}");
        assert!(!shown.contains(&secret), "{shown}");
    }
    let error = Tls::from_files("/nonexistent/tls.crt", "/nonexistent/tls.key").load().unwrap_err();
    assert!(error.to_string().contains("/nonexistent/tls.crt"), "{error}");
}

#[test]
#[cfg(feature = "certificates")]
fn a_certificate_is_replaced_by_whoever_gives_it_unless_it_is_invalid() {
    let certificates = Certificates::replaced_by("Secret ns/shop");
    assert!(certificates.state().current.is_none());
    let ((first, first_key), (second, second_key)) = (pair(), pair());
    assert!(certificates.replace(first.as_bytes(), first_key.as_bytes()).unwrap());
    assert!(!certificates.replace(first.as_bytes(), first_key.as_bytes()).unwrap());
    let error = certificates.replace(second.as_bytes(), b"no key").unwrap_err();
    assert!(error.to_string().contains("`tls.key` of Secret ns/shop"), "{error}");
    assert_eq!(served(&certificates), der(&first));
    assert!(certificates.replace(second.as_bytes(), second_key.as_bytes()).unwrap());
    assert_eq!(served(&certificates), der(&second));
}
