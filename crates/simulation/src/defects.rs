//! Mistakes that somebody could make at the edge of the machine, to prove that the simulation finds them.

macro_rules! defects {
    ($($variant:ident $name:literal $text:literal)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Defect { $($variant),* }

        impl Defect {
            pub const ALL: &[Defect] = &[$(Defect::$variant),*];

            pub fn name(self) -> &'static str {
                match self { $(Defect::$variant => $name),* }
            }

            pub fn text(self) -> &'static str {
                match self { $(Defect::$variant => $text),* }
            }

            pub fn named(name: &str) -> Option<Defect> {
                Defect::ALL.iter().copied().find(|defect| defect.name() == name)
            }
        }
    };
}

defects! {
    AcknowledgeEarly "acknowledge-early" "The runner is told to forget lines before the commit that holds their meaning."
    ActEarly "act-early" "Everything is begun before the commit that decided it."
    ReplyEarly "reply-early" "An agent is answered before the answer is committed."
    TellEarly "tell-early" "A browser is told events before they are committed."
    CursorLost "cursor-lost" "The cursor into the journal is not stored."
    CursorApart "cursor-apart" "The cursor is stored in a commit of its own, after the events."
    CommitSplit "commit-split" "What one step decided is stored in two commits."
    EndingLost "ending-lost" "It is not stored that a runner is to make room."
    SessionLost "session-lost" "The agent session is not stored when it is opened."
    LoginMarkLost "login-mark-lost" "It is not stored that a prompt was refused for want of a login."
    QueueLost "queue-lost" "The queue is not read back after a restart."
    HoldLost "hold-lost" "It is not read back after a restart that a stop holds the queue."
    FoldShort "fold-short" "The log is folded without its last event."
    RowRemovedEarly "row-removed-early" "A dead runner's row is removed before it is known what became of its prompts."
    PromptIdDrawn "prompt-id-drawn" "A prompt is written under a fresh id each time."
    CancelDropped "cancel-dropped" "The agent is not told to stop; only the deadline is begun."
    CancelOvertaken "cancel-overtaken" "The next prompt of a session can overtake the stop of the one before."
    StopTimerLost "stop-timer-lost" "The deadline of a stop is not begun."
    WrittenEarly "written-early" "A prompt counts as written before it is, so that a stop can overtake it."
    GoneAsUnsent "gone-as-unsent" "A prompt whose agent died counts as never sent, although the journal holds it."
    ReplyIdFromRpc "reply-id-from-rpc" "A reply is written under an id made of the agent's own request id."
    DemandIdFromRpc "demand-id-from-rpc" "A demand is named by the agent's own request id."
    HoldForgotten "hold-forgotten" "After a restart a denial that was held is a question again."
    HoldSkipped "hold-skipped" "A denial is sent at once, so that nobody can take it back."
    ReplyDropped "reply-dropped" "A reply that the runner would not take just now is not sent again."
    DebtsForgotten "debts-forgotten" "What an agent is owed is not read back after a restart."
    AnswersForgotten "answers-forgotten" "Permissions that are decided and not delivered are not read back after a restart."
    BegunForgotten "begun-forgotten" "What had begun before a restart counts as not begun."
    WrittenIgnored "written-ignored" "The prompts that a dead runner's journal holds are not looked for."
    WrittenAssumed "written-assumed" "A dead runner counts as having had every open prompt."
    AliveAsDead "alive-as-dead" "A runner that lives is taken for a dead one."
    LostAsNew "lost-as-new" "A runner whose journal is lost counts as one that never came up."
    AdoptFromStart "adopt-from-start" "A runner is reattached from the beginning of its journal."
    AdoptTooFar "adopt-too-far" "A runner is reattached one record too far."
    ResumeFirst "resume-first" "What is owed is done before the evidence of earlier runners is taken."
    OrphansKept "orphans-kept" "Runners that no row names are left alone after a restart."
    ClearedEarly "cleared-early" "A runner counts as cleared before it is."
    GoneDropped "gone-dropped" "Nobody is told that an agent's process has ended."
    AnswerBySession "answer-by-session" "An agent's answer counts for whatever prompt runs, not for the one that it names."
    ConfirmAssumed "confirm-assumed" "After a restart what waits for a person's consent counts as agreed to."
    PolicyStale "policy-stale" "The policy that held when the server started decides."
    GrantStretched "grant-stretched" "A permission covers the change of another file than the one that it names."
    WordById "word-by-id" "The word `reject` chooses the option that the agent has given that id, whatever it means."
    OfferRepaired "offer-repaired" "Of two options with one id the last one counts, and what is of no known kind is left out; nothing is refused as malformed."
    ContentLate "content-late" "What is written is what the agent says when it is written, not what was looked at."
    LinkFollowed "link-followed" "A path is resolved anew when it is written."
    SetEarly "set-early" "Options and asking count as set before the agent has been told of them."
    BrowserOffset "browser-offset" "A browser counts a surrogate pair as one."
    BrowserSkips "browser-skips" "A browser that comes back skips the event at its cursor."
}
