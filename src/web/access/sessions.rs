//! The sessions of browsers: which token stands behind an id. In memory alone, so that they end with
//! the process. What a token may is not known here: it is asked for each request, as if it had been
//! sent along.
//!
//! An id is made here and nowhere else: one that a client has chosen, or that somebody has planted
//! in its browser, is nobody's. It is kept as a hash, so that what is in memory opens nothing.

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

/// What bounds sessions, in time and in number.
#[derive(Debug, Clone, Copy)]
pub(in crate::web) struct SessionLimits {
    /// None lasts longer, however busy it is.
    pub(in crate::web) life: Duration,
    /// None lasts longer without a request.
    pub(in crate::web) idle: Duration,
    /// Of all users; the oldest goes.
    pub(in crate::web) kept: usize,
    /// Of one user, who cannot push out those of others.
    pub(in crate::web) per_user: usize,
}

pub(in crate::web) const LIMITS: SessionLimits = SessionLimits {
    life: Duration::from_hours(12),
    idle: Duration::from_hours(1),
    kept: 256,
    per_user: 8,
};

/// The sessions that are open.
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
        // However many users there are: who has few keeps them.
        if open.len() >= self.limits.kept
            && let Some(most) = who_has_most(&open)
        {
            end_oldest(&most, &mut open);
        }
        let session = Session { user: user.to_owned(), token, began: now, seen: now };
        open.insert(key(&id), session);
        Ok(id)
    }

    /// The token behind an id; from now on the session is idle anew.
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

    /// Forgets the tokens of those that are over; also where nobody asks for them any more.
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

/// Of those who have as many, who has the oldest.
fn who_has_most(open: &HashMap<Key, Session>) -> Option<String> {
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
    fn an_id_is_random_and_leads_to_its_token_alone() {
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
    fn a_session_ends_when_nobody_uses_it_and_in_the_end_however_much_it_is_used() {
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
    fn of_too_many_sessions_the_oldest_go_and_nobody_pushes_out_those_of_others() {
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
        assert!(!is_open(&sessions, &ann, at(25)), "the oldest where nobody has more");
        assert_eq!(sessions.open().len(), 4);
    }

    #[test]
    fn what_is_over_is_forgotten_and_nothing_of_it_is_printed() {
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
