//! `voxpilot trust`: what is shown, what is kept, and that it holds for the very content that was seen.

use std::os::unix::fs::PermissionsExt;

use crate::person::Person;

const WANTED: &str =
    "# What we use\ntitle = 'A project'\n\nlog = 'debug'  # loud\n\n[agents.mine]\ncommand = '/bin/true'\nargs = [\n  '--acp',\n]\n";

#[test]
fn the_very_lines_are_shown_and_nothing_is_trusted_without_a_yes() {
    let person = Person::cloned(WANTED);
    let asked = person.run(&["trust"]);
    assert_eq!(asked.code, 1, "{asked:?}");
    let expected =
        [" 4 | log = 'debug'  # loud", " 6 | [agents.mine]", " 7 | command = '/bin/true'", " 8 | args = [", " 9 |   '--acp',", "10 | ]"];
    let shown: Vec<_> = asked.out.lines().filter(|line| line.contains(" | ")).map(|line| line.strip_prefix("  ").unwrap()).collect();
    assert_eq!(shown, expected, "{}", asked.out);
    assert!(asked.out.contains("# log: decides what is logged") && asked.out.contains("# agents.mine: names a program"), "{}", asked.out);
    assert!(asked.out.contains("voxpilot trust --yes"), "{}", asked.out);
    assert!(person.setting("log").starts_with("info "));
    assert!(!person.data_dir().join("trust.json").exists());
}

#[test]
fn consent_holds_until_the_content_changes() {
    let person = Person::cloned(WANTED);
    let agreed = person.run(&["trust", "--yes"]);
    assert_eq!(agreed.code, 0, "{agreed:?}");
    assert_eq!(person.setting("log"), format!("debug {}", person.file().display()));
    assert_eq!(person.run(&["config"]).err, "");
    assert!(person.run(&["trust"]).out.ends_with("is trusted\n"));
    let kept = person.data_dir().join("trust.json");
    assert_eq!(kept.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(person.data_dir().read_dir().unwrap().count(), 1, "nothing else is left behind");

    let list = person.run(&["trust", "--list"]).out;
    assert!(list.contains(person.file().to_str().unwrap()) && list.contains("unchanged"), "{list}");
    person.write(format!("{WANTED}# one more word\n"));
    assert!(person.setting("log").starts_with("info "));
    assert_eq!(person.run(&["trust"]).code, 1, "it is asked again");
    assert!(person.run(&["trust", "--list"]).out.contains("changed, so it is not trusted"));
    person.write(WANTED);
    assert!(person.setting("log").starts_with("debug "), "what was seen still counts");
    std::fs::remove_file(person.file()).unwrap();
    assert!(person.run(&["trust", "--list"]).out.contains("gone"));
}

#[test]
fn consent_is_for_one_place() {
    let person = Person::cloned(WANTED);
    assert_eq!(person.run(&["trust", "--yes"]).code, 0);
    let copy = person.home().join("copy");
    std::fs::create_dir(&copy).unwrap();
    std::fs::copy(person.file(), copy.join("voxpilot.toml")).unwrap();
    let shown = person.run(&["config", "--work-dir", copy.to_str().unwrap()]);
    assert!(shown.err.contains("is not trusted"), "{shown:?}");
    let link = person.home().join("link");
    std::os::unix::fs::symlink(person.work_dir(), &link).unwrap();
    let same = person.run(&["config", "--work-dir", link.to_str().unwrap()]);
    assert_eq!(same.err, "", "another way to the same place");
}

#[test]
fn consent_is_taken_back() {
    let person = Person::cloned(WANTED);
    let file = person.file();
    for args in [vec!["trust", "--revoke"], vec!["trust", "--revoke", "."], vec!["trust", "--revoke", file.to_str().unwrap()]] {
        assert_eq!(person.run(&["trust", "--yes"]).code, 0);
        let revoked = person.run(&args);
        assert!(revoked.code == 0 && revoked.out.contains("no longer trusted"), "{revoked:?}");
        assert!(person.setting("log").starts_with("info "));
        let again = person.run(&args);
        assert!(again.code == 1 && again.err.contains("voxpilot trust --list"), "{again:?}");
    }
    assert_eq!(person.run(&["trust", "--yes"]).code, 0);
    std::fs::remove_dir_all(person.work_dir()).unwrap();
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    assert_eq!(person.run(&["trust", "--revoke", file.to_str().unwrap()]).code, 0, "also of a file that is gone");
}

#[test]
fn what_was_kept_and_cannot_be_read_trusts_nobody() {
    let person = Person::cloned(WANTED);
    assert_eq!(person.run(&["trust", "--yes"]).code, 0);
    std::fs::write(person.data_dir().join("trust.json"), "{").unwrap();
    let shown = person.run(&["config"]);
    assert!(shown.code == 0 && shown.err.contains("no project is trusted") && shown.err.contains("trust.json"), "{shown:?}");
    assert_eq!(person.run(&["trust", "--yes"]).code, 1, "and nothing is written over it");
}

#[test]
fn what_is_wrong_in_a_trusted_file_is_an_error_again() {
    let person = Person::cloned("copilot_token_file = 'token'\n");
    std::fs::write(person.work_dir().join("token"), "x").unwrap();
    assert_eq!(person.run(&["trust", "--yes"]).code, 0);
    std::fs::remove_file(person.work_dir().join("token")).unwrap();
    let shown = person.run(&["config"]);
    assert!(shown.code == 2 && shown.err.contains("copilot_token_file"), "{shown:?}");
}

/// On the terminal too: what it runs is shown, and another content is another consent.
#[test]
fn consent_ends_when_a_script_changes() {
    let person = Person::cloned("log = 'debug'\n[mcp_servers.theirs]\ncommand = 'node'\nargs = ['tools/server.js', 'tools']\n");
    std::fs::create_dir(person.work_dir().join("tools")).unwrap();
    let script = person.work_dir().join("tools/server.js");
    std::fs::write(&script, "one").unwrap();
    let shown = person.run(&["trust"]).out;
    let hash = domain::text::digest("one");
    assert!(shown.contains(&format!("  tools/server.js (mcp_servers.theirs): 3 bytes, sha256 {hash}\n")), "{shown}");
    assert!(shown.contains("  tools (mcp_servers.theirs): a directory; changes in it are not noticed\n"), "{shown}");
    assert_eq!(person.run(&["trust", "--yes"]).code, 0);
    assert!(person.setting("log").starts_with("debug "));
    std::fs::write(&script, "two").unwrap();
    assert!(person.setting("log").starts_with("info "), "nothing of the file counts");
    assert!(person.run(&["trust", "--list"]).out.contains("changed, so it is not trusted"));
    std::fs::write(&script, "one").unwrap();
    assert!(person.setting("log").starts_with("debug "));
    std::fs::remove_file(&script).unwrap();
    assert!(person.setting("log").starts_with("info "));
}
