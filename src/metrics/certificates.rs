//! What is shown of the certificates of webhooks.

use k8s_openapi::jiff::Timestamp;

use super::Metrics;

impl Metrics {
    /// Shows when what is served expires, and the authority that signs.
    pub(crate) fn webhook_certificates(&self, serving: Timestamp, authority: Timestamp) {
        let family = &self.families().webhook_certificate_expiry;
        for (certificate, end) in [("serving", serving), ("authority", authority)] {
            family.with_label_values(&[certificate]).set(end.as_second());
        }
    }
}
