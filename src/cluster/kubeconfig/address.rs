//! The address of a cluster, as `server` has it.

use http::{Uri, uri::PathAndQuery};

/// The address; without a scheme it is HTTPS if there is anything to check or to show a certificate with.
pub(super) fn address(server: &str, is_secure: bool) -> Result<Uri, String> {
    let scheme = if is_secure { "https" } else { "http" };
    let (text, has_scheme) = match server.split_once("://") {
        Some((scheme, _)) if !scheme.is_empty() => (server.to_owned(), true),
        _ => (format!("{scheme}://{server}"), false),
    };
    let uri: Uri = text.parse().map_err(|error| format!("`server` is no address: {error}"))?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err("the scheme of `server` is neither https nor http".to_owned());
    }
    if uri.host().is_none_or(str::is_empty) {
        return Err("`server` names no host".to_owned());
    }
    // The parser accepts numbers that are none of a port.
    let host = uri.authority().and_then(|it| it.as_str().rsplit('@').next());
    let port = host.and_then(|host| host.rsplit_once(':')).map(|(_, port)| port);
    let is_port =
        |port: &str| port.is_empty() || port.ends_with(']') || port.parse::<u16>().is_ok();
    if !port.is_none_or(is_port) {
        return Err("`server` has no valid port".to_owned());
    }
    if !has_scheme && uri.path() != "/" {
        return Err("`server` has a path and no scheme: write https:// before it".to_owned());
    }
    without_query(uri)
}

fn without_query(uri: Uri) -> Result<Uri, String> {
    let mut parts = uri.into_parts();
    let path = parts.path_and_query.as_ref().map_or("/", PathAndQuery::path).to_owned();
    parts.path_and_query = path.parse().ok();
    Uri::from_parts(parts).map_err(|error| format!("`server` is no address: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_kubectl_reads_it() {
        for (server, is_secure, expected) in [
            ("https://a:6443", false, Ok("https://a:6443/")),
            ("https://a:6443/", false, Ok("https://a:6443/")),
            ("https://a/k8s/clusters/c-1", false, Ok("https://a/k8s/clusters/c-1")),
            ("https://a/k8s?x=y", false, Ok("https://a/k8s")),
            ("https://[::1]:6443", false, Ok("https://[::1]:6443/")),
            ("a:6443", true, Ok("https://a:6443/")),
            ("a:6443", false, Ok("http://a:6443/")),
            ("[::1]:6443", true, Ok("https://[::1]:6443/")),
            ("a/path", true, Err("has a path and no scheme")),
            ("unix:///run/a.sock", false, Err("")),
            ("ftp://a", false, Err("neither https nor http")),
            ("https://", false, Err("")),
            ("https://a b", false, Err("is no address")),
            ("https://a:99999", false, Err("")),
        ] {
            match (address(server, is_secure), expected) {
                (Ok(uri), Ok(expected)) => assert_eq!(uri.to_string(), expected, "{server}"),
                (Err(why), Err(expected)) => assert!(why.contains(expected), "{server}: {why}"),
                (read, _) => panic!("{server}: {read:?}"),
            }
        }
    }
}
