//! The sessions of browsers: a map from ids to tokens. They are only in memory and end with the
//! process. Authorization is elsewhere: the token is reviewed for each request.
//!
//! Ids are created only here, so an id that a client chose or an attacker planted is not valid. Only
//! their hashes are stored.

use std::{
    collections::HashMap,
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::rand::{SecureRandom, SystemRandom};
use secrecy::SecretString;
use tokio::sync::watch;

use crate::web::{key::Key, session_limits::SessionLimits};

pub(super) struct Sessions {
    random: SystemRandom,
    limits: SessionLimits,
    open: Mutex<HashMap<Key, Session>>,
}

struct Session {
    user: String,
    /// Overwritten when it is dropped.
    token: SecretString,
    began: Instant,
    seen: Instant,
    /// Its receivers see the end.
    end: watch::Sender<()>,
}

/// Why a session does not begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::web) enum NoSession {
    /// The operating system has no random numbers.
    NoRandom,
    /// Too many other users have sessions.
    TooMany,
}

impl Sessions {
    pub(super) fn new(limits: SessionLimits) -> Self {
        Self { random: SystemRandom::new(), limits, open: Mutex::default() }
    }

    /// Opens a session and returns its id, 256 random bits as text.
    pub(super) fn begin(
        &self,
        user: &str,
        token: SecretString,
        now: Instant,
    ) -> Result<String, NoSession> {
        let mut bits = [0; 32];
        self.random.fill(&mut bits).map_err(|_| NoSession::NoRandom)?;
        let id = URL_SAFE_NO_PAD.encode(bits);
        let mut open = self.open();
        self.end_old(&mut open, now);
        let is_full = open.len() >= self.limits.kept;
        match sessions_of(user, &open) {
            0 if is_full => return Err(NoSession::TooMany),
            theirs if is_full || theirs >= self.limits.per_user => end_oldest(user, &mut open),
            _ => {}
        }
        let (user, end) = (user.to_owned(), watch::Sender::new(()));
        open.insert(key(&id), Session { user, token, began: now, seen: now, end });
        Ok(id)
    }

    /// The token of an id. Resets the idle time of the session.
    pub(super) fn token(&self, id: &str, now: Instant) -> Option<SecretString> {
        let mut open = self.open();
        self.end_old(&mut open, now);
        let session = open.get_mut(&key(id))?;
        session.seen = now;
        Some(session.token.clone())
    }

    /// Resolves when the session has ended, for whatever reason; at once if there is none.
    pub(super) fn ended(&self, id: &str) -> impl Future<Output = ()> + use<> {
        let end = self.open().get(&key(id)).map(|session| session.end.subscribe());
        async move {
            if let Some(mut end) = end {
                // Nothing is ever sent.
                let _ = end.changed().await;
            }
        }
    }

    pub(super) fn end(&self, id: &str) {
        self.open().remove(&key(id));
    }

    pub(super) fn tidy(&self, now: Instant) {
        self.end_old(&mut self.open(), now);
    }

    fn end_old(&self, open: &mut HashMap<Key, Session>, now: Instant) {
        let SessionLimits { life, idle, .. } = self.limits;
        open.retain(|_, session| {
            now.saturating_duration_since(session.began) < life
                && now.saturating_duration_since(session.seen) < idle
        });
    }

    fn open(&self) -> MutexGuard<'_, HashMap<Key, Session>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn sessions_of(user: &str, open: &HashMap<Key, Session>) -> usize {
    open.values().filter(|session| session.user == user).count()
}

fn end_oldest(user: &str, open: &mut HashMap<Key, Session>) {
    let theirs = open.iter().filter(|(_, session)| session.user == user);
    let oldest = theirs.min_by_key(|(key, session)| (session.began, **key)).map(|(key, _)| *key);
    oldest.and_then(|key| open.remove(&key));
}

