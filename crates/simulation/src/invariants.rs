//! What must hold, whatever happens: the names and what they mean, in one table.

macro_rules! invariants {
    ($($variant:ident $name:literal $text:literal)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum Invariant { $($variant),* }

        impl Invariant {
            pub const ALL: &[Invariant] = &[$(Invariant::$variant),*];

            pub fn name(self) -> &'static str {
                match self { $(Invariant::$variant => $name),* }
            }

            pub fn text(self) -> &'static str {
                match self { $(Invariant::$variant => $text),* }
            }
        }
    };
}

invariants! {
    PromptOnce "prompt-once" "A prompt reaches a process at most once, and no second process unless the first refused it for want of a login."
    LinesKept "lines-kept" "No line of a journal is forgotten by the runner, or skipped by the server, before its meaning is committed."
    LinesOnce "lines-once" "Every line that an agent wrote about a call becomes events exactly once, in the order of the journal."
    CommitFirst "commit-first" "Nothing is told, acknowledged, answered, sent or begun before the commit that decided it."
    ReplyOnce "reply-once" "Every reply reaches the agent at most once, and answers the very demand that it was made for."
    DemandsAnswered "demands-answered" "Every demand of an agent that lives is answered in the end."
    Approved "approved" "Nothing is done or allowed for an agent unless the policy, a rule or a person allowed that very demand."
    AsShown "as-shown" "Nothing runs and nothing is allowed but what was allowed as it was shown: the options by what they mean, the change and the command as they are."
    DenialHeld "denial-held" "A denial of a person is held before it is sent: until then its agent is told nothing, and only that person's undo, a stop or the agent itself ends it otherwise."
    DoneOnce "done-once" "Nothing that changes something is done twice."
    CallEndsOnce "call-ends-once" "Every call ends exactly once, and nothing is said of it afterwards."
    RightWord "right-word" "A call ends with the word for what really happened: as the agent said, cancelled, denied, interrupted or failed."
    StopStops "stop-stops" "After a stop nothing new is begun for what was stopped, its prompt does not go on running, and what was queued waits until somebody sends it."
    OneOwner "one-owner" "An agent has one process in a session: a new one starts only when the old one is cleared away."
    OpenSession "open-session" "A prompt goes only into an agent session that its process has open and serves."
    SetFirst "set-first" "A prompt goes to an agent only after what was set for its session before, and after the agent's answer to that."
    StreamsWhole "streams-whole" "Streams are whole by offset, and a browser that comes back sees the same text."
    TurnEndsOnce "turn-ends-once" "Every turn ends once, with the right state."
    QueueInOrder "queue-in-order" "Messages run in the order of the queue, all of them but the withdrawn ones."
    ComesToAnEnd "comes-to-an-end" "When faults stop and everybody goes on, everything comes to an end."
}

/// An invariant that does not hold, and why.
#[derive(Clone, Debug)]
pub struct Violation {
    pub invariant: Invariant,
    pub why: String,
}

pub type Checked = Result<(), Box<Violation>>;

/// Holds, or is broken for the reason given.
pub fn hold(holds: bool, invariant: Invariant, why: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(Box::new(Violation { invariant, why: why() })) }
}
