//! `grep_search` and `glob_search`.

use super::*;

fn sample() -> TempDir {
    let root = directory();
    write(root.path(), ".gitignore", "target/\n*.log\n");
    write(root.path(), ".github/ci.yml", "needle\n");
    write(root.path(), ".git/config", "needle\n");
    write(root.path(), "src/main.rs", "fn main() {\r\n    Needle();\r\n}\r\n");
    write(root.path(), "src/deep/lib.rs", "// needle\n");
    write(root.path(), "src/notes.md", "no match\n");
    write(root.path(), "target/out.rs", "needle\n");
    write(root.path(), "debug.log", "needle\n");
    write(root.path(), "data.bin", b"needle\0needle\n");
    write(root.path(), "latin1.txt", b"needle \xe9\n");
    root
}

#[tokio::test]
async fn grep_finds_lines_that_git_would_not_ignore() {
    let root = sample();
    for (arguments, expected) in [
        (
            json!({"pattern": "needle"}),
            ".github/ci.yml:1: needle\nlatin1.txt:1: needle \u{fffd}\nsrc/deep/lib.rs:1: // needle\nsrc/main.rs:2:     Needle();\n",
        ),
        (json!({"pattern": "Needle"}), "src/main.rs:2:     Needle();\n"),
        (json!({"pattern": "NEEDLE\\(\\);$", "case_sensitive": false}), "src/main.rs:2:     Needle();\n"),
        (json!({"pattern": "needle", "case_sensitive": true, "path": "src"}), "src/deep/lib.rs:1: // needle\n"),
        (json!({"pattern": "needle", "glob": "*.rs"}), "src/deep/lib.rs:1: // needle\nsrc/main.rs:2:     Needle();\n"),
        (json!({"pattern": "needle", "glob": "src/*.rs"}), "src/main.rs:2:     Needle();\n"),
        (json!({"pattern": "needle", "path": "src", "glob": "deep/**"}), "src/deep/lib.rs:1: // needle\n"),
        (json!({"pattern": "needle", "path": "src", "glob": "!main.rs"}), "src/deep/lib.rs:1: // needle\n"),
        (json!({"pattern": "needle", "path": "target"}), "target/out.rs:1: needle\n"),
        (json!({"pattern": "needle", "path": "debug.log"}), "debug.log:1: needle\n"),
        (json!({"pattern": "^}$"}), "src/main.rs:3: }\n"),
        (json!({"pattern": "nothing like it"}), "no line matches 'nothing like it'"),
        (
            json!({"pattern": "needle", "max_results": 1}),
            "[the first 1 matching lines; there are more: use path, glob, a narrower pattern or max_results]\n.github/ci.yml:1: needle\n",
        ),
    ] {
        assert_eq!(content(root.path(), "grep_search", arguments.clone()).await, expected, "{arguments}");
    }
}

#[tokio::test]
async fn ignore_files_count_without_a_repository_but_not_from_above() {
    let outer = directory();
    write(outer.path(), ".gitignore", "*\n");
    write(outer.path(), "work/.gitignore", "hidden.txt\n");
    write(outer.path(), "work/sub/hidden.txt", "needle\n");
    write(outer.path(), "work/sub/shown.txt", "needle\n");
    let work = outer.path().join("work");
    for arguments in [json!({"pattern": "needle"}), json!({"pattern": "needle", "path": "sub"})] {
        assert_eq!(content(&work, "grep_search", arguments).await, "sub/shown.txt:1: needle\n");
    }
}

#[tokio::test]
async fn patterns_that_are_not_valid_are_named() {
    let root = sample();
    for (tool, arguments, expected) in [
        ("grep_search", json!({"pattern": "(unclosed"}), "'(unclosed' is not a valid regular expression"),
        ("grep_search", json!({"pattern": "a\\nb"}), "is not a valid regular expression"),
        ("grep_search", json!({"pattern": "a", "glob": "{x"}), "'{x' is not a valid glob"),
        ("glob_search", json!({"pattern": "[z-a]"}), "'[z-a]' is not a valid glob"),
        ("glob_search", json!({"pattern": ""}), "the pattern of glob_search is empty"),
        ("glob_search", json!({"pattern": "*", "path": "src/main.rs"}), "'src/main.rs' is not a directory"),
    ] {
        let why = refusal(root.path(), tool, arguments).await;
        assert!(why.contains(expected), "{why}");
    }
}

