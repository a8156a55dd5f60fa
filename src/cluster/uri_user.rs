//! The name and the password in an address. They are sent in a header, so that no address that is shown has them.

use http::Uri;
use percent_encoding::percent_decode_str;

/// The name and the password, if the address has them.
pub(super) fn user_of(address: &Uri) -> Option<(String, String)> {
    let (user, _) = address.authority()?.as_str().rsplit_once('@')?;
    let (name, password) = user.split_once(':').unwrap_or((user, ""));
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    Some((decoded(name), decoded(password)))
}

/// The address without them.
pub(super) fn without_user(address: &Uri) -> Uri {
    let mut parts = address.clone().into_parts();
    let host = parts.authority.as_ref().and_then(|it| it.as_str().rsplit('@').next());
    parts.authority = host.and_then(|host| host.parse().ok()).or(parts.authority);
    Uri::from_parts(parts).unwrap_or_else(|_| address.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_of_an_address_is_taken_out_of_it() {
        let owned = |(name, password): (&str, &str)| (name.to_owned(), password.to_owned());
        for (address, without, user) in [
            ("http://a:1/", "http://a:1/", None),
            ("http://me:p%40ss@a:1/b", "http://a:1/b", Some(("me", "p@ss"))),
            ("http://me@a/", "http://a/", Some(("me", ""))),
            ("http://me:a:b@[::1]:1/", "http://[::1]:1/", Some(("me", "a:b"))),
        ] {
            let uri: Uri = address.parse().unwrap();
            assert_eq!(without_user(&uri).to_string(), without);
            assert_eq!(user_of(&uri), user.map(owned), "{address}");
        }
    }
}
