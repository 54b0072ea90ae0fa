//! `voxpilot config` as people run it: the real environment, real files, exit codes.

#![allow(clippy::unwrap_used)]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// The built binary in an empty home, with nothing of our own environment.
fn command(home: &Path, work_dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_voxpilot"));
    command.args(args).current_dir(work_dir).env_clear().env("HOME", home);
    command
}

fn voxpilot(home: &Path, work_dir: &Path, args: &[&str], env: &[(&str, &str)]) -> Output {
    command(home, work_dir, args).envs(env.iter().copied()).output().unwrap()
}

#[test]
fn the_command_prints_settings_and_where_they_came_from() {
    let root = tempfile::tempdir().unwrap();
    let (home, work) = (root.path().join("home"), root.path().join("work"));
    let user = home.join(".config/voxpilot/voxpilot.toml");
    std::fs::create_dir_all(user.parent().unwrap()).unwrap();
    std::fs::create_dir(&work).unwrap();
    std::fs::write(&user, "model = 'from-user'\nmodel_base_url = 'http://localhost:1/v1'\ntoken = 'hidden-hidden-hidden'").unwrap();
    std::fs::set_permissions(&user, std::fs::Permissions::from_mode(0o644)).unwrap();
    std::fs::write(work.join("voxpilot.toml"), "model = 'from-project'").unwrap();
    assert!(voxpilot(&home, &work, &["trust", "--yes"], &[]).status.success());
    let output = voxpilot(&home, &work, &["config", "--durability", "disk"], &[("VOXPILOT_LOG", "debug")]);
    let (out, warnings) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{warnings}");
    let line = |key: &str| {
        let fields = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        out.lines().map(fields).find(|fields| fields[0] == key).unwrap()[1..].join(" ")
    };
    let project = work.canonicalize().unwrap().join("voxpilot.toml");
    assert_eq!(line("model"), format!("from-project {}", project.display()));
    assert_eq!(line("model_base_url"), format!("http://localhost:1/v1 {}", user.display()));
    assert_eq!(line("durability"), "disk flag --durability");
    assert_eq!(line("log"), "debug environment VOXPILOT_LOG");
    assert_eq!(line("bind"), "127.0.0.1:8000 default");
    assert_eq!(line("token"), format!("*** {}", user.display()));
    assert!(!out.contains("hidden-hidden-hidden") && warnings.contains("chmod 600"), "{out}{warnings}");
}

#[test]
fn a_users_file_that_names_the_work_directory_leads_to_the_file_there() {
    let root = tempfile::tempdir().unwrap();
    let user = root.path().join(".config/voxpilot/voxpilot.toml");
    let work = root.path().join("project");
    std::fs::create_dir_all(user.parent().unwrap()).unwrap();
    std::fs::create_dir(&work).unwrap();
    std::fs::write(&user, "work_dir = '~/project'").unwrap();
    std::fs::write(work.join("voxpilot.toml"), "title = 'of-the-project'").unwrap();
    let output = voxpilot(root.path(), root.path(), &["config"], &[]);
    assert!(String::from_utf8(output.stdout).unwrap().contains("of-the-project"));
}

#[test]
fn errors_in_the_settings_end_with_code_2_and_say_all_of_it() {
    let root = tempfile::tempdir().unwrap();
    let missing = root.path().join("missing");
    let missing = missing.to_str().unwrap();
    let expect = |args: &[&str], env: &[(&str, &str)], named: &[&str]| {
        let output = voxpilot(root.path(), root.path(), args, env);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(named.iter().all(|name| message.contains(name)), "{named:?}: {message}");
    };
    let env = [("VOXPILOT_DURABILITY", "maybe"), ("VOXPILOT_NOPE", "1")];
    expect(&["config"], &env, &["VOXPILOT_DURABILITY", "maybe", "process or disk", "VOXPILOT_NOPE"]);
    expect(&["config", "--work-dir", missing], &[], &["work_dir", "--work-dir", missing]);
    expect(&["doctor", "--copilot-token-file", missing], &[], &["copilot_token_file", missing]);
    expect(&["config", "--nope"], &[], &["--nope"]);
}

#[test]
fn doctor_fails_when_something_that_is_configured_does_not_work() {
    let root = tempfile::tempdir().unwrap();
    let output = voxpilot(root.path(), root.path(), &["doctor", "--agent", "copilot"], &[("PATH", "/nowhere")]);
    let report = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{report}");
    assert!(report.contains("fail  copilot") && report.contains("fix: npm install -g @github/copilot"), "{report}");
    assert!(!report.contains('\x1b'), "{report}");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_reason_to_panic() {
    let (home, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for args in [&["config"][..], &["openapi"], &["trust", "--list"], &["repair", "--list"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = command(home.path(), work.path(), args).stdout(writer).output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
    }
}

/// What a person asked for is on the disk, or they are told that it is not.
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let home = tempfile::tempdir().unwrap();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = command(home.path(), home.path(), &["openapi"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("No space left"), "{output:?}");
}
