//! Inputs, effects and commits in words: for stories, and to count what was seen.

use domain::host::{self, Act, Keep, WriteOutcome};
use domain::ids::RunnerId;
use domain::machine::{Effect, Input};
use domain::turn;

use crate::coverage::Coverage;
use crate::store::Commit;
use crate::world::World;

macro_rules! kinds {
    ($function:ident, $list:ident, $type:ty, $prefix:literal, $($pattern:pat => $name:literal),* $(,)?) => {
        pub const $list: &[&str] = &[$(concat!($prefix, $name)),*];

        fn $function(of: &$type) -> &'static str {
            match of { $($pattern => concat!($prefix, $name)),* }
        }
    };
}

kinds!(turn_input, TURN_INPUTS, turn::Input, "input: ",
    turn::Input::Message(_) => "message", turn::Input::Edit { .. } => "edit", turn::Input::Withdraw { .. } => "withdraw",
    turn::Input::Move { .. } => "move", turn::Input::SendNext => "send next", turn::Input::SendNow { .. } => "send now",
    turn::Input::ModelText { .. } => "model text", turn::Input::ModelEnd { .. } => "model end",
    turn::Input::ModelFault { .. } => "model fault", turn::Input::ToolEnd { .. } => "tool end", turn::Input::Confirm { .. } => "confirm",
    turn::Input::ConfirmsWaiting { .. } => "confirms waiting", turn::Input::Cancel => "cancel",
    turn::Input::CancelTurn => "cancel turn", turn::Input::CancelCall { .. } => "cancel call", turn::Input::HoldOver { .. } => "hold over",
    // These come from the hosts, inside the machine.
    turn::Input::AgentText { .. } | turn::Input::AgentUpdate { .. } | turn::Input::AgentHas { .. } | turn::Input::AgentEnd { .. }
    | turn::Input::Permission { .. } | turn::Input::PermissionAnswer { .. } | turn::Input::TakeBack { .. } | turn::Input::Abort { .. } => "of a host",
);

kinds!(host_kind, HOST_INPUTS, host::Input, "input: ",
    host::Input::Started { .. } => "started", host::Input::Batch { .. } => "batch", host::Input::SessionOpened { .. } => "session opened",
    host::Input::Written { .. } => "written", host::Input::Cleared { .. } => "cleared", host::Input::Prepared { .. } => "prepared",
    host::Input::Done { .. } => "done", host::Input::ReplySent { .. } => "reply sent",
    host::Input::TerminalChanged { .. } => "terminal changed", host::Input::StopOverdue { .. } => "stop overdue",
    host::Input::SetOptions { .. } => "set options", host::Input::OptionsSet { .. } => "options set",
    host::Input::Forbidden { .. } => "forbidden", host::Input::PolicyChanged { .. } => "policy changed", host::Input::ForgetAlways => "forget always",
    host::Input::LoggedIn => "logged in", host::Input::Retire => "retire", host::Input::Restored(_) => "restored",
    // These come from the turn, inside the machine.
    host::Input::Prompt { .. } | host::Input::Stop { .. } | host::Input::Decided { .. } | host::Input::ForgetSession { .. } => "of the turn",
);

kinds!(act_kind, ACTS, Act, "act: ",
    Act::Start { .. } => "start", Act::Adopt { .. } => "adopt", Act::Open { .. } => "open", Act::Prompt { .. } => "prompt",
    Act::Cancel { .. } => "cancel", Act::Reply { .. } => "reply", Act::Prepare { .. } => "prepare", Act::Do { .. } => "do",
    Act::GiveUp { .. } => "give up", Act::SetOptions { .. } => "set options", Act::ForbidAll { .. } => "forbid all",
    Act::WatchTerminal { .. } => "watch terminal", Act::KillTerminals { .. } => "kill terminals", Act::Acknowledge { .. } => "acknowledge", Act::End { .. } => "end",
    Act::Clear { .. } => "clear", Act::Timer(_) => "timer",
);

