//! Who is notified of what: hears from the engine what happened, and sends it to the devices that want to know.
//!
//! Each thing is told at most once: what is on its way when the server ends is lost, and nothing is told again by the next one.

mod payload;

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::sync::Arc;

use domain::device::DeviceKind;
use domain::event::{Role, TurnState};
use domain::ids::{PermissionId, SessionId, TurnId};
use engine::{Happening, Heard};
use push::{Note, Outcome, Sender, Subscription};
use store::{PushRow, ServerRow, SessionRow, Store, StoreError};
use tokio::task::{JoinError, JoinSet};

use crate::App;
use payload::Told;
pub(crate) use payload::test;

/// Notes that wait for one device; the oldest makes room.
const LANE: usize = 32;
/// Notes on their way at once, each to another device.
const AT_ONCE: usize = 16;
/// Sessions that are looked at for what waited when the server started.
const LOOKED_AT: u32 = 500;
/// Messages of a turn among which its answer is.
const LAST_MESSAGES: u32 = 4;

pub(crate) async fn run(app: App) -> Infallible {
    let mut heard = app.engine.listen();
    let mut post = Post::new(app).await;
    loop {
        tokio::select! {
            next = heard.recv() => match next {
                Some(heard) => post.hear(heard).await,
                None => std::future::pending().await,
            },
            Some(ended) = post.sending.join_next() => post.ended(ended).await,
        }
        post.start();
    }
}

struct Post {
    app: App,
    /// The sessions in which somebody waits, and of which question people were told last.
    asked: HashMap<SessionId, Option<PermissionId>>,
    /// By endpoint.
    lanes: HashMap<String, Lane>,
    sending: JoinSet<(String, Outcome)>,
}

/// What goes to one device, in order.
struct Lane {
    to: Subscription,
    waiting: VecDeque<Note>,
    busy: bool,
}

impl Lane {
    /// Of two notes about one session only the later one matters.
    fn add(&mut self, note: Note) {
        self.waiting.retain(|other| other.topic != note.topic);
        if self.waiting.len() == LANE {
            self.waiting.pop_front();
        }
        self.waiting.push_back(note);
    }
}

impl Post {
    async fn new(app: App) -> Post {
        let rows = app.engine.store().sessions(None, LOOKED_AT).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "which sessions wait for somebody cannot be read");
            Vec::new()
        });
        let asked = rows.into_iter().filter(|row| row.waiting > 0).map(|row| (row.id, None)).collect();
        Post { app, asked, lanes: HashMap::new(), sending: JoinSet::new() }
    }

    async fn hear(&mut self, heard: Heard) {
        if let Err(error) = self.tell(heard).await {
            tracing::warn!(%error, "nobody is notified: the store cannot be read");
        }
    }

    async fn tell(&mut self, heard: Heard) -> Result<(), StoreError> {
        let store = self.app.engine.store().clone();
        let Some(row) = store.session(heard.session).await? else { return Ok(()) };
        let told = self.decide(&store, &row, heard.what).await?;
        // What was shown before it was muted still goes when it is answered.
        let Some(told) = told.filter(|told| !row.muted || matches!(told, Told::Closed)) else { return Ok(()) };
        let devices = self.app.access.devices.list();
        for push in store.pushes().await? {
            let Some(device) = devices.iter().find(|device| device.id == push.device) else { continue };
            self.queue(&push, told.note(&row, device.kind == DeviceKind::Full));
        }
        Ok(())
    }

    fn queue(&mut self, push: &PushRow, note: Note) {
        let Ok(to) = Subscription::new(&push.endpoint, &push.p256dh, &push.auth) else { return };
        let lane = self.lanes.entry(push.endpoint.clone());
        lane.or_insert_with(|| Lane { to, waiting: VecDeque::new(), busy: false }).add(note);
    }

    async fn decide(&mut self, store: &Store, row: &SessionRow, what: Happening) -> Result<Option<Told>, StoreError> {
        Ok(match what {
            Happening::Asked { request_id, text, options } => {
                self.asked.insert(row.id, request_id);
                Some(Told::NeedsYou { text, request_id, options })
            }
            Happening::Answered => match self.asked.get(&row.id).copied() {
                Some(last) => self.next_question(store, row.id, last).await?,
                None => None,
            },
            Happening::Ended { turn_id, state, reason, more } => {
                let waited = self.asked.remove(&row.id).is_some();
                match state {
                    TurnState::Completed if !more => Some(Told::Done { text: answer(store, row.id, turn_id).await? }),
                    TurnState::Failed | TurnState::Interrupted | TurnState::Unknown => {
                        Some(Told::Failed { text: reason.unwrap_or_else(|| "It ended before it was finished.".to_owned()) })
                    }
                    _ => waited.then_some(Told::Closed),
                }
            }
        })
    }

    /// What is left to be answered, now that something was.
    async fn next_question(&mut self, store: &Store, session: SessionId, last: Option<PermissionId>) -> Result<Option<Told>, StoreError> {
        let waiting = store.permissions(session).await?;
        if last.is_some_and(|last| waiting.iter().any(|row| row.request.request_id == last)) {
            return Ok(None);
        }
        let Some(next) = waiting.into_iter().next() else {
            if last.is_none() && !store.confirms(session).await?.is_empty() {
                return Ok(None);
            }
            self.asked.remove(&session);
            return Ok(Some(Told::Closed));
        };
        let Happening::Asked { request_id, text, options } = Happening::asked(&next.request) else { return Ok(None) };
        self.asked.insert(session, request_id);
        Ok(Some(Told::NeedsYou { text, request_id, options }))
    }

    fn start(&mut self) {
        for (endpoint, lane) in &mut self.lanes {
            if lane.busy || self.sending.len() >= AT_ONCE {
                continue;
            }
            let Some(note) = lane.waiting.pop_front() else { continue };
            lane.busy = true;
            let (sender, to, endpoint): (Arc<Sender>, _, _) = (self.app.push.clone(), lane.to.clone(), endpoint.clone());
            self.sending.spawn(async move {
                let outcome = sender.send(&to, &note).await;
                (endpoint, outcome)
            });
        }
    }

    async fn ended(&mut self, ended: Result<(String, Outcome), JoinError>) {
        let Ok((endpoint, outcome)) = ended else { return };
        match outcome {
            Outcome::Accepted => {}
            Outcome::Gone => {
                self.lanes.remove(&endpoint);
                return forget(self.app.engine.store(), endpoint).await;
            }
            Outcome::Failed(why) => tracing::warn!(%why, "a notification did not reach its device"),
        }
        if let Some(lane) = self.lanes.get_mut(&endpoint) {
            lane.busy = false;
            if lane.waiting.is_empty() {
                self.lanes.remove(&endpoint);
            }
        }
    }
}

/// The browser has unsubscribed.
pub(crate) async fn forget(store: &Store, endpoint: String) {
    if let Err(error) = store.save(vec![ServerRow::DropEndpoint(endpoint)]).await {
        tracing::warn!(%error, "a device that wants no notifications any more could not be forgotten");
    }
}

async fn answer(store: &Store, session: SessionId, turn: TurnId) -> Result<String, StoreError> {
    let page = store.messages(session, None, LAST_MESSAGES).await?;
    let last = page.messages.iter().rev().find(|message| message.role == Role::Assistant && message.turn_id == Some(turn));
    Ok(last.map_or_else(String::new, |message| message.content.clone()))
}
