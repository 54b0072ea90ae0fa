//! Which groups of faults a schedule has: each on its own is off in many schedules, so that others can show.

use crate::choices::Choices;

#[derive(Clone, Copy, Debug, Default)]
pub struct Swarm {
    pub server_dies: bool,
    /// The server dies again while it recovers.
    pub recovery_dies: bool,
    pub commits_refused: bool,
    /// Time passes between a decision and its commit.
    pub commits_slow: bool,
    pub agents_die: bool,
    pub starts_fail: bool,
    pub directories_lost: bool,
    pub writes_refused: bool,
    /// Agents want a login: when they open a session, or when they are prompted.
    pub login: bool,
    pub login_at_prompt: bool,
    pub agents_err: bool,
    pub agents_ask: bool,
    /// Agents ask for one thing and do another, offer answers that contradict themselves, and use ids that are taken.
    pub agents_hostile: bool,
    pub agents_repeat: bool,
    pub agents_deaf: bool,
    pub person_stops: bool,
    pub person_changes: bool,
    pub two_agents: bool,
    pub model_fails: bool,
}

impl Swarm {
    pub fn draw(choices: &mut Choices) -> Swarm {
        let login = choices.once_in(4);
        let mut on = |of: usize| choices.draw(of) > 0;
        Swarm {
            server_dies: on(3),
            recovery_dies: on(2),
            commits_refused: on(2),
            commits_slow: on(3),
            agents_die: on(2),
            starts_fail: on(2),
            directories_lost: on(2),
            writes_refused: on(2),
            login,
            login_at_prompt: on(2),
            agents_err: on(2),
            agents_ask: on(4),
            agents_repeat: on(2),
            agents_deaf: on(2),
            person_stops: on(2),
            person_changes: on(2),
            two_agents: on(2),
            model_fails: on(2),
            agents_hostile: on(2),
        }
    }
}
