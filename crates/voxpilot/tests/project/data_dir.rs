//! A data directory that a project could have brought along, or that an agent could change.

use std::os::unix::fs::symlink;

use crate::person::Person;

#[test]
fn a_server_refuses_a_data_directory_inside_of_the_work_directory() {
    let person = Person::new();
    std::fs::create_dir(person.work_dir().join("there")).unwrap();
    let link = person.home().join("link");
    symlink(person.work_dir(), &link).unwrap();
    let through_link = link.join("missing");
    let around = person.home().join("../work/missing");
    for dir in [".", "there", "missing/deeper", through_link.to_str().unwrap(), around.to_str().unwrap()] {
        let refused = person.run(&["serve", "--bind", "127.0.0.1:0", "--data-dir", dir]);
        assert_eq!(refused.code, 2, "{dir}: {refused:?}");
        assert!(refused.err.contains("inside the work directory") && refused.err.contains("VOXPILOT_DATA_DIR"), "{dir}: {refused:?}");
        assert!(!person.work_dir().join("missing").exists(), "{dir}");
    }
}

#[test]
fn a_consent_that_a_project_brings_along_does_not_count() {
    let person = Person::cloned("log = 'debug'\n");
    assert_eq!(person.run(&["trust", "--yes"]).code, 0);
    let brought = person.work_dir().join("data");
    std::fs::create_dir(&brought).unwrap();
    std::fs::copy(person.data_dir().join("trust.json"), brought.join("trust.json")).unwrap();
    assert!(person.setting("log").starts_with("debug "), "it counts in the person's own directory");
    let shown = person.run(&["config", "--data-dir", "data"]);
    assert!(shown.out.contains("not trusted"), "{shown:?}");
    assert_eq!(person.run(&["trust", "--yes", "--data-dir", "data"]).code, 1);
}

#[test]
fn consent_does_not_move_the_data_into_the_work_directory() {
    let person = Person::cloned("data_dir = 'data'\n");
    let refused = person.run(&["trust", "--yes"]);
    assert!(refused.code == 1 && refused.err.contains("inside the work directory"), "{refused:?}");
}

#[test]
fn commands_that_only_talk_to_a_server_work_anywhere() {
    let person = Person::new();
    for args in [["stop", "--data-dir"], ["config", "--data-dir"]] {
        let ended = person.run(&[args[0], args[1], "below"]);
        assert_eq!(ended.code, 0, "{ended:?}");
    }
}

#[test]
fn own_settings_inside_of_the_work_directory_are_worth_a_word() {
    let person = Person::new();
    let config = person.work_dir().join("config");
    std::fs::create_dir_all(config.join("voxpilot")).unwrap();
    std::fs::write(config.join("voxpilot/voxpilot.toml"), "log = 'debug'\n").unwrap();
    let shown = person.run_with(&["config"], &[("XDG_CONFIG_HOME", config.to_str().unwrap())]);
    assert!(shown.code == 0 && shown.err.contains("your own voxpilot.toml is inside the work directory"), "{shown:?}");
}
