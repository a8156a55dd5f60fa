//! What is to be written to the Secret now, and when to look again.

use std::{
    fmt,
    time::{Duration, SystemTime},
};

use k8s_openapi::jiff::Timestamp;

use super::content::{AUTHORITY, Content, Damage, Trusted};
use crate::recipes::{
    certificates::{Authority, CertificateError, ServiceNames, ServingCertificate, TlsData},
    moment,
};

/// How certificates of a Service are renewed.
#[derive(Debug, Clone)]
pub(crate) struct Rotation {
    pub(crate) names: ServiceNames,
    pub(crate) lifetimes: Lifetimes,
}

/// How long certificates live. Each is renewed when two thirds of that are over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lifetimes {
    pub(crate) authority: Duration,
    pub(crate) serving: Duration,
    /// How long clients have to learn of a new authority, and processes to load a new serving certificate.
    pub(crate) overlap: Duration,
}

const DAY: Duration = Duration::from_hours(24);

impl Default for Lifetimes {
    fn default() -> Self {
        let (authority, serving) = (365 * DAY, 90 * DAY);
        Self { authority, serving, overlap: Duration::from_hours(1) }
    }
}

/// What is known of the Secret.
#[derive(Clone, Copy, Default)]
pub(crate) struct Known<'a> {
    /// What it holds, if it exists.
    pub(crate) secret: Option<&'a TlsData>,
    /// What it held when this process last served from it.
    pub(crate) before: Option<&'a TlsData>,
    /// The bundle that all clients were given.
    pub(crate) published: Option<&'a [u8]>,
}

/// What is to be done.
pub(crate) struct Decision {
    /// What the Secret is to hold, if it is to be written.
    pub(crate) write: Option<TlsData>,
    /// Why it is to be written.
    pub(crate) reasons: Vec<Reason>,
    /// When the next decision is due, if nobody else changes the Secret.
    pub(crate) look_again: Duration,
}

/// Why the Secret is written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Reason {
    #[error("it did not exist")]
    Absent,
    #[error("{0}")]
    Damaged(Damage),
    #[error("the serving certificate cannot be used ({0})")]
    Unusable(CertificateError),
    #[error("a new authority is trusted from now on, until {0}")]
    NewAuthority(Timestamp),
    #[error("a new serving certificate is valid until {0}")]
    NewServing(Timestamp),
    #[error("{0} authorities that signed nothing in use are no longer trusted")]
    Dropped(usize),
}

impl Reason {
    /// Whether somebody has changed the Secret.
    pub(crate) fn is_damage(&self) -> bool {
        match self {
            Self::Damaged(_) | Self::Unusable(_) => true,
            Self::Absent | Self::NewAuthority(_) | Self::NewServing(_) | Self::Dropped(_) => false,
        }
    }
}

impl Rotation {
    pub(crate) fn decide(
        &self,
        known: Known<'_>,
        now: SystemTime,
    ) -> Result<Decision, CertificateError> {
        let mut turn = Turn::of(self, known, now);
        turn.drop_expired();
        turn.choose_serving();
        turn.renew_serving()?;
        turn.renew_authority()?;
        turn.drop_unused();
        let write = (!turn.reasons.is_empty()).then(|| turn.content.data());
        Ok(Decision { write, look_again: turn.look_again(), reasons: turn.reasons })
    }
}

/// One decision in progress.
struct Turn<'a> {
    rotation: &'a Rotation,
    content: Content,
    /// What this process serves with, where the Secret is damaged.
    fallback: Option<ServingCertificate>,
    /// Which of the trusted authorities signed the serving certificate.
    signer: Option<Trusted>,
    is_published: bool,
    reasons: Vec<Reason>,
    now: SystemTime,
}

impl<'a> Turn<'a> {
    fn of(rotation: &'a Rotation, known: Known<'_>, now: SystemTime) -> Self {
        let mut content = known.secret.map(Content::of).unwrap_or_default();
        let mut reasons: Vec<Reason> =
            std::mem::take(&mut content.damages).into_iter().map(Reason::Damaged).collect();
        if known.secret.is_none() {
            reasons.push(Reason::Absent);
        }
        let mut fallback = None;
        if !reasons.is_empty() {
            // Clients still trust these, and other processes serve with what they signed.
            let before = known.before.map(Content::of).unwrap_or_default();
            for trusted in before.trusted {
                if !content.trusted.contains(&trusted) {
                    content.trusted.push(trusted);
                }
            }
            fallback = before.serving;
        }
        let bundle = known.secret.and_then(|data| data.get("ca.crt"));
        let is_published =
            bundle.is_some_and(|bundle| known.published == Some(bundle.0.as_slice()));
        Self { rotation, content, fallback, signer: None, is_published, reasons, now }
    }

    fn drop_expired(&mut self) {
        let second = moment::second_of(self.now);
        self.keep_trusted(|trusted| second < trusted.end);
        let authority = self.content.authority.take();
        self.content.authority = authority.filter(|it| second < it.pair().validity.end);
    }

    /// Keeps the serving certificate if clients accept it.
    fn choose_serving(&mut self) {
        let kept = self.content.serving.take();
        let had_one = kept.is_some();
        let mut why = None;
        for serving in kept.into_iter().chain(self.fallback.take()) {
            match self.signer_of(&serving) {
                Ok(signer) => {
                    (self.content.serving, self.signer) = (Some(serving), Some(signer));
                    break;
                }
                Err(error) => _ = why.get_or_insert(error),
            }
        }
        if let (true, Some(why)) = (had_one, why) {
            self.reasons.push(Reason::Unusable(why));
        }
    }

