//! How an agent's session is brought back after its process has ended: only by what the agent offers, and in the right order.

use std::path::PathBuf;

use serde_json::{Value, json};
use testkit::client::Client;
use testkit::server::{Rig, Server};

use crate::SOON;

struct Restoring {
    server: Server,
    session: String,
    client: Client,
    log: PathBuf,
    /// The sessions that the agent lists, where it lists any.
    listed: PathBuf,
}

impl Restoring {
    /// A session that has been prompted, and whose agent has ended since.
    async fn after_an_exit(abilities: &[(&str, &str)]) -> Restoring {
        let rig = Rig::default();
        let (log, listed) = (rig.home().join("agent.log"), rig.home().join("listed"));
        let mut env = format!("[agents.faulty.env]\nFAULTY_LOG = {:?}\n", log.display().to_string());
        for (name, value) in abilities {
            let value = value.replace("$listed", &listed.display().to_string());
            env.push_str(&format!("{name} = {value:?}\n"));
        }
        let server = rig.faulty_agent().config(&env).start().await;
        let session = server.new_session(json!({ "permission_policy": "auto" })).await;
        let mut client = server.stream(&session, None).await;
        for (prompt, state) in [("say one", "completed"), ("exit_zero", "failed")] {
            server.send(&session, prompt).await;
            assert_eq!(client.turn_end(SOON).await, state, "{prompt}");
        }
        Restoring { server, session, client, log, listed }
    }

    /// Sends one more message, and gives what the new process was asked, in order.
    async fn goes_on(&mut self) -> Vec<String> {
        let before = self.methods().len();
        self.server.send(&self.session, "say two").await;
        assert_eq!(self.client.turn_end(SOON).await, "completed", "{}", self.client.seen.tail());
        assert!(self.client.seen.agent_text("main").ends_with("two"));
        self.methods().split_off(before)
    }

    fn methods(&self) -> Vec<String> {
        let log = std::fs::read_to_string(&self.log).unwrap();
        let messages = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        messages.filter_map(|message| message["method"].as_str().map(str::to_owned)).collect()
    }

    fn notices(&self, code: &str) -> usize {
        self.client.seen.of_kind("notice").filter(|event| event.data["code"] == code).count()
    }

    async fn end(self) {
        drop(self.client);
        self.server.end().await;
    }
}

const LIST: (&str, &str) = ("FAULTY_LIST", "$listed");
const LOAD: (&str, &str) = ("FAULTY_LOAD", "ok");

/// S0-33, S0-38, S0-60, C11: the list is asked for first, without a login, and then the session is loaded.
#[tokio::test]
async fn a_session_is_looked_for_in_the_list_and_then_loaded() {
    let mut restoring = Restoring::after_an_exit(&[LIST, LOAD]).await;
    assert_eq!(restoring.goes_on().await, ["initialize", "session/list", "session/load", "session/prompt"]);
    assert_eq!((restoring.notices("session_restored"), restoring.notices("session_lost")), (1, 0));
    restoring.end().await;
}

/// S0-46: what the agent does not list is not loaded; a new session takes its place, and the loss is told.
#[tokio::test]
async fn a_session_that_is_not_listed_is_not_loaded() {
    let mut restoring = Restoring::after_an_exit(&[LIST, LOAD]).await;
    std::fs::write(&restoring.listed, "another\n").unwrap();
    assert_eq!(restoring.goes_on().await, ["initialize", "session/list", "session/new", "session/prompt"]);
    assert_eq!((restoring.notices("session_restored"), restoring.notices("session_lost")), (0, 1));
    restoring.end().await;
}

/// S0-9, S3-7, C7: what an agent does not offer is never asked of it, not even at the end of its session.
#[tokio::test]
async fn what_is_not_offered_is_not_asked_for() {
    let mut restoring = Restoring::after_an_exit(&[]).await;
    assert_eq!(restoring.goes_on().await, ["initialize", "session/new", "session/prompt"]);
    assert_eq!(restoring.notices("session_lost"), 1);
    let path = format!("/api/sessions/{}", restoring.session);
    assert_eq!(restoring.server.call("DELETE", &path, None).await.0, 204);
    let asked = restoring.methods();
    for never in ["session/list", "session/load", "session/resume", "session/delete", "logout", "authenticate"] {
        assert!(!asked.iter().any(|method| method == never), "{never}: {asked:?}");
    }
    restoring.end().await;
}

/// C33: a session is resumed where that is offered, which spares the repetition of its history.
#[tokio::test]
async fn a_session_is_resumed_rather_than_loaded() {
    let mut restoring = Restoring::after_an_exit(&[("FAULTY_RESUME", "ok"), LOAD]).await;
    assert_eq!(restoring.goes_on().await, ["initialize", "session/resume", "session/prompt"]);
    restoring.end().await;
}

/// C33: where that fails, for whatever reason, it is loaded.
#[tokio::test]
async fn a_session_that_cannot_be_resumed_is_loaded() {
    let mut restoring = Restoring::after_an_exit(&[("FAULTY_RESUME", "fail"), LOAD]).await;
    assert_eq!(restoring.goes_on().await, ["initialize", "session/resume", "session/load", "session/prompt"]);
    assert_eq!((restoring.notices("session_restored"), restoring.notices("session_lost")), (1, 0));
    restoring.end().await;
}

/// S0-20: a session that ends while its agent works tells the agent first.
#[tokio::test]
async fn the_end_of_a_session_cancels_its_running_prompt_first() {
    let restoring = Restoring::after_an_exit(&[LOAD]).await;
    let Restoring { server, session, mut client, log, .. } = restoring;
    server.send(&session, "slow 1000").await;
    client.until("the first words", SOON, |event| event.kind == "copilot-delta" && event.data["content"].as_str() != Some("one")).await;
    assert_eq!(server.call("DELETE", &format!("/api/sessions/{session}"), None).await.0, 204);
    testkit::processes::none_left(&server.rig().data_dir().join("runners"), SOON).await.unwrap();
    let log = std::fs::read_to_string(log).unwrap();
    let last = log.lines().rfind(|line| line.contains("\"method\"")).unwrap();
    assert!(last.contains("\"session/cancel\"") || last.contains("\"session/close\""), "{last}");
    assert_eq!(log.matches("\"session/cancel\"").count(), 1, "{log}");
    drop(client);
    server.end().await;
}
