//! The message when all is ready, with commands to copy.

use std::{
    fmt,
    io::{self, Write},
    path::PathBuf,
};

use super::Ready;
use crate::object::OneLine;

/// The embedded server, as the message shows it.
#[derive(Debug, Clone)]
pub(super) struct Development {
    /// The file with its kubeconfig.
    pub(super) kubeconfig: PathBuf,
    /// The directory that keeps its objects, if they are kept.
    pub(super) data: Option<PathBuf>,
    /// Commands for a first try.
    pub(super) suggested: Vec<String>,
}

/// What is known before the process is ready.
#[derive(Debug)]
pub(super) struct Announcement {
    pub(super) operators: Vec<String>,
    pub(super) development: Option<Development>,
    /// Whether the web endpoint is served over TLS.
    pub(super) is_tls: bool,
}

impl Announcement {
    /// Prints it.
    pub(super) fn print(&self, ready: &Ready) {
        // A closed standard output is no reason to stop.
        let _ = write!(io::stdout(), "{}", Message { of: self, ready });
    }
}

struct Message<'a> {
    of: &'a Announcement,
    ready: &'a Ready,
}

impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Announcement { operators, development, is_tls } = self.of;
        let Ready { web, degraded } = self.ready;
        writeln!(f, "\nOperetta is ready. Operators: {}.", operators.join(", "))?;
        for reason in degraded {
            writeln!(f, "  Degraded: {}", OneLine(reason))?;
        }
        if let Some(Development { kubeconfig, suggested, .. }) = development {
            writeln!(f, "\n  export KUBECONFIG={}", quoted(&kubeconfig.to_string_lossy()))?;
            suggested.iter().try_for_each(|command| writeln!(f, "  {command}"))?;
            writeln!(f)?;
        }
        if let Some(address) = web {
            let scheme = if *is_tls { "https" } else { "http" };
            let page = if cfg!(feature = "dashboard") { "Dashboard" } else { "Endpoint" };
            writeln!(f, "{page}: {scheme}://{address}/")?;
        }
        write!(f, "Ctrl-C stops them.")?;
        match development.as_ref().map(|server| &server.data) {
            Some(None) => writeln!(f, " The objects of the embedded API server are then lost."),
            Some(Some(directory)) => writeln!(f, " The objects stay in {}.", directory.display()),
            None => writeln!(f),
        }
    }
}

/// Quoted as one word for a POSIX shell.
fn quoted(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+".contains(&byte);
    if text.bytes().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(development: Option<Development>, ready: &Ready) -> String {
        let operators = vec!["echo-server".to_owned(), "temp-namespace".to_owned()];
        let of = &Announcement { operators, development, is_tls: false };
        Message { of, ready }.to_string()
    }

    fn server(data: Option<&str>) -> Development {
        let suggested = vec!["kubectl apply -f examples/echo-server.yaml".to_owned()];
        Development { kubeconfig: "/a b/kubeconfig".into(), data: data.map(Into::into), suggested }
    }

    fn ready() -> Ready {
        Ready { web: Some(([127, 0, 0, 1], 8080).into()), degraded: Vec::new() }
    }

    #[test]
    fn the_message_contains_the_commands_to_copy() {
        let text = message(Some(server(None)), &ready());
        for part in [
            "Operators: echo-server, temp-namespace.",
            "\n  export KUBECONFIG='/a b/kubeconfig'\n",
            "\n  kubectl apply -f examples/echo-server.yaml\n",
            "http://127.0.0.1:8080/\n",
            "are then lost.\n",
        ] {
            assert!(text.contains(part), "{part} is missing in {text}");
        }
    }

    #[test]
    fn objects_that_are_kept_are_not_called_lost() {
        let text = message(Some(server(Some("/data"))), &ready());
        assert!(text.ends_with("The objects stay in /data.\n"), "{text}");
    }

    #[test]
    fn a_real_cluster_gets_no_advice_to_change_it() {
        let degraded = vec!["echo-server: no such type\n  kubectl delete \u{1b}".to_owned()];
        let text = message(None, &Ready { web: None, degraded });
        assert!(!text.contains("\n  kubectl") && !text.contains("lost"));
        let shown = "Degraded: echo-server: no such type\\n  kubectl delete \\u001b\n";
        assert!(text.contains(shown), "{text}");
    }
}