    /// The trusted authority that signed it, for all the names.
    fn signer_of(&self, serving: &ServingCertificate) -> Result<Trusted, CertificateError> {
        let (names, now) = (&self.rotation.names, self.now);
        let validity = serving.pair().validity;
        let second = moment::second_of(now);
        if second < validity.begin || validity.end <= second {
            return Err(CertificateError::NotValid);
        }
        let mut why = CertificateError::Mismatched;
        for trusted in &self.content.trusted {
            match serving.verify(trusted.der.clone(), names, now) {
                Ok(()) => return Ok(trusted.clone()),
                Err(CertificateError::Mismatched) => {}
                Err(error) => why = error,
            }
        }
        Err(why)
    }

    fn renew_serving(&mut self) -> Result<(), CertificateError> {
        let Some(authority) = &self.content.authority else { return Ok(()) };
        let is_needed = match &self.content.serving {
            None => true,
            Some(serving) if self.is_by_authority() => serving.wait(self.now).is_zero(),
            Some(_) => self.is_distributed(authority),
        };
        if !is_needed {
            return Ok(());
        }
        match self.signed_by(authority) {
            // The authority ends too soon: another one follows.
            Err(CertificateError::NotValid) => Ok(()),
            Err(error) => Err(error),
            Ok(serving) => {
                self.serve(serving);
                Ok(())
            }
        }
    }

    /// After the serving certificate, which an authority that is trusted already should sign.
    fn renew_authority(&mut self) -> Result<(), CertificateError> {
        let is_kept =
            |it: &Authority| self.content.serving.is_some() && !it.pair().is_due(self.now);
        if self.content.authority.as_ref().is_some_and(is_kept) {
            return Ok(());
        }
        let made = Authority::new(AUTHORITY, self.rotation.lifetimes.authority, self.now)?;
        let trusted = Trusted::of_pem(made.certificate());
        let trusted = trusted.ok_or(CertificateError::Unreadable("ca.crt"))?;
        self.reasons.push(Reason::NewAuthority(trusted.end));
        self.content.trusted.insert(0, trusted);
        self.content.authority = Some(made);
        // Clients do not know the new one yet: only where there is no other.
        if self.content.serving.is_none() { self.renew_serving() } else { Ok(()) }
    }

    /// When every process has had the time to load what the authority signed, others sign nothing in use.
    fn drop_unused(&mut self) {
        let Some(serving) = self.content.serving.as_ref().filter(|_| self.is_by_authority()) else {
            return;
        };
        if self.overlap_since(serving.pair().made_at()).is_some() {
            return;
        }
        let Some(signer) = self.signer.clone() else { return };
        self.keep_trusted(|trusted| *trusted == signer);
    }

    fn keep_trusted(&mut self, is_kept: impl Fn(&Trusted) -> bool) {
        let before = self.content.trusted.len();
        self.content.trusted.retain(is_kept);
        match before - self.content.trusted.len() {
            0 => {}
            dropped => self.reasons.push(Reason::Dropped(dropped)),
        }
    }

    fn signed_by(&self, authority: &Authority) -> Result<ServingCertificate, CertificateError> {
        let Rotation { names, lifetimes } = self.rotation;
        authority.serving(None, names, lifetimes.serving, self.now)
    }

    fn serve(&mut self, serving: ServingCertificate) {
        self.reasons.push(Reason::NewServing(serving.pair().validity.end));
        let authority = self.content.authority.as_ref();
        self.signer = authority.and_then(|authority| Trusted::of_pem(authority.certificate()));
        self.content.serving = Some(serving);
    }

    fn is_by_authority(&self) -> bool {
        let signer = self.signer.as_ref();
        let authority = self.content.authority.as_ref();
        signer.zip(authority).is_some_and(|(signer, authority)| {
            authority.pair().der().is_ok_and(|der| der == signer.der)
        })
    }

    /// Whether all clients trust it.
    fn is_distributed(&self, authority: &Authority) -> bool {
        self.is_published && self.overlap_since(authority.pair().made_at()).is_none()
    }

    /// How long it is until the overlap is over that began then.
    fn overlap_since(&self, made: Timestamp) -> Option<Duration> {
        moment::until(moment::after(made, self.rotation.lifetimes.overlap), self.now)
    }

    fn look_again(&self) -> Duration {
        let overlap = self.rotation.lifetimes.overlap;
        let authority = self.content.authority.as_ref();
        let serving = self.content.serving.as_ref();
        let (Some(authority), Some(serving)) = (authority, serving) else { return overlap };
        let renewal = authority.wait(self.now);
        let next = if self.is_by_authority() {
            let dropping = self.overlap_since(serving.pair().made_at());
            serving.wait(self.now).min(dropping.unwrap_or(Duration::MAX))
        } else {
            // Later if clients were not given it yet.
            self.overlap_since(authority.pair().made_at()).unwrap_or(overlap / 10)
        };
        renewal.min(next)
    }
}

impl fmt::Debug for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { write: _, reasons, look_again } = self;
        f.debug_struct("Decision")
            .field("reasons", reasons)
            .field("look_again", look_again)
            .finish_non_exhaustive()
    }
}
