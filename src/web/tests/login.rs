//! Login of browsers, the access of their cookie, and protection against other pages.

use std::sync::atomic::Ordering;

use actix_web::{
    http::{Method, StatusCode, header},
    test::TestRequest,
};

use super::{
    Answer, ask, ask_through, command, is_status, request, reviewer::Reviewer, world::World,
};
use crate::{
    board::WebRequest as Asked,
    web::{
        access::Target, endpoint::FORM, origin::Protocol, request_rules::RequestRules,
        session_limits, ui,
    },
};

const HERE: &str = "http://localhost:8080";
const PAUSE: &str = "/api/v1/operators/spaces/pause";

/// A browser in front of a guarded endpoint.
struct Browser {
    world: World,
    reviewer: Reviewer,
    rules: RequestRules,
}

impl Browser {
    fn new() -> Self {
        let (world, reviewer) = (World::running().with_parent(), Reviewer::default());
        let rules = reviewer.rules();
        Self { world, reviewer, rules }
    }

    async fn send(&self, request: TestRequest) -> Answer {
        ask_through(self.rules.clone(), &self.world.state, request).await
    }

    async fn goto(&self, path: &str, cookie: &str) -> Answer {
        self.send(visit(path, cookie)).await
    }

    async fn log_in(&self, token: &str) -> Answer {
        self.log_in_to("/", token).await
    }

    async fn log_in_to(&self, next: &str, token: &str) -> Answer {
        self.send(of_this_page(form("/ui/login", &format!("token={token}&next={next}")))).await
    }

    /// The cookie after a login.
    async fn cookie(&self, token: &str) -> String {
        let answer = self.log_in(token).await;
        assert_eq!(answer.code, 303, "{}", answer.body);
        cookie_of(&answer)
    }
}

fn visit(path: &str, cookie: &str) -> TestRequest {
    request(Method::GET, path)
        .insert_header((header::ACCEPT, "text/html,application/xhtml+xml,*/*;q=0.8"))
        .insert_header((header::COOKIE, cookie))
}

/// A form as any page can send it.
fn form(path: &str, body: &str) -> TestRequest {
    let request = request(Method::POST, path).insert_header((header::CONTENT_TYPE, FORM));
    request.set_payload(body.to_owned())
}

fn of_this_page(request: TestRequest) -> TestRequest {
    request.insert_header(("Origin", HERE)).insert_header(("Sec-Fetch-Site", "same-origin"))
}

fn cookie_of(answer: &Answer) -> String {
    answer.header(header::SET_COOKIE).split(';').next().unwrap().to_owned()
}

fn is_page(answer: &Answer, code: u16, shown: &[&str]) {
    assert_eq!(answer.code, code, "{}", answer.body);
    assert_eq!(answer.header(header::CONTENT_TYPE), "text/html; charset=utf-8");
    assert_eq!(answer.header(header::CACHE_CONTROL), "no-store");
    for text in shown {
        assert!(answer.body.contains(text), "no `{text}` in {}", answer.body);
    }
}

#[actix_web::test]
async fn without_a_token_a_browser_gets_the_login_page_and_a_program_a_status() {
    let browser = Browser::new();
    for path in ["/", "/ui/operators/echo-server?q=a%22b&phase=", "/metrics", "/nonsense"] {
        let answer = browser.goto(path, "").await;
        let next =
            format!("name=\"next\" type=\"hidden\" value=\"{}\"", path.replace('&', "&#38;"));
        let field = "<input id=\"token\" name=\"token\" type=\"password\" autocomplete=\"off\"";
        let command = "kubectl create token NAME --namespace NAMESPACE";
        is_page(&answer, 401, &[&next, field, "<label for=\"token\">", command]);
        assert!(answer.header(header::WWW_AUTHENTICATE).starts_with("Bearer"));
        let policy = answer.header(header::CONTENT_SECURITY_POLICY);
        assert!(policy.contains("form-action 'self'") && !policy.contains("unsafe"), "{policy}");
        assert!(!answer.body.contains("Log out") && !answer.body.contains("echo-server</"));
        for accept in ["*/*", "application/json", "text/event-stream"] {
            let program = request(Method::GET, path).insert_header((header::ACCEPT, accept));
            let answer = browser.send(program).await;
            is_status(&answer, StatusCode::UNAUTHORIZED, "Unauthorized");
        }
    }
    is_page(&browser.goto("/ui/login", "").await, 200, &["<h1>Log in</h1>"]);
    // The assets of the page are public and need no review.
    assert_eq!(browser.goto("/ui/assets/page.css", "").await.code, 200);
    assert_eq!(browser.reviewer.asked(), (0, 0));
}

