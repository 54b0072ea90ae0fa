//! An agent that listens on TCP, made to look like one on stdio: lines in, lines out, and the end of either side is the end of both.
//! A process of its own, so that the runner has a process to own and knows nothing of networks.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::say::warn;

/// The command that runs it.
pub const BRIDGE: &str = "bridge";

const CONNECT: Duration = Duration::from_secs(10);
const CHUNK_BYTES: usize = 64 * 1024;

/// Runs until the server lets go or the connection is lost; the last line on stderr says which.
pub fn run(address: &str) -> ExitCode {
    let socket = match connect(address) {
        Ok(socket) => socket,
        Err(error) => {
            warn(format_args!("no agent answers at tcp://{address}: {error}"));
            return ExitCode::FAILURE;
        }
    };
    match carry(socket) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            warn(format_args!("the connection to tcp://{address} was closed by the agent; its sessions ended with it"));
            ExitCode::FAILURE
        }
        Err(error) => {
            warn(format_args!("the connection to tcp://{address} was lost: {error}; its sessions ended with it"));
            ExitCode::FAILURE
        }
    }
}

fn connect(address: &str) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT) {
            Ok(socket) => {
                socket.set_nodelay(true)?;
                return Ok(socket);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Whether it was our side that let go.
fn carry(socket: TcpStream) -> io::Result<bool> {
    let let_go = Arc::new(AtomicBool::new(false));
    let (there, stdin_ended) = (socket.try_clone()?, Arc::clone(&let_go));
    std::thread::Builder::new().spawn(move || {
        // Whichever side failed, nothing more can go there.
        let _ = copy(io::stdin(), &there);
        stdin_ended.store(true, Ordering::Release);
        let _ = there.shutdown(Shutdown::Both);
    })?;
    let carried = copy(socket, io::stdout());
    if let_go.load(Ordering::Acquire) { Ok(true) } else { carried.map(|()| false) }
}

/// Passes everything on as it comes: a line must not wait for the next.
fn copy(mut from: impl Read, mut to: impl Write) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        match from.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(length) => {
                to.write_all(&chunk[..length])?;
                to.flush()?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
