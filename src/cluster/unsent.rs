//! Why a request was not sent, without what a credential plugin printed: that may be secret.

use kube::client::AuthError;

/// The error in words.
pub(crate) fn described(error: kube::Error) -> Box<dyn std::error::Error + Send + Sync> {
    match error {
        kube::Error::Auth(error) => of_credentials(&error).into(),
        kube::Error::Service(error) => match error.downcast::<AuthError>() {
            Ok(error) => of_credentials(&error).into(),
            Err(error) => error,
        },
        other => other.into(),
    }
}

fn of_credentials(error: &AuthError) -> String {
    match error {
        AuthError::AuthExecRun { out, .. } => {
            let status = out.status;
            format!("the credential plugin of the kubeconfig failed: {status}")
        }
        AuthError::AuthExecParse(_) | AuthError::ParseTokenKey(_) => {
            "the credential plugin of the kubeconfig printed no ExecCredential".to_owned()
        }
        other => other.to_string(),
    }
}