#[tokio::test]
async fn glob_finds_files_by_name_or_path() {
    let root = sample();
    let absolute = format!("{}/src/*.rs", root.path().canonicalize().unwrap().display());
    for (arguments, expected) in [
        (json!({"pattern": "*.rs"}), "src/deep/lib.rs\nsrc/main.rs\n"),
        (json!({"pattern": "src/*.rs"}), "src/main.rs\n"),
        (json!({"pattern": "./src/*.rs"}), "src/main.rs\n"),
        (json!({"pattern": absolute}), "src/main.rs\n"),
        (json!({"pattern": "**/*.{rs,md}"}), "src/deep/lib.rs\nsrc/main.rs\nsrc/notes.md\n"),
        (json!({"pattern": "deep/*", "path": "src"}), "src/deep/lib.rs\n"),
        (json!({"pattern": "*.yml"}), ".github/ci.yml\n"),
        (json!({"pattern": "config"}), "no file matches 'config'"),
        (json!({"pattern": "../*"}), "no file matches '../*'"),
    ] {
        assert_eq!(content(root.path(), "glob_search", arguments.clone()).await, expected, "{arguments}");
    }
}

#[tokio::test]
async fn floods_of_results_are_cut() {
    let root = directory();
    let line = "needle ".repeat(1000);
    write(root.path(), "wide.txt", format!("{line}\n").repeat(500));
    let text = content(root.path(), "grep_search", json!({"pattern": "needle", "max_results": 100_000})).await;
    assert!(text.starts_with("[the first "), "{}", &text[..80]);
    assert!(text.lines().skip(1).all(|line| line.len() < 450 && line.ends_with('…')));
    for number in 0..1100 {
        write(root.path(), &format!("many/{number}.txt"), "");
    }
    let text = content(root.path(), "glob_search", json!({"pattern": "*.txt"})).await;
    assert!(text.starts_with("[the first 1000 files; there are more"), "{}", &text[..80]);
}

#[tokio::test]
async fn a_line_too_long_for_memory_skips_the_file_and_says_so() {
    let root = directory();
    write(root.path(), "huge.txt", "x".repeat(40 * 1024 * 1024));
    write(root.path(), "ok.txt", "needle\n");
    let text = content(root.path(), "grep_search", json!({"pattern": "needle"})).await;
    assert_eq!(text, "[1 files could not be read and were skipped]\nok.txt:1: needle\n");
}

#[tokio::test]
async fn what_the_person_leaves_out_is_in_no_list_and_no_search() {
    let root = directory();
    for path in ["part/gen/a.rs", "part/src/a.rs", "part/secret.txt", "part/kept.txt"] {
        write(root.path(), path, "needle\n");
    }
    let ignore = ["/part/gen/", "*.txt", "!kept.txt"].map(str::to_owned).to_vec();
    // The session may work further down than where the list belongs.
    for (work_dir, prefix) in [(".", "part/"), ("part", "")] {
        let project = Project { work_dir: root.path().join(work_dir), ignore: ignore.clone(), ignore_root: root.path().to_owned() };
        let said = |name: &'static str, arguments: Value| {
            let project = project.clone();
            async move { super::super::run(&project, name, &arguments.to_string()).await.content }
        };
        let found = said("grep_search", json!({"pattern": "needle"})).await;
        assert_eq!(found, format!("{prefix}kept.txt:1: needle\n{prefix}src/a.rs:1: needle\n"));
        assert_eq!(said("glob_search", json!({"pattern": "*.txt"})).await, format!("{prefix}kept.txt\n"));
        let listed = said("list_directory", json!({"path": if prefix.is_empty() { "." } else { "part" }})).await;
        assert_eq!(listed, "src/\nkept.txt (7 bytes)\n");
        assert_eq!(search(&project, "a.rs", 10).await, [format!("{prefix}src/a.rs")]);
    }
}

#[tokio::test]
async fn a_list_of_ignored_files_that_is_no_plain_file_is_none() {
    let root = directory();
    write(root.path(), "shown.txt", "needle\n");
    write(root.path(), "pipe/shown.txt", "needle\n");
    write(root.path(), "large/shown.txt", "needle\n");
    write(root.path(), "outside/shown.txt", "needle\n");
    let elsewhere = directory();
    write(elsewhere.path(), "list", "*\n");
    std::os::unix::fs::symlink("/dev/zero", root.path().join(".gitignore")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path().join("list"), root.path().join("outside/.ignore")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(root.path().join("pipe/.ignore")).status().unwrap().success());
    fs::File::create(root.path().join("large/.gitignore")).unwrap().set_len(1 << 30).unwrap();
    let found = content(root.path(), "glob_search", json!({"pattern": "shown.txt"})).await;
    assert_eq!(found, "large/shown.txt\noutside/shown.txt\npipe/shown.txt\nshown.txt\n");
}
