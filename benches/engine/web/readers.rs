//! Many readers of the stream of events, in their own process at the lowest priority, so that their own CPU
//! time does not count.

use std::{
    io,
    net::SocketAddr,
    time::{Duration, SystemTime},
};

use anyhow::{Context, Result, ensure};
use futures::{StreamExt, TryStreamExt, stream};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    process::Command,
    sync::watch,
};

use crate::helper_process::Helper;

const DEADLINE: Duration = Duration::from_secs(30);
/// How many connect at once.
const AT_ONCE: usize = 32;

/// A process with readers.
pub(super) struct Readers(Helper);

impl Readers {
    /// Starts them, and returns when all are connected.
    pub(super) async fn open(web: SocketAddr, count: usize) -> Result<Self> {
        let mut command = Command::new("nice");
        command.arg("-n19").arg(std::env::current_exe()?).args([
            "--readers-of",
            &web.to_string(),
            "--parents",
            &count.to_string(),
        ]);
        Ok(Self(Helper::start(&mut command).await?))
    }

    /// [`Self::all_read`] waits for events from now on.
    pub(super) async fn expect(&mut self) -> Result<()> {
        self.0.send("").await?;
        self.0.response().await.map(drop)
    }

    /// Waits until each has read something; returns when the last one did.
    pub(super) async fn all_read(&mut self) -> Result<SystemTime> {
        let nanos = self.0.response().await?.parse()?;
        Ok(SystemTime::UNIX_EPOCH + Duration::from_nanos(nanos))
    }
}

/// The other side: reads until its input ends. A line in the input is answered by one at once, and by
/// another when all have read something since.
pub(crate) async fn read(web: SocketAddr, count: usize) -> Result<()> {
    let readers = stream::iter(0..count).map(|_| open(web)).buffer_unordered(AT_ONCE);
    let mut readers: Vec<watch::Receiver<SystemTime>> = readers.try_collect().await?;
    println!("open");
    let order = || io::stdin().lines().next().transpose();
    while tokio::task::spawn_blocking(order).await??.is_some() {
        for reader in &mut readers {
            reader.mark_unchanged();
        }
        println!("ready");
        let last = last_to_read(&mut readers).await?;
        println!("{}", last.duration_since(SystemTime::UNIX_EPOCH)?.as_nanos());
    }
    Ok(())
}

async fn last_to_read(readers: &mut [watch::Receiver<SystemTime>]) -> Result<SystemTime> {
    let mut last = None;
    for reader in readers {
        let changed = tokio::time::timeout(DEADLINE, reader.changed()).await;
        changed.context("a reader has nothing to read")?.context("a reader was dropped")?;
        last = last.max(Some(*reader.borrow_and_update()));
    }
    last.context("there are readers")
}

/// Connects and reads in the background; the receiver has the time of the last read.
async fn open(web: SocketAddr) -> Result<watch::Receiver<SystemTime>> {
    let mut connection = TcpStream::connect(web).await?;
    let request = format!("GET /api/v1/events HTTP/1.1\r\nHost: {web}\r\n\r\n");
    connection.write_all(request.as_bytes()).await?;
    let mut buffer = vec![0; 16 << 10];
    let count = connection.read(&mut buffer).await?;
    let head = String::from_utf8_lossy(&buffer[..count]);
    ensure!(head.starts_with("HTTP/1.1 200"), "a reader is refused: {head}");
    let (read, reader) = watch::channel(SystemTime::now());
    tokio::spawn(async move {
        while connection.read(&mut buffer).await.is_ok_and(|count| count > 0) {
            if read.send(SystemTime::now()).is_err() {
                return;
            }
        }
    });
    Ok(reader)
}
