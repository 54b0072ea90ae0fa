//! How a named session comes to be open, as it is seen on the wire.

use std::path::Path;

use agents::{How, KnownSession, Opened, Reopen};
use domain::agent::{Failure, Fault};
use serde_json::{Value, json};

use crate::odd::Odd;

fn known(agent_session: &str) -> KnownSession {
    KnownSession { agent_session: agent_session.into(), prompted: true, ..KnownSession::default() }
}

async fn open(odd: &Odd, known: &KnownSession, how: Reopen) -> Result<Opened, Failure> {
    odd.connection.open("main", Path::new("/"), Some(known), how, false).await
}

/// What is asked of an agent that can do `can`, to bring `known` back; how that ended.
async fn asked(manner: &str, can: &str, known: &KnownSession, how: Reopen) -> (Vec<String>, Result<How, Fault>) {
    let odd = Odd::able(manner, can).await;
    let opened = open(&odd, known, how).await.map(|opened| opened.how).map_err(|failure| failure.fault);
    let mut asked = odd.asked();
    asked.retain(|method| method != "session/set_config_option");
    odd.connection.stop().await.unwrap();
    (asked, opened)
}

fn names(methods: &[&str]) -> Vec<String> {
    methods.iter().map(|&method| method.to_owned()).collect()
}

fn lost(message: &str) -> Result<How, Fault> {
    Ok(How::Lost { message: message.to_owned() })
}

/// S0-38, S0-46, S0-60: all pages of the list come first, and one that is not listed is not loaded.
#[tokio::test]
async fn the_list_comes_before_the_load_and_decides_about_it() {
    let list = ["session/list"; 3];
    let (methods, how) = asked("", "list,load", &known("s1"), Reopen::No).await;
    assert_eq!((methods, how), (names(&[&list[..], &["session/load"]].concat()), Ok(How::Loaded)));
    let (methods, how) = asked("", "list,resume,load", &known("s1"), Reopen::No).await;
    assert_eq!((methods, how), (names(&[&list[..], &["session/resume"]].concat()), Ok(How::Resumed)));
    let (methods, how) = asked("", "list,resume,load", &known("zz"), Reopen::No).await;
    assert_eq!(methods, [&list[..], &["session/new"]].concat());
    assert_eq!(how, lost("session zz is not listed by the agent"));
}

/// S0-9, S0-33: without `loadSession` nothing is loaded; without the others nothing is listed, resumed or closed.
#[tokio::test]
async fn what_the_agent_cannot_do_is_not_asked_for() {
    for how in [Reopen::No, Reopen::Closing] {
        let (methods, opened) = asked("", "", &known("s1"), how).await;
        assert_eq!((methods, opened), (names(&["session/new"]), lost("it cannot load earlier sessions")));
    }
}

/// C33.
#[tokio::test]
async fn after_a_failed_resume_it_is_loaded() {
    for manner in ["resume-fails", "resume-unknown"] {
        let (methods, how) = asked(manner, "resume,load", &known("s1"), Reopen::No).await;
        assert_eq!((methods, how), (names(&["session/resume", "session/load"]), Ok(How::Loaded)), "{manner}");
    }
    let (methods, how) = asked("resume-fails", "resume", &known("s1"), Reopen::No).await;
    assert_eq!((methods, how), (names(&["session/resume", "session/new"]), lost("Internal error")));
}

#[tokio::test]
async fn a_login_that_is_missing_ends_the_attempt() {
    let (methods, how) = asked("resume-login", "resume,load", &known("s1"), Reopen::No).await;
    assert_eq!((methods, how), (names(&["session/resume"]), Err(Fault::NeedsLogin)));
    let (methods, how) = asked("logged-out", "load", &known("s1"), Reopen::No).await;
    assert_eq!((methods, how), (names(&["session/load"]), Err(Fault::NeedsLogin)));
}

#[tokio::test]
async fn one_that_cannot_be_loaded_is_lost_and_says_why() {
    let (methods, how) = asked("load-fails", "load", &known("s1"), Reopen::No).await;
    assert_eq!((methods, how), (names(&["session/load", "session/new"]), lost("Session file is corrupted")));
}

/// C14.
#[tokio::test]
async fn a_session_that_was_never_prompted_is_made_anew() {
    let unprompted = KnownSession { prompted: false, ..known("s1") };
    let (methods, how) = asked("", "list,resume,load", &unprompted, Reopen::No).await;
    assert_eq!((methods, how), (names(&["session/new"]), Ok(How::New)));
}

#[tokio::test]
async fn one_that_is_reopened_is_closed_first() {
    let (methods, how) = asked("", "close,load", &known("s1"), Reopen::Closing).await;
    assert_eq!((methods, how), (names(&["session/close", "session/load"]), Ok(How::Loaded)));
}

fn set(odd: &Odd) -> Vec<(String, Value)> {
    let lines = odd.sent().into_iter().filter(|line| line["method"] == "session/set_config_option");
    lines.map(|line| (line["params"]["configId"].as_str().unwrap().to_owned(), line["params"]["value"].clone())).collect()
}

/// C25: what a person chose stays, and nothing else does.
#[tokio::test]
async fn allow_all_is_turned_off_unless_a_person_chose_it() {
    for (known, sent) in [
        (None, Some("off")),
        (Some(KnownSession::default()), Some("off")),
        (Some(KnownSession { allow_all: true, ..KnownSession::default() }), None),
        (Some(KnownSession { wanted: Some(json!({ "allow_all": "on" })), ..KnownSession::default() }), None),
        (Some(KnownSession { allow_all: true, wanted: Some(json!({ "allow_all": "off" })), ..KnownSession::default() }), Some("off")),
    ] {
        let odd = Odd::able("", "").await;
        let opened = odd.connection.open("main", Path::new("/"), known.as_ref(), Reopen::No, false).await.unwrap();
        let expected: Vec<_> = sent.iter().map(|&value| ("allow_all".to_owned(), json!(value))).collect();
        assert_eq!(set(&odd), expected, "{known:?}");
        assert_eq!(
            (agents::options::acts_unasked(opened.options.as_ref(), agents::Asks::Always), opened.wanted),
            (sent.is_none(), None),
            "{known:?}"
        );
        odd.connection.stop().await.unwrap();
    }
}

#[tokio::test]
async fn options_are_put_back_to_what_they_were_and_to_what_was_wanted() {
    let last = json!([{ "id": "model", "currentValue": "large" }, { "id": "gone", "currentValue": "x" }]);
    let wanted = json!({ "model": "huge", "other": true });
    let session = KnownSession { options: Some(last.clone()), wanted: Some(wanted), ..KnownSession::default() };
    let odd = Odd::able("", "").await;
    let opened = open(&odd, &session, Reopen::No).await.unwrap();
    assert_eq!(set(&odd), [("allow_all".to_owned(), json!("off")), ("model".to_owned(), json!("huge"))]);
    assert_eq!(opened.wanted, Some(json!({ "other": true })));
    assert_eq!(opened.options.unwrap()[1]["currentValue"], "huge");
    odd.connection.stop().await.unwrap();

    // One that says nothing of its options is as it was.
    let odd = Odd::able("", "load").await;
    let opened = open(&odd, &KnownSession { options: Some(last.clone()), ..known("s1") }, Reopen::No).await.unwrap();
    assert_eq!((set(&odd).len(), opened.options), (0, Some(last)));
    odd.connection.stop().await.unwrap();
}
