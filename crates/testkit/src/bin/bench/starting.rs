//! How long the server takes from its start to its first listener, over a database that has been used for a while.

use std::path::Path;
use std::time::Instant;

use domain::event::{CopilotDelta, Event, Message, Role, Turn, TurnState};
use domain::ids::{MessageId, SessionId, TurnId};
use jiff::Timestamp;
use store::{NewSession, Row, Store, TurnRow, Write};
use testkit::server::Rig;
use uuid::Uuid;

use crate::figures::{Figure, Memory, verdict};
use crate::rounds::rig;

const SESSIONS: usize = 1_000;
const TURNS: usize = 10;
const DELTAS: u64 = 20;
const DELTA: &str = "some of what an agent says in a turn, about as much as a line on the screen";

pub(crate) async fn run(rounds: usize) -> anyhow::Result<()> {
    let rig = rig();
    fill(&rig).await?;
    let database = rig.data_dir().join("voxpilot.db");
    let size_mb = std::fs::metadata(database)?.len() as f64 / 1e6;
    let mut server = rig.start().await;
    let mut took_ms = Vec::new();
    let mut memory = Memory::default();
    for _ in 0..rounds {
        server.terminate().await;
        let begun = Instant::now();
        server.restart().await;
        took_ms.push(begun.elapsed().as_secs_f64() * 1e3);
        memory = Memory::of(server.pid());
    }
    server.terminate().await;
    let figure = Figure::of(took_ms);
    println!("\n{SESSIONS} stored sessions of {TURNS} turns, a database of {size_mb:.0} MB");
    println!("from start to listening, ms: {figure}; resident memory {memory}");
    println!("goal: ready in under 200 ms: {}", verdict(figure.median < 200.0));
    Ok(())
}

async fn fill(rig: &Rig) -> anyhow::Result<()> {
    let store = Store::open(&rig.data_dir().join("voxpilot.db"), false).await?;
    for _ in 0..SESSIONS {
        let session = SessionId(Uuid::now_v7());
        let mut rows = vec![Row::CreateSession(new_session(&rig.work_dir()))];
        let mut events = Vec::new();
        for _ in 0..TURNS {
            turn(&mut rows, &mut events);
        }
        store.commit(Write { session, events, rows }).await?;
    }
    store.close().await;
    Ok(())
}

fn new_session(work_dir: &Path) -> NewSession {
    NewSession {
        title: "a stored session".to_owned(),
        work_dir: work_dir.display().to_string(),
        model: "relay".to_owned(),
        agent: "fast".to_owned(),
        permission_policy: None,
        created_at: Timestamp::now(),
    }
}

fn turn(rows: &mut Vec<Row>, events: &mut Vec<Event>) {
    let (id, now) = (TurnId(Uuid::now_v7()), Timestamp::now());
    let question = message(id, Role::User);
    let answer = message(id, Role::Assistant);
    rows.push(Row::Message(question.clone()));
    rows.push(Row::Message(answer.clone()));
    rows.push(Row::Turn(TurnRow {
        id,
        state: TurnState::Completed,
        reason: None,
        user_message_id: Some(question.id),
        started_seq: 0,
        started_at: now,
        ended_at: Some(now),
    }));
    events.push(Event::Message(question));
    // Each to another call, so that they stay events of their own.
    events.extend((0..DELTAS).map(|number| {
        let tool_call_id = format!("call-{number}");
        Event::CopilotDelta(CopilotDelta { tool_call_id, session_name: "main".to_owned(), offset: 0, content: DELTA.to_owned() })
    }));
    events.push(Event::Message(answer));
    events.push(Event::Turn(Turn { turn_id: id, state: TurnState::Completed, reason: None }));
}

fn message(turn_id: TurnId, role: Role) -> Message {
    let message = Message::plain(MessageId(Uuid::now_v7()), role, DELTA.repeat(5), Timestamp::now());
    Message { turn_id: Some(turn_id), ..message }
}
