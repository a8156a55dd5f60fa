//! The address of another program, as a flag has it. A name and a password in it are sent in a header, and never shown:
//! errors and logs have the address without them, and do not quote what is no address.

use std::{ffi::OsStr, fmt, str::FromStr};

use clap::{Arg, Command, Error, builder::TypedValueParser, error::ErrorKind};
use http::{Uri, uri::Authority};
use kube::Config;
use percent_encoding::percent_decode_str;

/// An address with scheme and host.
#[derive(Clone, PartialEq, Eq)]
#[cfg_attr(
    not(feature = "otlp"),
    expect(unreachable_pub, reason = "only traces take one from outside")
)]
pub struct Address {
    /// Without name and password.
    uri: Uri,
    user: Option<(String, String)>,
}

/// Reads flags that are addresses. clap would quote what is none.
#[derive(Debug, Clone)]
pub(crate) struct AddressParser;

impl Address {
    pub(crate) fn uri(&self) -> &Uri {
        &self.uri
    }

    pub(crate) fn has_password(&self) -> bool {
        self.user.is_some()
    }

    /// Requests with the name and the password, but for their path.
    pub(crate) fn config(&self) -> Config {
        let mut config = Config::new(self.uri.clone());
        if let Some((name, password)) = self.user.clone() {
            config.auth_info.username = Some(name);
            config.auth_info.password = Some(password.into());
        }
        config
    }
}

impl FromStr for Address {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let malformed = "write it as http://HOST:PORT or https://HOST:PORT";
        let given: Uri = text.parse().map_err(|_| malformed)?;
        if !matches!((given.scheme_str(), given.host()), (Some("http" | "https"), Some(_))) {
            return Err(malformed);
        }
        let mut parts = given.into_parts();
        let authority = parts.authority.as_ref().map(Authority::as_str).unwrap_or_default();
        let Some((user, host)) = authority.rsplit_once('@') else {
            return Ok(Self { uri: Uri::from_parts(parts).map_err(|_| malformed)?, user: None });
        };
        let (name, password) = user.split_once(':').unwrap_or((user, ""));
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let user = Some((decoded(name), decoded(password)));
        parts.authority = Some(host.parse().map_err(|_| malformed)?);
        Ok(Self { uri: Uri::from_parts(parts).map_err(|_| malformed)?, user })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.uri.fmt(f)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.uri.fmt(f)
    }
}

impl TypedValueParser for AddressParser {
    type Value = Address;

    fn parse_ref(
        &self,
        command: &Command,
        flag: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Address, Error> {
        let parsed = value.to_str().ok_or("it is not UTF-8").and_then(str::parse);
        parsed.map_err(|why| {
            let flag = flag.map(ToString::to_string).unwrap_or_default();
            Error::raw(ErrorKind::ValueValidation, format!("{flag} is no address: {why}\n"))
                .with_cmd(command)
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::command_line::Cli;

    #[test]
    fn an_address_needs_a_scheme_and_a_host() {
        let of = str::parse::<Address>;
        assert!(of("http://127.0.0.1:8080").is_ok() && of("https://ops.example/base").is_ok());
        for bad in ["127.0.0.1:8080", "localhost", "ftp://a", "", "http://", "http://me:b@"] {
            assert!(of(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_password_is_sent_and_not_shown() {
        let address: Address = "http://me:p%40ss@a:1/b".parse().unwrap();
        assert_eq!(format!("{address} {address:?}"), "http://a:1/b http://a:1/b");
        let config = address.config();
        assert_eq!(config.cluster_url, "http://a:1/b");
        assert_eq!(config.auth_info.username.as_deref(), Some("me"));
        let sent = kube::client::ConfigExt::auth_layer(&config).unwrap();
        assert!(sent.is_some() && address.has_password());
    }

    #[test]
    fn what_is_no_address_is_not_quoted() {
        for flags in [["run", "--otlp-endpoint"], ["status", "--server"]] {
            for wrong in
                ["ftp://me:s3cret@a", "me:s3cret@a:1", "http://me:s3cret@a b", "http://me:s3cret@"]
            {
                let words = ["operators"].into_iter().chain(flags).chain([wrong]);
                let error = Cli::try_parse_from(words).unwrap_err().to_string();
                assert!(error.contains(flags[1]) && error.contains("write it as"), "{error}");
                assert!(!error.contains("s3cret"), "{error}");
            }
        }
    }
}
