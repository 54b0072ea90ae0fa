//! SIGTERM means stop; SIGHUP and SIGINT mean nothing here: they are meant for the terminal the server may have.

use std::io;
use std::sync::Arc;

use tokio::signal::unix::{SignalKind, signal};

use super::life::Event;
use super::{Hub, spawn_thread};

/// The one use of tokio in the runner: it catches signals without unsafe code, on a thread that otherwise sleeps.
pub(super) fn watch(hub: &Arc<Hub>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let mut caught = {
        let _inside = runtime.enter();
        [signal(SignalKind::terminate())?, signal(SignalKind::hangup())?, signal(SignalKind::interrupt())?]
    };
    spawn_thread(hub, "signals", move |hub| {
        // Only the first is listened to. The others were caught to take away what they do by default.
        while runtime.block_on(caught[0].recv()).is_some() {
            let _ = hub.events.send(Event::Stop("SIGTERM"));
        }
    })
}
