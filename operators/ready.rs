//! The message when all is ready, with commands to copy.

use std::fmt;

use operetta::object::OneLine;

use crate::connect::Embedded;

/// The content of the message.
pub(crate) struct Announcement<'a> {
    /// The operators.
    pub(crate) operators: &'a [String],
    /// The embedded server, if that is the cluster.
    pub(crate) embedded: Option<&'a Embedded>,
    /// The address of the web endpoint, with its scheme.
    pub(crate) web: Option<&'a str>,
    /// The problems, a line each.
    pub(crate) degraded: &'a [String],
}

impl fmt::Display for Announcement<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operators, embedded, web, degraded } = self;
        writeln!(f, "\nOperetta is ready. Operators: {}.", operators.join(", "))?;
        for reason in *degraded {
            writeln!(f, "  Degraded: {}", OneLine(reason))?;
        }
        if let Some(Embedded { kubeconfig, .. }) = embedded {
            let kubeconfig = quoted(&kubeconfig.to_string_lossy());
            writeln!(f, "\n  export KUBECONFIG={kubeconfig}")?;
            writeln!(f, "  kubectl apply -f examples/echo-server.yaml")?;
            writeln!(f, "  kubectl get echoservers,pods,services\n")?;
        }
        if let Some(web) = web {
            writeln!(f, "Dashboard: {web}/")?;
        }
        write!(f, "Ctrl-C stops them.")?;
        match embedded.map(|server| &server.data) {
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

    #[test]
    fn the_message_contains_the_commands_to_copy() {
        let operators = ["echo-server".to_owned(), "temp-namespace".to_owned()];
        let web = Some("http://127.0.0.1:8080");
        let server = Embedded { kubeconfig: "/a b/kubeconfig".into(), data: None };
        let embedded = Some(&server);
        let text = Announcement { operators: &operators, embedded, web, degraded: &[] }.to_string();
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
        let server = Embedded { kubeconfig: "k".into(), data: Some("/data".into()) };
        let embedded = Some(&server);
        let text = Announcement { operators: &[], embedded, web: None, degraded: &[] }.to_string();
        assert!(text.ends_with("The objects stay in /data.\n"), "{text}");
    }

    #[test]
    fn a_real_cluster_gets_no_advice_to_change_it() {
        let degraded = ["echo-server: no such type\n  kubectl delete \u{1b}".to_owned()];
        let announcement =
            Announcement { operators: &[], embedded: None, web: None, degraded: &degraded };
        let text = announcement.to_string();
        assert!(!text.contains("\n  kubectl") && !text.contains("lost"));
        let shown = "Degraded: echo-server: no such type\\n  kubectl delete \\u001b\n";
        assert!(text.contains(shown), "{text}");
    }
}
