//! Paths of files: relative ones that stay below a folder, and modes of files.

use super::super::field::{Errors, Field};

/// A path below a folder, whose first part is not reserved.
pub(in super::super) fn not_reserved(path: &Field, errors: &mut Errors) {
    descending(path, errors);
    // Of a bare `..` the real server says both.
    if path.text().starts_with("..") && !path.text().starts_with("../") {
        errors.push(path.invalid("must not start with '..'"));
    }
}

/// A path below a folder.
pub(in super::super) fn descending(path: &Field, errors: &mut Errors) {
    if path.text().starts_with('/') {
        errors.push(path.invalid("must be a relative path"));
    }
    no_backsteps(path, errors);
}

/// A path that never goes up.
pub(in super::super) fn no_backsteps(path: &Field, errors: &mut Errors) {
    if has_backsteps(path.text()) {
        errors.push(path.invalid("must not contain '..'"));
    }
}

pub(in super::super) fn has_backsteps(path: &str) -> bool {
    path.split('/').any(|part| part == "..")
}

/// Permissions of a file.
pub(in super::super) fn mode(mode: &Field, errors: &mut Errors) {
    if mode.is_given() && !(0..=0o777).contains(&mode.number()) {
        errors.push(mode.invalid("must be a number between 0 and 0777 (octal), both inclusive"));
    }
}
