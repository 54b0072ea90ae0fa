//! `read_file` and `list_directory`.

use std::io::Write;

use super::*;

#[tokio::test]
async fn ranges_count_from_one_and_include_both_ends() {
    let root = directory();
    write(root.path(), "five", "1\n2\n3\n4\n5\n");
    write(root.path(), "open-end", "1\n2");
    write(root.path(), "crlf", "a\r\nb\r\nc\r\n");
    write(root.path(), "empty", "");
    write(root.path(), "blank", "\n");
    for (arguments, expected) in [
        (json!({"path": "five"}), "1\n2\n3\n4\n5\n"),
        (json!({"path": "five", "start_line": 2, "end_line": 3}), "[lines 2-3 of 5]\n2\n3\n"),
        (json!({"path": "five", "start_line": 5}), "[lines 5-5 of 5]\n5\n"),
        (json!({"path": "five", "start_line": 4, "end_line": 99}), "[lines 4-5 of 5]\n4\n5\n"),
        (json!({"path": "five", "start_line": 0, "end_line": 1}), "[lines 1-1 of 5]\n1\n"),
        (json!({"path": "open-end"}), "1\n2"),
        (json!({"path": "open-end", "start_line": 2}), "[lines 2-2 of 2]\n2"),
        (json!({"path": "crlf"}), "a\r\nb\r\nc\r\n"),
        (json!({"path": "crlf", "start_line": 2, "end_line": 2}), "[lines 2-2 of 3]\nb\r\n"),
        (json!({"path": "empty"}), "[empty is empty]"),
        (json!({"path": "blank"}), "\n"),
    ] {
        assert_eq!(content(root.path(), "read_file", arguments.clone()).await, expected, "{arguments}");
    }
    for (arguments, expected) in [
        (json!({"path": "five", "start_line": 6}), "'five' has 5 lines; start_line 6 is past its end"),
        (json!({"path": "five", "start_line": 3, "end_line": 2}), "end_line 2 is before start_line 3"),
    ] {
        assert_eq!(refusal(root.path(), "read_file", arguments).await, expected);
    }
}

#[tokio::test]
async fn a_range_of_a_large_file_is_streamed() {
    let root = directory();
    let mut file = std::io::BufWriter::new(fs::File::create(root.path().join("large")).unwrap());
    // 50 MB: lines of 50 bytes, so that a line's number can be checked in its text.
    for line in 1..=1_000_000 {
        writeln!(file, "{line:049}").unwrap();
    }
    file.into_inner().unwrap().sync_all().unwrap();
    let text = content(root.path(), "read_file", json!({"path": "large", "start_line": 777_777, "end_line": 777_778})).await;
    assert_eq!(text, format!("[lines 777777-777778 of 1000000]\n{:049}\n{:049}\n", 777_777, 777_778));
    let text = content(root.path(), "read_file", json!({"path": "large"})).await;
    let header = text.lines().next().unwrap();
    assert_eq!(header, "[lines 1-1310 of 1000000; cut at 64.0 KiB; continue with start_line=1311]");
    assert_eq!(text.lines().count(), 1311);
    let text = content(root.path(), "read_file", json!({"path": "large", "start_line": 1311})).await;
    assert!(text.lines().nth(1).unwrap().ends_with("001311"));
}

#[tokio::test]
async fn a_line_longer_than_the_bound_is_cut_and_the_next_can_be_read() {
    let root = directory();
    write(root.path(), "wide", format!("{}\nsecond\n", "ä".repeat(100_000)));
    let text = content(root.path(), "read_file", json!({"path": "wide"})).await;
    let header = text.lines().next().unwrap();
    assert_eq!(header, "[lines 1-1 of 2; line 1 is cut at 64.0 KiB; cut at 64.0 KiB; continue with start_line=2]");
    assert!(!text.contains('\u{fffd}'));
    let text = content(root.path(), "read_file", json!({"path": "wide", "start_line": 2})).await;
    assert_eq!(text, "[lines 2-2 of 2]\nsecond\n");
    write(root.path(), "one", "x".repeat(100_000));
    let text = content(root.path(), "read_file", json!({"path": "one"})).await;
    assert!(text.starts_with("[line 1 is cut at 64.0 KiB]\nxxx"), "{}", &text[..80]);
}

#[tokio::test]
async fn bytes_that_are_not_text_are_told_apart() {
    let root = directory();
    write(root.path(), "binary", b"\x7fELF\0\0\0");
    write(root.path(), "latin1", b"caf\xe9\n");
    let late_nul = ["a\n".repeat(10_000).as_bytes(), b"x\0y\n"].concat();
    write(root.path(), "late-nul", late_nul);
    let why = refusal(root.path(), "read_file", json!({"path": "binary"})).await;
    assert_eq!(why, "'binary' is a binary file (7 bytes) and is not shown");
    let text = content(root.path(), "read_file", json!({"path": "latin1"})).await;
    assert_eq!(text, "[bytes that are not UTF-8 are shown as \u{fffd}]\ncaf\u{fffd}\n");
    let text = content(root.path(), "read_file", json!({"path": "late-nul", "start_line": 10_001})).await;
    assert_eq!(text, "[lines 10001-10001 of 10001]\nx\u{2400}y\n");
}

#[tokio::test]
async fn a_directory_of_very_many_entries_is_cut_and_says_so() {
    let root = directory();
    fs::create_dir(root.path().join("none")).unwrap();
    assert_eq!(content(root.path(), "list_directory", json!({"path": "none"})).await, "[none is empty]");
    for number in 0..3000 {
        write(root.path(), &format!("many/a-file-with-quite-a-long-name-{number}"), "");
    }
    let text = content(root.path(), "list_directory", json!({"path": "many"})).await;
    assert!(text.starts_with("[the first "), "{}", &text[..80]);
    assert!(text.contains(" of 3000 entries; use glob_search"), "{}", &text[..80]);
}
