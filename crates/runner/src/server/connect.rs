//! Connecting to a runner's socket, and one request with its answer. Every wait here has a deadline.

use std::io;
use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::time::timeout;

use crate::spec::socket_address;
use crate::wire::{self, Request, Status};

/// A runner answers at once, unless the disk under its journal is very slow.
const ANSWER: Duration = Duration::from_secs(30);

pub(super) async fn open(dir: &Path) -> io::Result<UnixStream> {
    let (address, _opened) = socket_address(dir)?;
    within(UnixStream::connect(address)).await
}

pub(super) async fn send(stream: &mut UnixStream, request: &Request) -> io::Result<()> {
    within(stream.write_all(&request.encode())).await
}

/// Asks and waits for the answer. `UnexpectedEof`: the runner has closed.
pub(super) async fn ask(stream: &mut UnixStream, request: &Request) -> io::Result<(Status, Vec<u8>)> {
    send(stream, request).await.map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => io::ErrorKind::UnexpectedEof.into(),
        _ => error,
    })?;
    let frame = within(async {
        let mut length = [0; 4];
        stream.read_exact(&mut length).await?;
        let mut frame = vec![0; wire::checked_length(length)?];
        stream.read_exact(&mut frame).await?;
        Ok(frame)
    })
    .await?;
    let (status, payload) =
        Status::decode(&frame).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "an answer of an unknown kind"))?;
    Ok((status, payload.to_vec()))
}

async fn within<T>(work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    timeout(ANSWER, work).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}
