//! The sessions of browsers: a map from ids to tokens. They are only in memory and end with the
//! process. Authorization is elsewhere: the token is reviewed for each request.
//!
//! Ids are created only here, so an id that a client chose or an attacker planted is not valid. Only
//! their hashes are stored.

use std::{
    cmp::Reverse,
    collections::HashMap,
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    error::Unspecified,
    rand::{SecureRandom, SystemRandom},
};
use secrecy::SecretString;

use super::key::Key;

#[derive(Debug, Clone, Copy)]
pub(in crate::web) struct SessionLimits {
    pub(in crate::web) life: Duration,
    /// The maximum time without a request.
    pub(in crate::web) idle: Duration,
    /// How many of all users; the oldest is removed.
    pub(in crate::web) kept: usize,
    /// How many of one user, who cannot evict those of others.
    pub(in crate::web) per_user: usize,
}

pub(in crate::web) const LIMITS: SessionLimits = SessionLimits {
    life: Duration::from_hours(12),
    idle: Duration::from_hours(1),
    kept: 256,
    per_user: 8,
};

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
}

impl Sessions {
    pub(super) fn new(limits: SessionLimits) -> Self {
        Self { random: SystemRandom::new(), limits, open: Mutex::default() }
    }

    /// Opens a session and returns its id, 256 random bits as text.
    ///
    /// # Errors
    /// When the operating system has no random numbers.
    pub(super) fn begin(
        &self,
        user: &str,
        token: SecretString,
        now: Instant,
    ) -> Result<String, Unspecified> {
        let mut bits = [0; 32];
        self.random.fill(&mut bits)?;
        let id = URL_SAFE_NO_PAD.encode(bits);
        let mut open = self.open();
        self.end_old(&mut open, now);
        if sessions_of(user, &open) >= self.limits.per_user {
            end_oldest(user, &mut open);
        }
        // Users with few sessions keep them, however many users there are.
        if open.len() >= self.limits.kept
            && let Some(most) = user_with_most(&open)
        {
            end_oldest(&most, &mut open);
        }
        let session = Session { user: user.to_owned(), token, began: now, seen: now };
        open.insert(key(&id), session);
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

/// The user with the most sessions; among equals the one with the oldest.
fn user_with_most(open: &HashMap<Key, Session>) -> Option<String> {
    let mut users: HashMap<&str, (usize, Reverse<Instant>)> = HashMap::new();
    for session in open.values() {
        let (count, oldest) = users.entry(&session.user).or_insert((0, Reverse(session.began)));
        *count += 1;
        *oldest = (*oldest).max(Reverse(session.began));
    }
    let most = users.into_iter().max_by_key(|(_, rank)| *rank);
    most.map(|(user, _)| user.to_owned())
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
    use std::collections::HashSet;

    use secrecy::ExposeSecret;

    use super::*;

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
    fn the_oldest_sessions_are_evicted_and_no_user_evicts_those_of_others() {
        let limits = SessionLimits { kept: 4, per_user: 2, ..LIMITS };
        let (sessions, now) = (Sessions::new(limits), Instant::now());
        let at = |second| now + Duration::from_secs(second);
        let ann = begin(&sessions, "ann", at(0));
        let eves: Vec<String> = (1..20).map(|it| begin(&sessions, "eve", at(it))).collect();
        assert!(is_open(&sessions, &ann, at(20)));
        let open = eves.iter().filter(|id| is_open(&sessions, id, at(20))).count();
        assert!(open == 2 && is_open(&sessions, &eves[18], at(20)));
        for (second, user) in [(21, "bob"), (22, "dan")] {
            begin(&sessions, user, at(second));
        }
        assert!(is_open(&sessions, &ann, at(23)) && !is_open(&sessions, &eves[17], at(23)));
        begin(&sessions, "flo", at(24));
        assert!(!is_open(&sessions, &ann, at(25)), "the oldest, where all users have equally many");
        assert_eq!(sessions.open().len(), 4);
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
