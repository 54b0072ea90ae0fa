#![allow(clippy::unwrap_used)]

use super::*;

fn one(text: &str) -> Message<'_> {
    message(text).unwrap()
}

#[test]
fn a_null_result_is_an_answer() {
    let Message::Response { id, outcome } = one(r#"{"id":"load:a","result":null}"#) else { panic!() };
    assert_eq!(id, RpcId::String("load:a".into()));
    assert_eq!(outcome.unwrap().unwrap().get(), "null");
}

#[test]
fn an_answer_with_neither_result_nor_error_is_told_apart() {
    assert!(matches!(one(r#"{"jsonrpc":"2.0","id":4}"#), Message::Response { outcome: None, .. }));
    assert!(matches!(one(r#"{"id":4,"result":1,"error":null}"#), Message::Response { outcome: Some(Ok(_)), .. }));
}

#[test]
fn ids_of_every_kind_are_kept_exactly() {
    for (text, id) in [
        ("0", RpcId::Number(0.into())),
        ("1.5", RpcId::Number(Number::from_f64(1.5).unwrap())),
        (r#""x""#, RpcId::String("x".into())),
        ("null", RpcId::Null),
    ] {
        let line = format!(r#"{{"id":{text},"method":"m"}}"#);
        let Message::Request { id: read, .. } = one(&line) else { panic!("{text}") };
        assert_eq!(read, id);
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        assert_eq!(serde_json::from_str::<RpcId>(text).unwrap(), id);
    }
}

#[test]
fn a_batch_is_its_elements_and_a_bad_one_spoils_only_itself() {
    let mut seen = vec![];
    messages(r#"[{"method":"a"},7,{"id":1,"method":"b"}]"#, |message| seen.push(message.is_ok()));
    assert_eq!(seen, [true, false, true]);
    for bad in ["[]", "[", "7", "{}", "", "debug: hello", r#"{"a":"#] {
        let mut good = 0;
        messages(bad, |message| good += usize::from(message.is_ok()));
        assert_eq!(good, 0, "{bad}");
    }
}

#[test]
fn an_error_of_any_shape_keeps_its_text() {
    for (error, code, message) in [
        (r#"{"code":-32000,"message":"Authentication required"}"#, -32000, "Authentication required"),
        (r#"{"code":"-32601","message":"no"}"#, -32601, "no"),
        (r#""boom""#, 0, r#""boom""#),
        (r#"{"code":400}"#, 400, r#"{"code":400}"#),
    ] {
        let line = format!(r#"{{"id":1,"error":{error}}}"#);
        let Message::Response { outcome: Some(Err(read)), .. } = one(&line) else { panic!("{error}") };
        assert_eq!((read.code, read.message.as_str()), (code, message));
    }
}

#[test]
fn hostile_values_do_not_spoil_the_envelope() {
    let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
    for params in [r#""\ud83d""#, "1e400", deep.as_str()] {
        let line = format!(r#"{{"method":"m","params":{params}}}"#);
        let Ok(Message::Notification { params: Some(raw), .. }) = message(&line) else { panic!("{params}") };
        assert_eq!(raw.get(), params);
    }
}

#[test]
fn valid_text_is_borrowed_and_invalid_text_is_replaced() {
    assert!(matches!(text(b" {} \r\n"), Cow::Borrowed("{}")));
    assert_eq!(text(b"a\xffb"), "a\u{fffd}b");
}

#[test]
fn lone_surrogates_are_repaired_and_pairs_are_left() {
    assert_eq!(repair_surrogates(r#""a\ud83d""#).as_deref(), Some(r#""a\ufffd""#));
    assert_eq!(repair_surrogates(r#""\udc4bé\n""#).as_deref(), Some(r#""\ufffdé\n""#));
    for whole in [r#""\ud83d\udc4b""#, r#""\\ud83d""#, r#""plain""#, r#""\"#, r#""\u12"#] {
        assert_eq!(repair_surrogates(whole), None, "{whole}");
    }
}
