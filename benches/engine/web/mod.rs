//! The web endpoint: its latency, and the cost of its readers to the reconciles.
//!
//! The load is `wrk` (of Debian's package) at the lowest priority, because real clients run on other
//! machines: so the endpoint alone causes the slow-down. The floor of a change under load is the same change
//! without.

pub(crate) mod readers;
mod wrk;

use std::{
    net::SocketAddr,
    time::{Duration, Instant, SystemTime},
};

use anyhow::{Context, Result, ensure};
use http::header;
use kube::{Client, Config};
use serde_json::json;
use tokio::time::MissedTickBehavior;

use self::{readers::Readers, wrk::Wrk};
use crate::{
    cluster::{self, Cluster},
    operators::Operators,
    parents::{self, FIRST_MARK},
    settings::Settings,
    sightings::Sightings,
    table::{Row, mean, percentile, time},
    workload::{ParentType, Workload},
};

/// The most requested paths.
const LOADED: [&str; 2] = ["/metrics", "/api/v1/operators"];
/// Between two changes, so that the effects of the last one are over.
const PAUSE: Duration = Duration::from_millis(5);
/// Between changes that are read: readers receive a packet every 100 ms, so changes meet all phases of sending one.
const RHYTHM: Duration = Duration::from_millis(47);
/// More than the open browser tabs of a large company.
const READERS: usize = 1000;
/// A parent with many children: as many as a map shows, of which the workload makes some for every parent.
const WIDE: &str = "wide";
const MAPPED: usize = 499;
const CHILDREN: usize = 3;

/// Operators with their web endpoint, and parents that are synced.
struct Course {
    workload: Workload,
    parent: ParentType,
    users: Client,
    web: SocketAddr,
    sightings: Sightings,
    operators: Operators,
    changes: usize,
}

pub(crate) async fn measure(settings: &Settings) -> Result<Vec<Row>> {
    let count = settings.resting();
    let cluster = Cluster::start(settings.cluster).await?;
    let mut course = Course::prepare(settings, &cluster, count).await?;
    let mut rows = course.pages(settings.samples(), count).await?;
    for path in LOADED {
        rows.extend(course.under_load(path, settings).await?);
    }
    rows.extend(course.read_by_many(settings.samples() / 10).await?);
    course.operators.stop().await?;
    Ok(rows)
}

impl Course {
    async fn prepare(settings: &Settings, cluster: &Cluster, count: usize) -> Result<Self> {
        let workload = settings.workload;
        let users = cluster.client().await?;
        parents::install(&users, workload, 1).await?;
        let operators = Operators::serving(cluster.connector(), workload).await?;
        let (parent, spec) = (workload.parent(0), workload.spec(FIRST_MARK));
        parents::create_all(&users, &parent, "own", count, &spec).await?;
        operators.until_synced(count).await?;
        let sightings = Sightings::begin(cluster.client().await?, workload).await?;
        let web = operators.web().context("they serve")?;
        Ok(Self { workload, parent, users, web, sightings, operators, changes: 0 })
    }

    /// How long the first page of the list of parents takes, for programs and for browsers, and the map of a parent
    /// with many children.
    async fn pages(&mut self, samples: usize, count: usize) -> Result<Vec<Row>> {
        let operator = self.workload.config(&self.parent).name().to_owned();
        let mut rows = Vec::new();
        for (what, path) in [
            ("parents as JSON", format!("/api/v1/operators/{operator}/parents")),
            ("parents as a page", format!("/ui/operators/{operator}")),
            ("overview", "/".to_owned()),
        ] {
            let figure = format!("{what}, first of {count}");
            rows.extend(self.page(&path, &figure, "at most 20 ms", samples).await?);
        }
        let figure = format!("search in {count} parents");
        rows.extend(self.page("/api/v1/search?q=own-1", &figure, "at most 30 ms", samples).await?);
        if self.workload == Workload::Trio {
            let name = self.wide(count).await?;
            let path = format!("/ui/operators/{operator}/map/default/{name}");
            let figure = format!("map of {} objects", MAPPED + 1);
            rows.extend(self.page(&path, &figure, "at most 50 ms", samples).await?);
        }
        Ok(rows)
    }