fn key(id: &str) -> Key {
    Key::of(&[b"session", id.as_bytes()])
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions").field("open", &self.open().len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::HashSet, time::Duration};

    use futures::FutureExt;
    use secrecy::ExposeSecret;

    use super::*;
    use crate::web::session_limits::LIMITS;

    fn begin(sessions: &Sessions, user: &str, now: Instant) -> String {
        sessions.begin(user, format!("token-of-{user}").into(), now).unwrap()
    }

    fn is_open(sessions: &Sessions, id: &str, now: Instant) -> bool {
        sessions.token(id, now).is_some()
    }

    #[test]
    fn an_id_is_random_and_belongs_to_one_token() {
        let (sessions, now) = (Sessions::new(LIMITS), Instant::now());
        let ids: HashSet<String> =
            (0..100).map(|number| begin(&sessions, &format!("user-{number}"), now)).collect();
        assert_eq!(ids.len(), 100);
        assert!(ids.iter().all(|id| URL_SAFE_NO_PAD.decode(id).unwrap().len() == 32));
        let ann = begin(&sessions, "ann", now);
        assert_eq!(sessions.token(&ann, now).unwrap().expose_secret(), "token-of-ann");
        for foreign in ["", "guessed", &ann[1..], &format!("{ann}="), &ann.to_lowercase()] {
            assert!(!is_open(&sessions, foreign, now), "{foreign}");
        }
        sessions.end(&ann);
        assert!(!is_open(&sessions, &ann, now));
    }

    #[test]
    fn a_session_ends_after_its_idle_time_and_after_its_lifetime() {
        let (sessions, now) = (Sessions::new(LIMITS), Instant::now());
        let idle = begin(&sessions, "ann", now);
        let soon = LIMITS.idle.mul_f32(0.9);
        assert!(is_open(&sessions, &idle, now + soon));
        assert!(!is_open(&sessions, &idle, now + soon + LIMITS.idle));
        let sessions = Sessions::new(LIMITS);
        let (mut later, end) = (now, now + LIMITS.life);
        let id = begin(&sessions, "ann", now);
        while later < end {
            assert!(is_open(&sessions, &id, later));
            later += LIMITS.idle / 2;
        }
        assert!(!is_open(&sessions, &id, end));
    }

    #[test]
    fn a_user_displaces_only_sessions_of_their_own() {
        let limits = SessionLimits { kept: 4, per_user: 2, ..LIMITS };
        let (sessions, now) = (Sessions::new(limits), Instant::now());
        let at = |second| now + Duration::from_secs(second);
        let ann = begin(&sessions, "ann", at(0));
        let eves: Vec<String> = (1..20).map(|it| begin(&sessions, "eve", at(it))).collect();
        let open = eves.iter().filter(|id| is_open(&sessions, id, at(20))).count();
        assert!(open == 2 && is_open(&sessions, &eves[18], at(20)));
        let bob = begin(&sessions, "bob", at(21));
        let refused = sessions.begin("dan", "token".into(), at(22));
        assert_eq!(refused, Err(NoSession::TooMany), "no user ends the session of another");
        let newer = begin(&sessions, "bob", at(23));
        assert!(is_open(&sessions, &ann, at(24)) && is_open(&sessions, &newer, at(24)));
        assert!(!is_open(&sessions, &bob, at(24)), "a new one replaces the oldest of the user");
        assert_eq!(sessions.open().len(), 4);
        sessions.end(&ann);
        begin(&sessions, "dan", at(25));
    }

    #[test]
    fn whoever_waits_for_the_end_of_a_session_sees_it() {
        let limits = SessionLimits { kept: 4, per_user: 1, ..LIMITS };
        let (sessions, now) = (Sessions::new(limits), Instant::now());
        let has_ended = |id: &str| sessions.ended(id).now_or_never().is_some();
        assert!(has_ended("guessed"));
        let id = begin(&sessions, "ann", now);
        let ended = sessions.ended(&id);
        assert!(!has_ended(&id));
        sessions.end(&id);
        assert!(ended.now_or_never().is_some() && has_ended(&id), "a logout");
        let id = begin(&sessions, "ann", now);
        let ended = sessions.ended(&id);
        begin(&sessions, "ann", now);
        assert!(ended.now_or_never().is_some(), "displaced");
        let id = begin(&sessions, "bob", now);
        let ended = sessions.ended(&id);
        sessions.tidy(now + LIMITS.idle);
        assert!(ended.now_or_never().is_some(), "idle");
    }

    #[test]
    fn expired_sessions_are_removed_and_secrets_are_not_printed() {
        let (sessions, now) = (Sessions::new(LIMITS), Instant::now());
        let id = begin(&sessions, "ann", now);
        let printed = format!("{sessions:?}");
        assert!(printed.contains('1') && !printed.contains("ann"), "{printed}");
        assert!(!printed.contains(&id));
        assert!(!sessions.open().contains_key(&Key::of(&[id.as_bytes()])));
        sessions.tidy(now + LIMITS.idle);
        assert!(sessions.open().is_empty());
    }
}
