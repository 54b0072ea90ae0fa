//! The runners that this server holds: the connection to each, what comes out of it, and the commands that run for its agent.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::task::Poll;

use agents::{Batch, Connection, Terminal};
use domain::ids::RunnerId;
use telemetry::Held;
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::room::Place;

#[derive(Default)]
pub(crate) struct Links {
    links: Vec<Link>,
    /// Whose turn it is to be heard first.
    next: usize,
}

pub(super) struct Link {
    runner: RunnerId,
    agent: String,
    /// None while the agent starts.
    connection: Option<Connection>,
    signals: Option<mpsc::Receiver<Batch>>,
    /// None while the agent starts, or where it was there before this server and there was no room.
    _place: Option<Place>,
    /// The stops that are on their way. No prompt may overtake one, as a stop is for a session and would stop the next prompt; and no reply,
    /// as an agent whose question is answered as cancelled before it hears of the stop ends its turn as if nobody had stopped it.
    stops: Vec<CancellationToken>,
    /// By the id that the agent knows them by.
    terminals: HashMap<String, Running>,
    /// It is one of the processes that are held.
    _counted: Held,
}

/// Stops that were on their way at one moment.
pub(super) struct Stops(Vec<CancellationToken>);

impl Stops {
    pub(super) async fn over(self) {
        for stop in self.0 {
            stop.cancelled().await;
        }
    }
}

/// A terminal and what people know it by.
pub(super) struct Running {
    pub terminal: Terminal,
    pub command: String,
    pub call_id: String,
    /// Ends when there is more to show than was shown last.
    pub more: Option<Pin<Box<dyn Future<Output = ()> + Send + Sync>>>,
}

impl Links {
    /// A runner is being started or adopted: what it says is taken from now on.
    pub(super) fn add(&mut self, runner: RunnerId, agent: String, signals: mpsc::Receiver<Batch>, counted: Held) {
        let (signals, stops, terminals) = (Some(signals), Vec::new(), HashMap::new());
        self.links.push(Link { runner, agent, connection: None, signals, _place: None, stops, terminals, _counted: counted });
    }

    pub(super) fn connect(&mut self, runner: RunnerId, connection: Connection, place: Option<Place>) {
        if let Some(link) = self.get_mut(runner) {
            (link.connection, link._place) = (Some(connection), place);
        }
    }

    /// A stop begins; it is over when the guard is dropped.
    pub(super) fn begin_stop(&mut self, runner: RunnerId) -> Option<DropGuard> {
        let link = self.get_mut(runner)?;
        let stop = CancellationToken::new();
        link.stops.retain(|stop| !stop.is_cancelled());
        link.stops.push(stop.clone());
        Some(stop.drop_guard())
    }

    /// The stops that a prompt or a reply has to wait for.
    pub(super) fn stops(&self, runner: RunnerId) -> Stops {
        let link = self.links.iter().find(|link| link.runner == runner);
        Stops(link.map(|link| link.stops.iter().filter(|stop| !stop.is_cancelled()).cloned().collect()).unwrap_or_default())
    }

    /// Its terminals end with it.
    pub(super) fn remove(&mut self, runner: RunnerId) {
        self.links.retain(|link| link.runner != runner);
    }

    pub(crate) fn connection(&self, runner: RunnerId) -> Option<&Connection> {
        self.links.iter().find(|link| link.runner == runner)?.connection.as_ref()
    }

    pub(super) fn agent(&self, runner: RunnerId) -> Option<&str> {
        self.links.iter().find(|link| link.runner == runner).map(|link| link.agent.as_str())
    }

    pub(super) fn terminals(&mut self, runner: RunnerId) -> Option<&mut HashMap<String, Running>> {
        self.get_mut(runner).map(|link| &mut link.terminals)
    }

    /// The person stopped the call: what it runs here stops with it. The agent is told, and releases it.
    pub(super) fn kill_terminals_of(&self, call_id: &str) {
        let running = self.links.iter().flat_map(|link| link.terminals.values());
        for running in running.filter(|running| running.call_id == call_id) {
            running.terminal.kill();
        }
    }

    /// Like `recv_many` of whichever runner has something to say; waits for ever while none has. Each is heard in its turn.
    pub(crate) async fn receive(&mut self, into: &mut Vec<Batch>, limit: usize) -> RunnerId {
        std::future::poll_fn(|context| {
            let count = self.links.len();
            for step in 0..count {
                let at = (self.next + step) % count;
                let link = &mut self.links[at];
                let Some(signals) = &mut link.signals else { continue };
                match signals.poll_recv_many(context, into, limit) {
                    Poll::Ready(0) => link.signals = None,
                    Poll::Ready(_) => {
                        self.next = at + 1;
                        return Poll::Ready(link.runner);
                    }
                    Poll::Pending => {}
                }
            }
            Poll::Pending
        })
        .await
    }

    fn get_mut(&mut self, runner: RunnerId) -> Option<&mut Link> {
        self.links.iter_mut().find(|link| link.runner == runner)
    }
}
