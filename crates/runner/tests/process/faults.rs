//! Agents that misbehave on their pipes.

use runner::Body;

use crate::rig::{Rig, assert_dense, exit, lines, read_to_exit, within};

async fn all_of(script: &str) -> Vec<runner::Record> {
    let rig = Rig::script(script).start().await;
    let (handle, mut records) = rig.attach(0).await;
    let seen = read_to_exit(&mut records).await;
    assert_dense(&seen, 1);
    assert!(rig.journal() == seen, "the journal says something else");
    within(handle.ack(seen.last().unwrap().seq)).await.unwrap();
    assert!(within(records.next()).await.is_none(), "the end follows the exit");
    seen
}

#[tokio::test]
async fn an_exit_comes_with_its_code_and_the_last_of_stderr() {
    let seen = all_of("echo out; echo err >&2; exit 3").await;
    assert_eq!(lines(&seen), ["out"]);
    assert_eq!(exit(&seen), (Some(3), None, "err\n".to_owned()));
}

#[tokio::test]
async fn an_exit_comes_with_its_signal() {
    assert_eq!(exit(&all_of("kill -9 $$").await), (None, Some(9), String::new()));
}

#[tokio::test]
async fn everything_written_before_a_crash_arrives() {
    let seen = all_of("seq 1 20000; kill -9 $$").await;
    assert_eq!(lines(&seen).len(), 20_000);
    assert_eq!(exit(&seen).1, Some(9));
}

#[tokio::test]
async fn half_a_line_at_the_end_is_a_line() {
    assert_eq!(lines(&all_of("printf 'one\\n\\n   \\nhal'").await), ["one", "hal"]);
}

#[tokio::test]
async fn bytes_that_are_not_text_pass_as_they_are() {
    let seen = all_of("printf 'a\\377\\376b\\n'").await;
    let Body::FromAgent(line) = &seen[0].body else { panic!("{seen:?}") };
    assert_eq!(&line[..], b"a\xff\xfeb");
}

#[tokio::test]
async fn a_line_of_100_mb_is_counted_and_the_next_one_arrives() {
    let seen = all_of("head -c 100000000 /dev/zero | tr '\\0' x; echo; echo next").await;
    assert_eq!(seen[0].body, Body::Oversized { bytes: 100_000_000 });
    assert_eq!(lines(&seen), ["next"]);
}

#[tokio::test]
async fn a_line_of_16_mb_arrives_whole() {
    let seen = all_of("head -c 16000000 /dev/zero | tr '\\0' x; echo; echo next").await;
    let Body::FromAgent(line) = &seen[0].body else { panic!("not a line") };
    assert_eq!(line.len(), 16_000_000);
    assert_eq!(seen.len(), 3);
}

#[tokio::test]
async fn a_flood_on_stderr_is_drained_and_its_tail_is_kept() {
    let seen = all_of("head -c 10000000 /dev/zero | tr '\\0' e >&2; echo TAIL >&2; echo done").await;
    assert_eq!(lines(&seen), ["done"]);
    let (_, _, tail) = exit(&seen);
    assert_eq!(tail.len(), 64 * 1024);
    assert!(tail.ends_with("eeeTAIL\n"));
}

#[tokio::test]
async fn a_command_that_is_not_there_is_named_in_the_exit() {
    let mut rig = Rig::script("");
    rig.spec.command = "/no/such/agent".into();
    let rig = rig.start().await;
    let (_handle, mut records) = rig.attach(0).await;
    let (code, signal, text) = exit(&read_to_exit(&mut records).await);
    assert_eq!((code, signal), (None, None));
    assert!(text.contains("/no/such/agent") && text.contains("No such file"), "{text}");
}

#[tokio::test]
async fn a_missing_working_directory_is_named_in_the_exit() {
    let mut rig = Rig::script("");
    rig.spec.cwd = "/no/such/place".into();
    let rig = rig.start().await;
    let (_handle, mut records) = rig.attach(0).await;
    let (_, _, text) = exit(&read_to_exit(&mut records).await);
    assert!(text.contains("/no/such/place"), "{text}");
}

#[tokio::test]
async fn an_agent_that_closes_its_output_and_stays_is_ended() {
    let seen = all_of("echo bye; exec >/dev/null 2>&1; sleep 1000").await;
    assert_eq!(lines(&seen), ["bye"]);
    assert_eq!(exit(&seen).1, Some(15));
}
