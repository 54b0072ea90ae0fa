//! The runner's socket: takes connections, answers requests, and sends the journal's bytes to whoever follows it.

use std::io::{self, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use rustix::net::SendFlags;

use super::life::Event;
use super::{Hub, log, spawn_thread};
use crate::journal::{Step, Tail, Take, now_ms};
use crate::record::{self, Kind};
use crate::wire::{self, Request, Status};

/// One server needs two; the rest is for those being replaced and for pings.
const MAX_CONNECTIONS: usize = 16;
/// A connection that does not say what it wants is not kept.
const FIRST_REQUEST: Duration = Duration::from_secs(5);

pub(super) fn begin(hub: &Arc<Hub>, listener: UnixListener) -> io::Result<()> {
    let open = Arc::new(AtomicUsize::new(0));
    spawn_thread(hub, "accept", move |hub| {
        loop {
            match listener.accept() {
                Ok((stream, _)) => admit(hub, &open, stream),
                Err(error) => {
                    log::line(format_args!("accepting a connection: {error}"));
                    back_off();
                }
            }
        }
    })
}

#[expect(clippy::disallowed_methods, reason = "out of descriptors, most likely: nothing tells when there are some again")]
fn back_off() {
    thread::sleep(Duration::from_millis(100));
}

fn admit(hub: &Arc<Hub>, open: &Arc<AtomicUsize>, stream: UnixStream) {
    if open.fetch_add(1, Ordering::AcqRel) >= MAX_CONNECTIONS {
        open.fetch_sub(1, Ordering::AcqRel);
        log::line(format_args!("too many connections, one refused"));
        return;
    }
    let counted = Arc::clone(open);
    let started = spawn_thread(hub, "connection", move |hub| {
        // A peer that goes away in the middle is everyday; it comes back if it wants to.
        let _ = connection(hub, stream);
        counted.fetch_sub(1, Ordering::AcqRel);
    });
    if let Err(error) = started {
        open.fetch_sub(1, Ordering::AcqRel);
        log::line(format_args!("starting a connection's thread: {error}"));
    }
}

fn connection(hub: &Arc<Hub>, mut stream: UnixStream) -> io::Result<()> {
    stream.set_read_timeout(Some(FIRST_REQUEST))?;
    let Some(frame) = wire::read_frame(&mut stream)? else { return Ok(()) };
    stream.set_read_timeout(None)?;
    match Request::decode(&frame) {
        Some(Request::Ping) => stream.write_all(&Status::Done.answer(&[])),
        Some(Request::Control { key } | Request::Records { key, .. }) if key != hub.key => {
            stream.write_all(&Status::Refused.answer(b"not the server of this runner"))
        }
        Some(Request::Control { .. }) => {
            let Some(epoch) = hub.attach.take_over(stream.try_clone()?) else { return Ok(()) };
            hub.journal.rouse();
            let outcome = stream.write_all(&wire::greeting(epoch)).and_then(|()| control(hub, &mut stream));
            hub.attach.leave(epoch);
            hub.journal.rouse();
            let _ = hub.events.send(Event::Company);
            outcome
        }
        Some(Request::Records { epoch, cursor, .. }) => {
            if hub.attach.follow(epoch, stream.try_clone()?) {
                let outcome = send_records(hub, &mut stream, epoch, cursor);
                // Nobody reads any more, so nobody is waited for.
                hub.attach.set_delivered(epoch, u64::MAX);
                return outcome;
            }
            Ok(())
        }
        _ => stream.write_all(&Status::Refused.answer(b"not a first request")),
    }
}

fn control(hub: &Hub, stream: &mut UnixStream) -> io::Result<()> {
    while let Some(frame) = wire::read_frame(stream)? {
        let mut acknowledged = 0;
        let (status, reason) = match Request::decode(&frame) {
            Some(Request::Write { write_id, line }) => {
                drop(frame);
                hub.stdin.write(&hub.journal, write_id, line)
            }
            Some(Request::Busy(busy)) => {
                hub.attach.set_busy(busy);
                (Status::Done, String::new())
            }
            Some(Request::Ack(seq)) => {
                hub.journal.trim(seq);
                acknowledged = seq;
                (Status::Done, String::new())
            }
            Some(Request::Stored(seq)) => {
                // It is tried again with the next request of this kind.
                if let Err(error) = hub.journal.thin(&hub.dir, seq) {
                    log::line(format_args!("thinning out the journal: {error}"));
                }
                (Status::Done, String::new())
            }
            Some(Request::Stop) => {
                let _ = hub.events.send(Event::Stop("the server said so"));
                (Status::Done, String::new())
            }
            Some(Request::Ping) => (Status::Done, String::new()),
            Some(Request::Control { .. } | Request::Records { .. }) | None => (Status::Refused, "unknown request".to_owned()),
        };
        if status == Status::DiskFull {
            let _ = hub.events.try_send(Event::Fault);
        }
        stream.write_all(&status.answer(reason.as_bytes()))?;
        // Only now: the runner may end as soon as its last record is acknowledged.
        hub.attach.acknowledge(acknowledged);
    }
    Ok(())
}

fn send_records(hub: &Arc<Hub>, stream: &mut UnixStream, epoch: u64, cursor: u64) -> io::Result<()> {
    let mut tail = Tail::new(&hub.dir, cursor);
    let taken = Arc::new(stream.try_clone()?);
    loop {
        match tail.next(&hub.journal, || hub.attach.is_current(epoch), || take(hub, &taken, epoch))? {
            Step::Bytes { to, through } => {
                tail.copy(to, |chunk| stream.write_all(chunk))?;
                hub.attach.set_delivered(epoch, through);
            }
            Step::Fault(Some(reason)) => {
                let text = format!(
                    "the journal cannot be written: {reason}; the agent goes on and its lines are kept in memory, but it is given no more"
                );
                let mut frame = Vec::new();
                record::encode(&mut frame, 0, now_ms(), Kind::LiveNotice, &[text.as_bytes()]);
                stream.write_all(&frame)?;
            }
            // The end of it is a record of the journal.
            Step::Fault(None) => {}
            Step::Unwanted => return Ok(()),
        }
    }
}

/// What fits into the socket at once; the rest, and every fault, is left to the connection's own thread.
fn take(hub: &Arc<Hub>, stream: &Arc<UnixStream>, epoch: u64) -> Take {
    let (hub, stream) = (Arc::downgrade(hub), Arc::clone(stream));
    Box::new(move |bytes, through| {
        let taken = rustix::net::send(&*stream, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL).unwrap_or(0);
        if taken == bytes.len()
            && let Some(hub) = hub.upgrade()
        {
            hub.attach.set_delivered(epoch, through);
        }
        taken
    })
}