    /// Creates a parent with many children, and returns its name when it has them.
    async fn wide(&mut self, count: usize) -> Result<&'static str> {
        let spec = json!({"mark": FIRST_MARK, "moreConfigMaps": MAPPED - CHILDREN});
        parents::create(&self.users, &self.parent, WIDE.to_owned(), &spec).await?;
        self.sightings.until(WIDE, FIRST_MARK).await?;
        self.operators.until_synced(count + 1).await?;
        Ok(WIDE)
    }

    /// How long a path takes.
    async fn page(
        &self,
        path: &str,
        figure: &str,
        target: &'static str,
        samples: usize,
    ) -> Result<[Row; 2]> {
        let client = cluster::client_of(Config::new(format!("http://{}", self.web).parse()?))?;
        let (mut took, mut bytes) = (Vec::new(), 0);
        // The first opens the connection and is not counted.
        for _ in 0..=samples {
            let request =
                http::Request::get(path).header(header::ACCEPT, "text/html").body(Vec::new())?;
            let started = Instant::now();
            bytes = client.request_text(request).await?.len();
            took.push(started.elapsed());
        }
        let took = &took[1..];
        let figure = format!("{figure} ({} KiB), p50", bytes / 1024);
        Ok([
            Row::new(figure, time(percentile(took, 50))).target(target),
            Row::new("  p99", time(percentile(took, 99))).target(target),
        ])
    }

    /// The latency of a path for many clients at once, and of changes meanwhile.
    async fn under_load(&mut self, path: &str, settings: &Settings) -> Result<Vec<Row>> {
        let (mut unloaded, mut loaded, mut last) = (Vec::new(), Vec::new(), None);
        // In turns, because other processes use the machine too.
        for _ in 0..settings.rounds() {
            unloaded.extend(self.changes_for(settings.load_seconds()).await?);
            let Some(wrk) = Wrk::start(self.web, path, settings.load_seconds())? else {
                return Ok(vec![Row::new(format!("{path} under load"), "wrk is not installed")]);
            };
            loaded.extend(self.changes_for(settings.load_seconds()).await?);
            last = Some(wrk.end().await?);
        }
        let answers = last.context("there is a round")?;
        ensure!(answers.refused == 0, "{path}: {} answers are not 200", answers.refused);
        let figure = format!("{path} to {} connections, p99", wrk::CONNECTIONS);
        Ok(vec![
            Row::new(figure, time(answers.p99)),
            Row::new("  answers a second", format!("{:.0}", answers.per_second)),
            Row::times("  a change meanwhile, mean", mean(&loaded), mean(&unloaded))
                .target("at most 1.05"),
            Row::times("  p99", percentile(&loaded, 99), percentile(&unloaded, 99)),
        ])
    }

    /// How long a change takes to reach every reader of the events, and their cost.
    async fn read_by_many(&mut self, changes: usize) -> Result<Vec<Row>> {
        let unread = self.changes_in_rhythm(changes * 10).await?;
        let mut readers = Readers::open(self.web, READERS).await?;
        let mut last = Vec::new();
        for _ in 0..changes {
            readers.expect().await?;
            let started = SystemTime::now();
            self.change().await?;
            last.push(readers.all_read().await?.duration_since(started)?);
        }
        let read = self.changes_in_rhythm(changes * 10).await?;
        let figure = format!("events to {READERS} readers: the last has a change's, p50");
        Ok(vec![
            Row::new(figure, time(percentile(&last, 50))),
            Row::times("  a change meanwhile, mean", mean(&read), mean(&unread))
                .target("at most 1.05"),
            Row::times("  p99", percentile(&read, 99), percentile(&unread, 99)),
        ])
    }

    /// With the same pauses whether somebody reads or not: a change after a pause takes longer than one of a burst.
    async fn changes_in_rhythm(&mut self, count: usize) -> Result<Vec<Duration>> {
        let mut rhythm = tokio::time::interval(RHYTHM);
        rhythm.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut took = Vec::new();
        for _ in 0..count {
            rhythm.tick().await;
            took.push(self.change().await?);
        }
        Ok(took)
    }

    async fn changes_for(&mut self, seconds: u64) -> Result<Vec<Duration>> {
        let end = Instant::now() + Duration::from_secs(seconds);
        let mut took = Vec::new();
        while Instant::now() < end {
            took.push(self.change().await?);
        }
        Ok(took)
    }

    /// From a parent's change to its child's.
    async fn change(&mut self) -> Result<Duration> {
        self.changes += 1;
        let mark = format!("mark-{}", self.changes);
        let path = format!("{}/own-0", self.parent.collection());
        let change = json!({"spec": self.workload.spec(&mark)});
        let started = Instant::now();
        parents::patch(&self.users, &path, &change).await?;
        let at = self.sightings.until("own-0", &mark).await?;
        tokio::time::sleep(PAUSE).await;
        Ok(at - started)
    }
}
