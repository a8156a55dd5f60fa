//! The audit log and its counters.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
};

use actix_web::http::{Method, StatusCode, header};
use operetta_harness::{LogsAlone, logs_alone};

use super::{
    Answer, access::with_token, ask_through, command, request, reviewer::Reviewer, world::World,
};
use crate::web::{endpoint::FORM, request_rules::RequestRules};

const PAUSE: &str = "/api/v1/operators/nobody/parents/a/pause";

/// The log of this thread.
#[derive(Clone, Default)]
pub(super) struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    pub(super) fn lines(&self) -> Vec<String> {
        let text = String::from_utf8(std::mem::take(&mut *self.0.lock().unwrap())).unwrap();
        text.lines().filter(|line| line.contains("operetta::audit")).map(str::to_owned).collect()
    }

    pub(super) fn keep(&self) -> (tracing::subscriber::DefaultGuard, LogsAlone) {
        let alone = logs_alone();
        let log = self.clone();
        let lines = tracing_subscriber::fmt().with_ansi(false).with_writer(move || log.clone());
        (tracing::subscriber::set_default(lines.finish()), alone)
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

async fn log_in(rules: &RequestRules, world: &World, token: &str) -> Answer {
    let form = request(Method::POST, "/ui/login")
        .insert_header((header::CONTENT_TYPE, FORM))
        .insert_header(("Sec-Fetch-Site", "same-origin"))
        .peer_addr("192.0.2.7:1234".parse().unwrap())
        .set_payload(format!("token={token}&next=/"));
    ask_through(rules.clone(), &world.state, form).await
}

fn counted(world: &World, attempt: &str, outcome: &str) -> bool {
    let line =
        format!(r#"operetta_web_attempts_total{{attempt="{attempt}",outcome="{outcome}"}} 1"#);
    world.state.metrics.render().lines().any(|shown| shown == line)
}

#[actix_web::test]
async fn logins_and_failed_logins_are_logged_and_counted() {
    let (world, log, rules) = (World::running(), Log::default(), Reviewer::default().rules());
    let _keeping = log.keep();
    assert_eq!(log_in(&rules, &world, "guessed").await.code, 401);
    assert_eq!(log_in(&rules, &world, "token-of-ann").await.code, 303);
    let lines = log.lines();
    let [failed, done] = lines.as_slice() else { panic!("{lines:?}") };
    for part in ["login over HTTP", "from=192.0.2.7", "code=401", r#"outcome="unauthenticated""#] {
        assert!(failed.contains(part), "{failed}");
    }
    for part in ["login over HTTP", "user=ann", "code=303", r#"outcome="done""#] {
        assert!(done.contains(part), "{done}");
    }
    assert!(!failed.contains("guessed") && !done.contains("token-of"), "{lines:?}");
    assert!(counted(&world, "login", "unauthenticated") && counted(&world, "login", "done"));
}

#[actix_web::test]
async fn commands_and_refused_commands_are_logged_and_counted() {
    let (world, log, rules) = (World::running(), Log::default(), Reviewer::default().rules());
    let _keeping = log.keep();
    for (token, user, code, outcome) in [
        (None, "", StatusCode::UNAUTHORIZED, "unauthenticated"),
        (Some("token-of-ann"), "user=ann", StatusCode::FORBIDDEN, "forbidden"),
        (Some("token-of-eve"), "user=eve", StatusCode::NOT_FOUND, "refused"),
    ] {
        let asked = command(Method::POST, PAUSE);
        let asked = if let Some(token) = token { with_token(asked, token) } else { asked };
        assert_eq!(ask_through(rules.clone(), &world.state, asked).await.code, code.as_u16());
        let lines = log.lines();
        let [line] = lines.as_slice() else { panic!("{lines:?}") };
        let (code, shown) = (format!("code={}", code.as_u16()), format!("outcome={outcome:?}"));
        for part in ["command over HTTP", user, "method=POST", PAUSE, &code, &shown] {
            assert!(line.contains(part), "{line}");
        }
        assert!(counted(&world, "command", outcome));
    }
    // Reads are not audited.
    let read = with_token(request(Method::GET, "/api/v1/operators"), "token-of-ann");
    assert_eq!(ask_through(rules, &world.state, read).await.code, 200);
    assert_eq!(log.lines(), [""; 0]);
}

#[actix_web::test]
async fn a_command_whose_client_goes_away_is_logged() {
    let (world, log) = (World::running().with_parent(), Log::default());
    let _keeping = log.keep();
    // Nobody receives it, so it is not answered.
    let _requests = world.state.board.take_commands();
    let pause = command(Method::POST, "/api/v1/operators/spaces/pause");
    let asked = super::ask(&world.state, pause);
    assert!(futures::FutureExt::now_or_never(Box::pin(asked)).is_none());
    let lines = log.lines();
    assert!(lines.len() == 1 && lines[0].contains(r#"outcome="abandoned""#), "{lines:?}");
    assert!(counted(&world, "command", "abandoned"));
}
