//! The text of an error of a connection: with all its causes, since those of HTTP clients name only the
//! outermost, and with what to do about a certificate.

use std::{error::Error, io, iter};

use rustls::CertificateError;

type Cause = dyn Error + 'static;

/// An error and its causes, without causes that its text already contains.
///
/// Of a refused certificate only that is named. This text is the same for each attempt, unlike that of
/// `rustls`, which counts the seconds since a certificate expired.
pub(crate) fn causes(error: &Cause) -> String {
    if let Some(refused) = chain(error).find_map(refused_certificate) {
        return refused_because(refused);
    }
    let append = |text: String, cause: String| {
        if text.contains(&cause) { text } else { format!("{text}: {cause}") }
    };
    chain(error).skip(1).map(ToString::to_string).fold(error.to_string(), append)
}

fn chain(error: &Cause) -> impl Iterator<Item = &Cause> {
    iter::successors(Some(error), |&cause| cause.source())
}

/// An error of I/O does not show what it contains as its source.
fn refused_certificate(error: &Cause) -> Option<&CertificateError> {
    if let Some(inner) = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        return refused_certificate(inner);
    }
    match error.downcast_ref::<rustls::Error>()? {
        rustls::Error::InvalidCertificate(why) => Some(why),
        _ => None,
    }
}

fn refused_because(why: &CertificateError) -> String {
    use CertificateError::{
        BadSignature, Expired, ExpiredContext, NotValidForName, NotValidForNameContext,
        NotValidYet, NotValidYetContext, UnknownIssuer,
    };
    match why {
        // With a wrong authority of the same name, as many clusters have, only the signature is wrong.
        UnknownIssuer | BadSignature => format!(
            "its certificate is not trusted ({why}): the certificate authority of the kubeconfig or of the \
             service account did not sign it"
        ),
        Expired | ExpiredContext { .. } => {
            "its certificate has expired: renew it, or correct the clock \
                                            of this machine"
                .to_owned()
        }
        NotValidYet | NotValidYetContext { .. } => {
            "its certificate is not valid yet: correct the clock of this machine".to_owned()
        }
        NotValidForName | NotValidForNameContext { .. } => format!(
            "its certificate is for another name ({why}): set `server` or `tls-server-name` of the \
             kubeconfig to a name of the certificate"
        ),
        other => format!("its certificate was refused: {other}"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rustls::pki_types::{ServerName, UnixTime};

    use super::*;

    /// An error as that of an HTTP client, which names no cause.
    #[derive(Debug, thiserror::Error)]
    #[error("client error (Connect)")]
    struct ClientError(#[source] io::Error);

    fn of_certificate(why: CertificateError) -> String {
        let inner = io::Error::new(io::ErrorKind::InvalidData, rustls::Error::from(why));
        causes(&ClientError(io::Error::other(inner)))
    }

    #[test]
    fn all_causes_are_in_the_text_and_each_once() {
        let refused = ClientError(io::Error::other("tcp connect error"));
        assert_eq!(causes(&refused), "client error (Connect): tcp connect error");
        let error = anyhow::Error::new(refused).context("cannot list: client error (Connect)");
        assert_eq!(
            causes(error.as_ref()),
            "cannot list: client error (Connect): tcp connect error"
        );
    }

    #[test]
    fn a_refused_certificate_is_named_with_what_to_do() {
        let (expected, presented) = (
            ServerName::try_from("api.example").unwrap(),
            vec!["DnsName(\"kubernetes\")".to_owned()],
        );
        for (why, words) in [
            (CertificateError::UnknownIssuer, ["(UnknownIssuer)", "certificate authority"]),
            (CertificateError::Expired, ["has expired", "renew it"]),
            (CertificateError::NotValidYet, ["not valid yet", "clock"]),
            (
                CertificateError::NotValidForNameContext { expected, presented },
                ["name \"api.example\"", "`tls-server-name`"],
            ),
            (CertificateError::BadSignature, ["(BadSignature)", "certificate authority"]),
            (CertificateError::Revoked, ["certificate was refused", "Revoked"]),
        ] {
            let text = of_certificate(why);
            assert!(words.iter().all(|word| text.contains(word)), "{text}");
        }
    }

    #[test]
    fn the_text_of_an_expired_certificate_is_the_same_for_each_attempt() {
        let expired = |seconds| {
            let at = |seconds| UnixTime::since_unix_epoch(Duration::from_secs(seconds));
            of_certificate(CertificateError::ExpiredContext { time: at(seconds), not_after: at(1) })
        };
        assert_eq!(expired(2), expired(3));
    }
}
