//! Repositories that try to have a program run by whoever looks at them. Each row is first shown to bite with plain git, where a plain
//! command can make it; then both tools are run on a fresh copy, and nothing may have been run.

use std::os::unix::fs::symlink;

use super::trap::Trap;
use super::*;

/// How a row prepares its repository, which holds `a` in one commit and a change of it.
type Prepare = fn(&Trap);

struct Row {
    name: &'static str,
    prepare: Prepare,
    /// Commands of plain git that run what was planted; none where only a terminal or a network would.
    bites: &'static [&'static str],
    /// Where the tools are run, and what they must say when they refuse.
    directory: &'static str,
    refused: Option<&'static str>,
}

const fn row(name: &'static str, bites: &'static [&'static str], prepare: Prepare) -> Row {
    Row { name, prepare, bites, directory: ".", refused: None }
}

const fn refused(name: &'static str, bites: &'static [&'static str], why: &'static str, prepare: Prepare) -> Row {
    Row { name, prepare, bites, directory: ".", refused: Some(why) }
}

const DIFF: &[&str] = &["diff"];
const SHOW: &[&str] = &["show", "HEAD"];
const NOTHING: &[&str] = &[];

const ROWS: &[Row] = &[
    row("a clean filter", DIFF, |trap| trap.filter("clean")),
    row("a filter process", DIFF, |trap| trap.filter("process")),
    row("a filter that is required", DIFF, |trap| {
        trap.filter("clean");
        trap.set("filter.evil.required", "true");
    }),
    row("a smudge filter", &["checkout", "--", "a"], |trap| trap.filter("smudge")),
    row("a filter whose name looks like a setting", DIFF, |trap| {
        trap.attribute("a filter=e=v.il");
        trap.append("config", &format!("[filter \"e=v.il\"]\n\tclean = {}\n", trap.payload()));
    }),
    row("a filter named in the repository's own attributes", DIFF, |trap| {
        trap.set("filter.evil.clean", &trap.payload());
        trap.plant(".git/info/attributes", "* filter=evil\n");
    }),
    row("a filter named in attributes that the configuration leads to", DIFF, |trap| {
        trap.set("filter.evil.clean", &trap.payload());
        trap.plant(".git/more", "* filter=evil\n");
        trap.set("core.attributesFile", ".git/more");
    }),
    row("a filter in an included file", DIFF, |trap| {
        trap.attribute("a filter=evil");
        trap.plant(".git/more", &trap.filter_section());
        trap.set("include.path", "more");
    }),
    row("a filter included for a branch", DIFF, |trap| {
        trap.attribute("a filter=evil");
        trap.plant("more", &trap.filter_section());
        trap.set("includeIf.onbranch:main.path", "../more");
    }),
    row("a filter included for an address", DIFF, |trap| {
        trap.attribute("a filter=evil");
        trap.plant(".git/more", &trap.filter_section());
        trap.set("remote.origin.url", "https://example.org/x");
        trap.set("includeIf.hasconfig:remote.*.url:https://example.org/**.path", "more");
    }),
    row("a filter in the configuration of the working tree", DIFF, |trap| {
        trap.attribute("a filter=evil");
        trap.set("extensions.worktreeConfig", "true");
        trap.plant(".git/config.worktree", &trap.filter_section());
    }),
    row("a configuration that is a link", DIFF, |trap| {
        trap.filter("clean");
        fs::rename(trap.path().join(".git/config"), trap.path().join("config")).unwrap();
        symlink("../config", trap.path().join(".git/config")).unwrap();
    }),
    row("a diff program for everything", DIFF, |trap| trap.set("diff.external", &trap.payload())),
    row("a diff program for one kind of file", DIFF, |trap| {
        trap.attribute("a diff=evil");
        trap.set("diff.evil.command", &trap.payload());
    }),
    row("a program that makes text of files", SHOW, |trap| {
        trap.attribute("a diff=evil");
        trap.set("diff.evil.textconv", &trap.payload());
    }),
    row("a program that makes text of files, with a cache", SHOW, |trap| {
        trap.attribute("a diff=evil");
        trap.set("diff.evil.textconv", &trap.payload());
        trap.set("diff.evil.cachetextconv", "true");
    }),
    row("a program that watches the files", DIFF, |trap| trap.set("core.fsmonitor", &trap.program())),
    row("a hook", &["status"], |trap| trap.hook(".git/hooks")),
    row("a hook in a directory of the project", &["status"], |trap| {
        trap.hook("hooks");
        trap.set("core.hooksPath", "hooks");
    }),
    row("a program that checks signatures", SHOW, |trap| {
        trap.signed("gpg.program", "-----BEGIN PGP SIGNATURE-----\n x\n -----END PGP SIGNATURE-----")
    }),
    row("a program that checks certificates", SHOW, |trap| {
        trap.signed("gpg.x509.program", "-----BEGIN SIGNED MESSAGE-----\n x\n -----END SIGNED MESSAGE-----");
    }),
    row("a program that checks keys", SHOW, |trap| {
        trap.plant(".git/signers", "");
        trap.set("gpg.ssh.allowedSignersFile", ".git/signers");
        trap.signed("gpg.ssh.program", "-----BEGIN SSH SIGNATURE-----\n x\n -----END SSH SIGNATURE-----");
    }),
    row("a pager", NOTHING, |trap| {
        trap.set("core.pager", &trap.payload());
        trap.set("pager.diff", &trap.payload());
        trap.set("pager.show", &trap.payload());
    }),
    row("an alias", &["look"], |trap| {
        trap.set("alias.look", &format!("!{}", trap.payload()));
        trap.set("alias.diff", &format!("!{}", trap.payload()));
    }),
    row("a command that reads trailers", &["interpret-trailers", "--trailer", "evil", "a"], |trap| {
        trap.set("trailer.evil.command", &trap.payload());
        trap.set("trailer.evil.ifmissing", "add");
    }),
    row("a merge driver", &["merge", "side"], |trap| {
        trap.attribute("a merge=evil");
        trap.set("merge.evil.driver", &trap.payload());
        trap.diverge();
    }),
    row("objects that are fetched by a command", SHOW, |trap| {
        trap.promise(&format!("ext::sh -c {}", trap.program()));
        trap.set("protocol.ext.allow", "always");
    }),
    row("objects that are fetched over a connection", SHOW, |trap| {
        trap.promise("ssh://localhost/x");
        trap.set("core.sshCommand", &trap.payload());
    }),
    row("objects that are fetched through a proxy", SHOW, |trap| {
        trap.promise("git://localhost/x");
        trap.set("core.gitProxy", &trap.program());
    }),
    row("objects that are fetched from a directory", SHOW, |trap| {
        trap.promise(trap.path().to_str().unwrap());
        trap.set("remote.origin.uploadpack", &trap.payload());
    }),
    row("a submodule with a program that watches the files", DIFF, |trap| {
        trap.submodule();
        trap.inner(&["config", "core.fsmonitor", &trap.program()]);
    }),
    row("a submodule with a filter", DIFF, |trap| {
        trap.submodule();
        trap.inner(&["config", "filter.evil.clean", &trap.payload()]);
        trap.plant("part/.gitattributes", "* filter=evil\n");
        trap.plant("part/b", "2\n");
    }),
    row("a submodule whose changes are shown", DIFF, |trap| {
        trap.submodule();
        trap.inner(&["config", "diff.external", &trap.payload()]);
        trap.inner(&["config", "core.fsmonitor", &trap.program()]);
        trap.set("diff.submodule", "diff");
        trap.set("diff.ignoreSubmodules", "none");
        trap.plant("part/b", "2\n");
    }),
    refused("a configuration taken from elsewhere", DIFF, "takes its objects from another repository", |trap| {
        trap.filter("clean");
        fs::rename(trap.path().join(".git"), trap.path().join("shared")).unwrap();
        fs::create_dir(trap.path().join(".git")).unwrap();
        for name in ["HEAD", "index"] {
            fs::rename(trap.path().join("shared").join(name), trap.path().join(".git").join(name)).unwrap();
        }
        trap.plant(".git/commondir", "../shared\n");
    }),
    refused("a .git that leads into the project", DIFF, "does not lead back", |trap| {
        trap.filter("clean");
        fs::rename(trap.path().join(".git"), trap.path().join("shared")).unwrap();
        trap.plant(".git", "gitdir: shared\n");
    }),
    refused("a .git that is a link", DIFF, "does not lead back", |trap| {
        trap.filter("clean");
        fs::rename(trap.path().join(".git"), trap.path().join("shared")).unwrap();
        symlink("shared", trap.path().join(".git")).unwrap();
    }),
    refused("a working tree elsewhere", DIFF, "working tree is ", |trap| {
        trap.filter("clean");
        trap.plant("other/a", "3\n");
        trap.plant(".git/info/attributes", "* filter=evil\n");
        trap.set("core.worktree", "../other");
    }),
    Row {
        name: "a repository among the project's directories",
        bites: DIFF,
        directory: "docs",
        refused: Some("cannot use bare repository"),
        prepare: |trap| {
            trap.filter("clean");
            let docs = trap.path().join("docs");
            fs::create_dir(&docs).unwrap();
            assert!(Command::new("cp").arg("-a").arg(trap.path().join(".git")).arg(docs.join("x")).status().unwrap().success());
            for entry in fs::read_dir(docs.join("x")).unwrap().flatten() {
                fs::rename(entry.path(), docs.join(entry.file_name())).unwrap();
            }
            trap.set("core.worktree", "..");
            let moved = fs::read_to_string(trap.path().join(".git/config")).unwrap().replace("bare = false", "");
            trap.plant("docs/config", &moved);
        },
    },
];

impl Row {
    fn build(&self) -> Trap {
        let trap = Trap::new();
        (self.prepare)(&trap);
        // Preparing it may have run it.
        let _ = fs::remove_file(trap.mark());
        trap
    }

    fn bites(&self) {
        let trap = self.build();
        let mut plain = Command::new("git");
        plain.args(self.bites).current_dir(trap.path().join(self.directory)).env("GIT_TERMINAL_PROMPT", "0");
        let said = plain.output().unwrap();
        assert!(trap.has_run(), "{}: plain git does not run it: {}", self.name, String::from_utf8_lossy(&said.stderr));
    }

    async fn is_harmless(&self) {
        let trap = self.build();
        for (tool, arguments) in [
            ("git_diff", json!({})),
            ("git_diff", json!({"path": "a"})),
            ("git_diff", json!({"staged": true})),
            ("git_diff", json!({"base": "HEAD"})),
            ("git_diff", json!({"base": "HEAD", "head": "HEAD"})),
            ("git_diff", json!({"base": "HEAD", "merge_base": true})),
            ("git_show", json!({"commit": "HEAD"})),
        ] {
            let output = run(&trap.path().join(self.directory), tool, &arguments.to_string()).await;
            assert!(!trap.has_run(), "{}: {tool} {arguments} ran it", self.name);
            match self.refused {
                Some(why) => assert!(output.is_error && output.content.contains(why), "{}: {}", self.name, output.content),
                // What cannot be shown without fetching it is a clear error, everything else an answer.
                None if output.is_error => {
                    assert!(self.name.starts_with("objects") && output.content.contains("failed"), "{}: {}", self.name, output.content)
                }
                None if arguments == json!({}) && !self.name.contains("merge") => {
                    assert!(output.content.contains("-1\n+2\n"), "{}: {}", self.name, output.content);
                }
                None => {}
            }
        }
    }
}

#[tokio::test]
async fn nothing_that_a_repository_names_is_run() {
    assert!(ROWS.len() >= 25);
    for row in ROWS {
        if !row.bites.is_empty() {
            row.bites();
        }
        row.is_harmless().await;
    }
}

#[tokio::test]
async fn a_configuration_that_changes_meanwhile_makes_no_difference() {
    let trap = Trap::new();
    trap.filter("clean");
    let armed = fs::read(trap.path().join(".git/config")).unwrap();
    let _ = fs::remove_file(trap.mark());
    trap.repository.git(&["config", "--remove-section", "filter.evil"]);
    let harmless = fs::read(trap.path().join(".git/config")).unwrap();
    let config = trap.path().join(".git/config");
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let flips = {
        let stop = std::sync::Arc::clone(&stop);
        std::thread::spawn(move || {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                for content in [&armed, &harmless] {
                    fs::write(config.with_extension("new"), content).unwrap();
                    fs::rename(config.with_extension("new"), &config).unwrap();
                }
            }
        })
    };
    for _ in 0..20 {
        let output = run(trap.path(), "git_diff", "{}").await;
        assert!(output.content.contains("-1\n+2\n"), "{}", output.content);
    }
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    flips.join().unwrap();
    assert!(!trap.has_run());
}

#[tokio::test]
async fn another_repository_is_not_shown_as_the_project() {
    let secret = Repository::new();
    secret.write("secret", "the secret\n");
    secret.commit("first");
    let directory = secret.path().join(".git");
    let plain = |prepare: &dyn Fn(&Path)| {
        let project = Repository::new();
        project.write("a", "1\n");
        project.commit("first");
        prepare(project.path());
        project
    };
    let git_file = plain(&|project| {
        fs::remove_dir_all(project.join(".git")).unwrap();
        fs::write(project.join(".git"), format!("gitdir: {}\n", directory.display())).unwrap();
    });
    let common = plain(&|project| fs::write(project.join(".git/commondir"), directory.display().to_string()).unwrap());
    let linked = plain(&|project| {
        for name in ["refs", "objects"] {
            fs::remove_dir_all(project.join(".git").join(name)).unwrap();
            symlink(directory.join(name), project.join(".git").join(name)).unwrap();
        }
    });
    for project in [git_file, common, linked] {
        for (tool, arguments) in [("git_diff", json!({})), ("git_show", json!({"commit": "main"}))] {
            let why = project.refusal(tool, arguments).await;
            assert!(why.starts_with("the repository is not read: "), "{why}");
        }
    }
}