pub fn count_input(coverage: &mut Coverage, input: &Input) {
    coverage.count(match input {
        Input::Turn(input) => turn_input(input),
        Input::Host { input, .. } => host_kind(input),
        Input::Answer { .. } => "input: answer",
        Input::TakeBack { .. } => "input: take back",
        Input::Reconsider => "input: reconsider",
        Input::Resume => "input: resume",
    });
}

pub fn count_effect(coverage: &mut Coverage, effect: &Effect) {
    coverage.count(match effect {
        Effect::CallModel { .. } => "act: call model",
        Effect::StopModel => "act: stop model",
        Effect::RunTool(_) => "act: run tool",
        Effect::StopTool { .. } => "act: stop tool",
        Effect::Timer(_) => "act: timer",
        Effect::Host { act, .. } => act_kind(act),
        Effect::Append(_) | Effect::Save(_) | Effect::Keep(_) => return,
    });
}

pub fn host_input(input: &host::Input) -> String {
    let kind = host_kind(input).trim_start_matches("input: ");
    match input {
        host::Input::Written { call_id, outcome, .. } => {
            let outcome = match outcome {
                WriteOutcome::Written => "written".to_owned(),
                WriteOutcome::Unsent(_) => "never sent, the agent is gone".to_owned(),
                WriteOutcome::Gone => "in the journal perhaps, and the agent is gone".to_owned(),
                WriteOutcome::Failed(failure) => format!("{:?}", failure.fault),
            };
            format!("the prompt of {call_id} is {outcome}")
        }
        host::Input::Started { outcome, .. } => match outcome {
            Ok(_) => "the agent is up".to_owned(),
            Err(failure) => format!("the agent could not be started ({}{})", failure.message, if failure.gone { ", gone" } else { "" }),
        },
        host::Input::SessionOpened { name, outcome, .. } => match outcome {
            Ok(opened) => format!("session {name} is open: {} ({})", opened.agent_session, opened.how.as_str()),
            Err(failure) => format!("session {name} is not open: {:?}", failure.fault),
        },
        _ => kind.to_owned(),
    }
}

pub fn act(world: &World, act: &Act) -> String {
    let kind = act_kind(act).trim_start_matches("act: ");
    let to = |runner: &RunnerId| world.label(*runner);
    match act {
        Act::Start { agent, .. } => format!("the server starts a runner of {agent}"),
        Act::Open { runner, name, known, .. } => {
            let known = known.as_ref().map_or_else(|| "a new one".to_owned(), |known| known.agent_session.clone());
            format!("the server opens session {name} ({known}) in {}", to(runner))
        }
        Act::Prompt { runner, call_id, agent_session, .. } => {
            format!("the server writes the prompt of {call_id} for {agent_session} to {}", to(runner))
        }
        Act::Cancel { runner, call_id, .. } => format!("the server tells {} to stop {call_id}", to(runner)),
        Act::Reply { runner, rpc_id, reply, .. } => format!("the server answers request {rpc_id} of {}: {reply:?}", to(runner)),
        Act::Acknowledge { runner, cursor } => format!("the server acknowledges {cursor} to {}", to(runner)),
        Act::End { runner } => format!("the server tells {} to end", to(runner)),
        Act::Clear { runner, .. } => format!("the server clears {} away", to(runner)),
        Act::Do { demand, shown, .. } => format!("the server does {demand:?}, shown as {shown:?}"),
        _ => format!("the server does: {kind}"),
    }
}

pub fn commit(commit: &Commit) -> String {
    let parts = commit.effects.iter().filter_map(|effect| match effect {
        Effect::Append(domain::event::Event::CopilotDone(done)) => Some(format!("copilot-done {} {}", done.tool_call_id, done.stop_reason)),
        Effect::Append(domain::event::Event::Turn(turn)) => Some(format!("turn {:?}", turn.state)),
        Effect::Append(event) => Some(event.kind().to_owned()),
        Effect::Keep(Keep::Cursor { cursor, .. }) => Some(format!("cursor {cursor}")),
        Effect::Keep(Keep::Session(session)) => Some(format!("session {}", session.name)),
        Effect::Keep(keep) => Some(format!("{keep:?}").split([' ', '{']).next().unwrap_or_default().to_owned()),
        _ => None,
    });
    parts.collect::<Vec<_>>().join(", ")
}