#[actix_web::test]
async fn a_login_redirects_with_a_cookie_that_grants_what_the_token_grants() {
    let browser = Browser::new();
    let body = "token=+token-of-ann%0A&next=%2Fui%2Foperators%2Fecho-server%3Fq%3Da";
    let answer = browser.send(of_this_page(form("/ui/login", body))).await;
    assert_eq!((answer.code, answer.body.as_str()), (303, ""));
    assert_eq!(answer.header(header::LOCATION), "/ui/operators/echo-server?q=a");
    let set = answer.header(header::SET_COOKIE);
    assert!(set.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{set}");
    let cookie = cookie_of(&answer);
    assert!(!set.contains("ann"), "{set}");
    for path in ["/", "/ui/operators/echo-server", "/ui/cache/pods/ns/pod"] {
        let answer = browser.goto(path, &cookie).await;
        is_page(&answer, 200, &["<span>ann</span><button>Log out</button>"]);
        assert!(!answer.body.contains("token-of"), "{}", answer.body);
    }
    let nobody = browser.goto("/ui/operators/nobody", &cookie).await;
    is_page(&nobody, 404, &["<span>ann</span>"]);
    assert_eq!(browser.goto("/api/v1/operators", &cookie).await.code, 200);
    let listening = request(Method::HEAD, "/api/v1/events").insert_header(("Cookie", cookie));
    assert_eq!(browser.send(listening).await.code, 200);
    assert_eq!(browser.reviewer.asked().0, 1, "one token, one review");
}

#[actix_web::test]
async fn a_refused_token_is_reported_and_never_shown() {
    let browser = Browser::new();
    for (token, shown) in [("gue%3Cssed", "The token is invalid"), ("", "<h1>Log in</h1>")] {
        let answer = browser.log_in(token).await;
        is_page(&answer, 401, &[shown, "type=\"password\""]);
        assert!(!answer.body.contains("ssed"), "{}", answer.body);
        assert!(!answer.headers.contains_key(header::SET_COOKIE));
    }
    let large = of_this_page(form("/ui/login", &format!("token={}", "x".repeat(17 << 10))));
    let code = StatusCode::PAYLOAD_TOO_LARGE;
    is_status(&browser.send(large).await, code, "RequestEntityTooLarge");
}

#[actix_web::test]
async fn the_page_shows_that_access_cannot_be_reviewed() {
    let browser = Browser::new();
    let cookie = browser.cookie("token-of-ann").await;
    browser.reviewer.is_down.store(true, Ordering::SeqCst);
    for answer in [browser.log_in("token-of-eve").await, browser.goto("/ui/cache", &cookie).await] {
        is_page(&answer, 503, &["Not available now", "all access is denied until it can"]);
        assert!(!answer.body.contains("s3cret-reason"), "{}", answer.body);
    }
    browser.reviewer.is_down.store(false, Ordering::SeqCst);
    assert_eq!(browser.goto("/", &cookie).await.code, 200, "the session is still there");
}

#[actix_web::test]
async fn a_session_ends_with_a_logout_and_with_its_token() {
    let browser = Browser::new();
    let (left, withdrawn) =
        (browser.cookie("token-of-ann").await, browser.cookie("token-of-ann").await);
    let logout = of_this_page(form("/ui/logout", "")).insert_header(("Cookie", left.as_str()));
    let answer = browser.send(logout).await;
    assert_eq!((answer.code, answer.header(header::LOCATION)), (303, "/ui/login"));
    assert!(answer.header(header::SET_COOKIE).contains("operetta=;"));
    assert!(answer.header(header::SET_COOKIE).ends_with("Max-Age=0"));
    is_page(&browser.goto("/", &left).await, 401, &["<h1>Log in</h1>"]);
    assert_eq!(browser.goto("/", &withdrawn).await.code, 200);
    browser.reviewer.is_revoked.store(true, Ordering::SeqCst);
    let access = browser.rules.access.as_ref().unwrap();
    access.forget_users();
    is_page(&browser.goto("/", &withdrawn).await, 401, &["The token is invalid"]);
    browser.reviewer.is_revoked.store(false, Ordering::SeqCst);
    access.forget_users();
    let answer = browser.goto("/", &withdrawn).await;
    assert_eq!(answer.code, 401, "the session has ended");
}

#[actix_web::test]
async fn no_other_page_can_log_a_browser_in_or_out() {
    let browser = Browser::new();
    let cookie = browser.cookie("token-of-ann").await;
    let asked = browser.reviewer.asked();
    let posted =
        |path| form(path, "token=token-of-eve&next=/").insert_header(("Cookie", cookie.as_str()));
    for path in ["/ui/login", "/ui/logout"] {
        for (forged, code) in [
            (posted(path), 403),
            (posted(path).insert_header(("Origin", "http://evil.example")), 403),
            (posted(path).insert_header(("Origin", "http://localhost:8081")), 403),
            (posted(path).insert_header(("Origin", "null")), 403),
            (posted(path).insert_header(("Sec-Fetch-Site", "cross-site")), 403),
            (posted(path).insert_header(("Sec-Fetch-Site", "same-site")), 403),
            (posted(path).insert_header(("Sec-Fetch-Site", "none")), 403),
            (posted(path).insert_header(("Referer", "http://localhost:8080/")), 403),
            (of_this_page(posted(path)).insert_header(("Sec-Fetch-Site", "cross-site")), 403),
            (of_this_page(posted(path)).insert_header(("Content-Type", "text/plain")), 415),
            (of_this_page(posted(path)).insert_header(("Content-Type", "application/json")), 415),
        ] {
            let answer = browser.send(forged).await;
            assert_eq!((answer.code, answer.json()["kind"].as_str()), (code, Some("Status")));
            assert!(!answer.headers.contains_key(header::SET_COOKIE), "{path}");
        }
    }
    assert_eq!(browser.reviewer.asked(), asked, "no token was reviewed");
    assert_eq!(browser.goto("/ui/cache", &cookie).await.code, 200);
}

#[actix_web::test]
async fn no_other_page_can_give_a_command_with_the_cookie() {
    let browser = Browser::new();
    let cookie = browser.cookie("token-of-eve").await;
    let with_cookie = |request: TestRequest| request.insert_header(("Cookie", cookie.as_str()));
    for (forged, code) in [
        (of_this_page(form(PAUSE, "")), 415),
        (request(Method::POST, PAUSE).insert_header(("Origin", HERE)), 415),
        (command(Method::POST, PAUSE).insert_header(("Origin", "http://evil.example")), 403),
        (command(Method::POST, PAUSE).insert_header(("Origin", "null")), 403),
        (command(Method::POST, PAUSE).insert_header(("Sec-Fetch-Site", "cross-site")), 403),
        // Without a proof of its origin, a request does not come from a browser.
        (command(Method::POST, PAUSE), 401),
        (command(Method::PUT, "/log-level"), 401),
    ] {
        let answer = browser.send(with_cookie(forged)).await;
        assert_eq!((answer.code, answer.json()["kind"].as_str()), (code, Some("Status")));
    }
    let mut commands = browser.world.state.board.take_commands();
    let own = with_cookie(of_this_page(command(Method::POST, PAUSE)));
    let executing = async {
        let Some(Asked::Command(command)) = commands.recv().await else { panic!() };
        command.answer.give(Ok(()));
        command.by
    };
    let (answer, by) = tokio::join!(browser.send(own), executing);
    assert_eq!((answer.code, by.as_deref()), (200, Some("eve")), "{}", answer.body);
}

#[actix_web::test]
async fn an_id_that_a_client_has_chosen_is_invalid() {
    let browser = Browser::new();
    let chosen = format!("operetta={}", "A".repeat(43));
    assert_eq!(browser.goto("/", &chosen).await.code, 401);
    let login = |cookie: String| {
        of_this_page(form("/ui/login", "token=token-of-ann")).insert_header(("Cookie", cookie))
    };
    let first = cookie_of(&browser.send(login(chosen.clone())).await);
    assert!(first != chosen && first.len() == chosen.len(), "{first}");
    assert_eq!(browser.goto("/", &chosen).await.code, 401);
    assert_eq!(browser.goto("/", &first).await.code, 200);
    let second = cookie_of(&browser.send(login(first.clone())).await);
    assert_ne!(second, first);
    assert_eq!(browser.goto("/", &first).await.code, 401, "another login ends the session");
    assert_eq!(browser.goto("/", &format!("{second}; {chosen}")).await.code, 401, "two cookies");
}

#[actix_web::test]
async fn a_cookie_grants_only_what_its_token_grants_and_only_to_pages_of_this_server() {
    let browser = Browser::new();
    let cookie = cookie_of(&browser.log_in_to("/metrics", "token-of-bob").await);
    assert_eq!(browser.goto("/metrics", &cookie).await.code, 200);
    let answer = browser.goto("/", &cookie).await;
    let why = "User &#34;bob&#34; cannot get path &#34;/operetta/&#34;: no rule";
    is_page(&answer, 403, &["Not allowed", why, "<span>bob</span><button>Log out</button>"]);
    for site in ["same-site", "cross-site"] {
        let followed = visit("/metrics", &cookie).insert_header(("Sec-Fetch-Site", site));
        is_page(&browser.send(followed).await, 401, &["<a href=\"/metrics\">Continue</a>"]);
    }
    for foreign in ["operetta=x", "operetta=", "session=x", "__Host-operetta=x"] {
        assert_eq!(browser.goto("/metrics", foreign).await.code, 401, "{foreign}");
    }
    let both = visit("/metrics", &cookie).insert_header(("Authorization", "Bearer guessed"));
    assert_eq!(browser.send(both).await.code, 401, "a token takes precedence");
}

#[actix_web::test]
async fn a_login_redirects_only_to_paths_of_this_server() {
    let browser = Browser::new();
    for (next, expected) in [
        ("/ui/cache/pods?q=a%26b", "/ui/cache/pods?q=a&b"),
        ("/metrics", "/metrics"),
        ("", "/"),
        ("ui/cache", "/"),
        ("//evil.example", "/"),
        ("//evil.example/ui/cache", "/"),
        ("/%5C/evil.example", "/"),
        ("/%09/evil.example", "/"),
        ("/ui/cache%0d%0aSet-Cookie:a=b", "/"),
        ("https://evil.example/ui/cache", "/"),
        ("http:ui/cache", "/"),
        ("javascript:alert(1)", "/"),
        ("/nonsense", "/"),
        ("/ui/logout", "/"),
        ("/ui/login", "/"),
        (PAUSE, "/"),
    ] {
        let body = format!("token=token-of-ann&next={next}");
        let answer = browser.send(of_this_page(form("/ui/login", &body))).await;
        assert_eq!((answer.code, answer.header(header::LOCATION)), (303, expected), "{next}");
    }
}

#[actix_web::test]
async fn over_tls_the_cookie_is_never_sent_or_accepted_in_clear_text() {
    let browser = Browser::new();
    let rules = RequestRules { protocol: Protocol::Https, ..browser.rules.clone() };
    let browser = Browser { rules, ..browser };
    let login = form("/ui/login", "token=token-of-ann");
    let login = login.insert_header(("Origin", "https://localhost:8080"));
    let answer = browser.send(login).await;
    let set = answer.header(header::SET_COOKIE);
    assert!(set.starts_with("__Host-operetta=") && set.ends_with("; Secure"), "{set}");
    let cookie = cookie_of(&answer);
    assert_eq!(browser.goto("/", &cookie).await.code, 200);
    let planted = cookie.trim_start_matches("__Host-").to_owned();
    assert_eq!(browser.goto("/", &planted).await.code, 401);
}

#[actix_web::test]
async fn logins_are_refused_after_too_many_failures() {
    let browser = Browser::new();
    for number in 0..session_limits::FAILURES {
        assert_eq!(browser.log_in(&format!("guess-{number}")).await.code, 401);
    }
    let asked = browser.reviewer.asked();
    let answer = browser.log_in("token-of-ann").await;
    is_page(&answer, 429, &["try again in a minute", "type=\"password\""]);
    assert_eq!(answer.header(header::RETRY_AFTER), "60");
    assert_eq!(browser.reviewer.asked(), asked);
}

#[actix_web::test]
async fn a_login_needs_permission_for_the_page_it_leads_to_or_for_the_overview() {
    let browser = Browser::new();
    let ann = browser.cookie("token-of-ann").await;
    for next in ["/", "/ui/cache"] {
        let answer = browser.log_in_to(next, "token-of-mallory").await;
        let why = format!("User &#34;mallory&#34; cannot get path &#34;/operetta{next}&#34;");
        is_page(&answer, 403, &["Not allowed", &why]);
        assert!(!answer.headers.contains_key(header::SET_COOKIE));
    }
    // Of `bob` only the metrics are allowed.
    assert_eq!(browser.log_in_to("/ui/cache", "token-of-bob").await.code, 403);
    assert_eq!(browser.log_in_to("/metrics", "token-of-bob").await.code, 303);
    assert_eq!(browser.goto("/", &ann).await.code, 200);
}

#[actix_web::test]
async fn no_number_of_logins_of_others_ends_a_session() {
    let browser = Browser::new();
    let ann = browser.cookie("token-of-ann").await;
    let access = browser.rules.access.as_ref().unwrap();
    for number in 1..session_limits::LIMITS.kept {
        let token = format!("token-of-eve-{number}").into();
        ui::open_session(access, token, vec![Target::path("/")], [127, 0, 0, 1].into())
            .await
            .unwrap();
    }
    let answer = browser.log_in("token-of-eve-late").await;
    is_page(&answer, 429, &["Too many users are logged in"]);
    assert_eq!(browser.goto("/", &ann).await.code, 200);
    assert_eq!(browser.log_in("token-of-ann").await.code, 303, "in place of an own one");
    assert_eq!(browser.goto("/", &ann).await.code, 401);
}

#[actix_web::test]
async fn without_access_control_there_is_no_login() {
    let world = World::running().with_parent();
    let page = ask(&world.state, visit("/", "operetta=x")).await;
    assert!(page.code == 200 && !page.body.contains("/ui/logout"), "{}", page.body);
    for request in [
        visit("/ui/login", ""),
        of_this_page(form("/ui/login", "token=token-of-ann")),
        of_this_page(form("/ui/logout", "")),
    ] {
        let answer = ask(&world.state, request).await;
        let message = is_status(&answer, StatusCode::NOT_FOUND, "NotFound");
        assert!(message.contains("has no login"), "{message}");
        assert!(!answer.headers.contains_key(header::SET_COOKIE));
    }
}
