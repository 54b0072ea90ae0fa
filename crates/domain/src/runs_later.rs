//! Files whose content runs later: in CI, with the next build, with the next `npm install`. Whoever is asked about a change of one is
//! warned. No policy and no rule treats them differently: what has to be asked about in every case is in [`crate::protected`].

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::agent::PermissionAsk;
use crate::{patch, protected};

const CI: &str = "Runs in CI once it is pushed.";
const BUILD: &str = "Runs with the next build.";
const PACKAGE: &str = "Its scripts run with the package manager.";
const TASKS: &str = "Its tasks run when somebody starts them.";

/// Parts of a path, as in [`crate::protected`], and what to say.
const TABLE: &[(&str, &str)] = &[
    (".github/workflows", CI),
    (".github/actions", CI),
    ("action.y*ml", CI),
    (".gitlab-ci*", CI),
    (".gitlab/ci", CI),
    (".circleci", CI),
    (".buildkite", CI),
    (".woodpecker*", CI),
    (".forgejo/workflows", CI),
    (".gitea/workflows", CI),
    (".drone.y*ml", CI),
    (".travis.yml", CI),
    (".cirrus.y*ml", CI),
    ("appveyor.yml", CI),
    (".appveyor.yml", CI),
    ("jenkinsfile*", CI),
    ("azure-pipelines*", CI),
    ("bitbucket-pipelines.yml", CI),
    ("cloudbuild.y*ml", CI),
    ("buildspec.y*ml", CI),
    ("makefile*", BUILD),
    ("gnumakefile", BUILD),
    ("*.mk", BUILD),
    ("cmakelists.txt", BUILD),
    ("meson.build", BUILD),
    ("build.rs", BUILD),
    ("build.gradle*", BUILD),
    ("settings.gradle*", BUILD),
    ("pom.xml", BUILD),
    ("rakefile", BUILD),
    ("setup.py", BUILD),
    ("dockerfile*", BUILD),
    ("containerfile*", BUILD),
    ("docker-compose*", BUILD),
    ("compose.y*ml", BUILD),
    ("rust-toolchain*", BUILD),
    ("justfile", TASKS),
    (".justfile", TASKS),
    ("taskfile.y*ml", TASKS),
    ("procfile*", TASKS),
    ("package.json", PACKAGE),
    ("composer.json", PACKAGE),
    ("deno.json*", PACKAGE),
    (".npmrc", PACKAGE),
    (".yarnrc*", PACKAGE),
    (".pnpmfile.cjs", PACKAGE),
];

/// A file that a request would change and that runs later.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = RunsLaterWarning)]
pub struct Warning {
    /// As it is shown.
    pub path: String,
    pub text: String,
}

/// What to warn about before this is allowed. A read changes nothing.
pub fn warnings(ask: &PermissionAsk) -> Vec<Warning> {
    if ask.is_read() {
        return Vec::new();
    }
    let warned = ask.files.iter().filter_map(|file| {
        let text = warning(&file.path)?;
        let plain = text == PACKAGE && ask.diff.as_deref().is_some_and(|diff| changes_plain_lines(diff, &file.path));
        (!plain).then(|| Warning { path: file.path.clone(), text: text.to_owned() })
    });
    warned.collect()
}

fn warning(path: &str) -> Option<&'static str> {
    let path = path.to_lowercase();
    let parts = protected::parts(&path);
    // A directory counts wherever it is on the way, a file only at the end.
    let fits = |pattern: &str| if pattern.contains('/') { protected::is_in(pattern, &parts) } else { ends_or_lies_in(pattern, &parts) };
    TABLE.iter().find(|(pattern, _)| fits(pattern)).map(|(_, text)| *text)
}

fn ends_or_lies_in(pattern: &str, parts: &[&str]) -> bool {
    let is_directory = matches!(pattern, ".circleci" | ".buildkite" | ".woodpecker*");
    let looked_at = if is_directory { parts } else { &parts[parts.len().saturating_sub(1)..] };
    protected::is_in(pattern, looked_at)
}

/// Whether the diff is of this file alone, and no line that it changes can be a script.
fn changes_plain_lines(diff: &str, path: &str) -> bool {
    let alone = patch::names(diff).iter().all(|name| name.ends_with(path) || path.ends_with(name.as_str()));
    let changed = diff.lines().filter(|line| line.starts_with(['+', '-']) && !line.starts_with("+++ ") && !line.starts_with("--- "));
    let mut changed = changed.map(|line| line[1..].trim()).filter(|line| !line.is_empty()).peekable();
    alone && changed.peek().is_some() && changed.all(is_plain)
}

/// The version, or whether the package is private. Anything else may be a script by its place, `"version": "sh x"` among them.
fn is_plain(line: &str) -> bool {
    let line = line.trim_end_matches(',');
    let Ok(serde_json::Value::Object(fields)) = serde_json::from_str(&format!("{{{line}}}")) else { return false };
    fields.iter().all(|(key, value)| match key.as_str() {
        "private" => value.is_boolean(),
        "version" => value.as_str().is_some_and(is_version),
        _ => false,
    })
}

fn is_version(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+');
    text.starts_with(|first: char| first.is_ascii_digit()) && text.contains('.') && text.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::{AskedFile, FilePlace};

    fn ask(path: &str, diff: Option<&str>) -> PermissionAsk {
        let files = vec![AskedFile { path: path.into(), place: FilePlace::Inside }];
        PermissionAsk { kind: Some("edit".into()), files, diff: diff.map(str::to_owned), ..PermissionAsk::default() }
    }

    #[test]
    fn warns_about_what_runs_later_and_nothing_else() {
        let table = [
            (".github/workflows/ci.yml", Some(CI)),
            ("sub/.GITHUB/Workflows/ci.yml", Some(CI)),
            (".gitlab-ci.yml", Some(CI)),
            (".circleci/config.yml", Some(CI)),
            ("Jenkinsfile", Some(CI)),
            ("azure-pipelines.yml", Some(CI)),
            ("Makefile", Some(BUILD)),
            ("sub/GNUmakefile", Some(BUILD)),
            ("rules.mk", Some(BUILD)),
            ("build.rs", Some(BUILD)),
            ("Dockerfile.dev", Some(BUILD)),
            ("justfile", Some(TASKS)),
            ("Taskfile.yml", Some(TASKS)),
            ("package.json", Some(PACKAGE)),
            ("web/package.json", Some(PACKAGE)),
            ("package.json/x", None),
            ("package-lock.json", None),
            ("src/makefile/mod.rs", None),
            ("docs/ci.yml", None),
            ("src/main.rs", None),
            ("", None),
        ];
        for (path, expected) in table {
            let warned = warnings(&ask(path, None));
            assert_eq!(warned.first().map(|warning| warning.text.as_str()), expected, "{path}");
        }
        assert!(warnings(&PermissionAsk { kind: Some("read".into()), ..ask("Makefile", None) }).is_empty());
    }

    #[test]
    fn a_pattern_has_one_star_at_most() {
        for (pattern, _) in TABLE {
            assert!(pattern.split('/').all(|part| part.matches('*').count() <= 1), "{pattern}");
        }
    }

    #[test]
    fn warns_about_a_package_unless_only_its_version_changes() {
        let diff = |lines: &str| format!("--- a/package.json\n+++ b/package.json\n@@ -1,3 +1,3 @@\n {{\n{lines}\n");
        for (lines, warned) in [
            ("-  \"version\": \"1.0.0\",\n+  \"version\": \"1.0.1\",", false),
            ("-  \"private\": false\n+  \"private\": true", false),
            ("-    \"version\": \"1.0.0\",\n+    \"version\": \"sh ./x\",", true),
            ("+    \"postinstall\": \"node x.js\",", true),
            ("+  \"scripts\": {\n+    \"version\": \"rm -rf /\"\n+  }", true),
            ("+  \"version\": \"1\", \"scripts\": { \"prepare\": \"x\" },", true),
            ("+  \"dependencies\": { \"x\": \"1\" },", true),
            ("+  \"name\": {", true),
            (" \"unchanged\": 1", true),
        ] {
            assert_eq!(!warnings(&ask("package.json", Some(&diff(lines)))).is_empty(), warned, "{lines}");
        }
        let two = diff("+  \"version\": \"1\",") + "--- a/other.json\n+++ b/other.json\n@@ -1 +1 @@\n+\"version\": 1\n";
        assert!(!warnings(&ask("package.json", Some(&two))).is_empty());
    }
}
