//! Where an agent's program is looked for, and how it was found: in `PATH`, in npm's directory of programs, or by npx where a person has
//! asked for it. Nothing is downloaded to find out, and npm is not run.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use runner::find_program;

use super::Agent;

/// More than any settings of npm take.
const MOST_BYTES: u64 = 64 * 1024;
/// Below the home directory, where people have npm put programs without being root.
const USUAL: [&str; 2] = [".npm-global/bin", ".local/bin"];
const NPX: &str = "npx";
/// How the settings of npm begin in the environment. Only npx is given them.
const NPM_SETTINGS: [&str; 2] = ["npm_config_", "NPM_CONFIG_"];

/// Where programs are looked for.
#[derive(Clone, Debug, Default)]
pub struct Places {
    path: Option<OsString>,
    /// Where npm puts programs, whether or not that is in `PATH`.
    npm: Vec<PathBuf>,
}

/// A program that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    pub path: PathBuf,
    pub how: Found,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// In `PATH`, or where the configuration says.
    Path,
    /// In npm's directory of programs, which is not in `PATH`.
    Npm,
    /// Not installed: npx fetches it and runs it.
    Npx,
    /// It is this very program.
    BuiltIn,
    /// It runs elsewhere.
    Remote,
}

impl Found {
    pub fn as_str(self) -> &'static str {
        match self {
            Found::Path => "path",
            Found::Npm => "npm",
            Found::Npx => "npx",
            Found::BuiltIn => "built_in",
            Found::Remote => "remote",
        }
    }
}

impl Places {
    /// As the server's environment says.
    pub fn of(environment: &[(OsString, OsString)]) -> Places {
        let variable = |name: &str| environment.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_os_str());
        let absolute = |path: PathBuf| path.is_absolute().then_some(path);
        let home = variable("HOME").map(PathBuf::from).and_then(absolute);
        let path = variable("PATH").map(OsStr::to_owned);
        let mut npm = Vec::new();
        let prefix = variable("npm_config_prefix").or_else(|| variable("NPM_CONFIG_PREFIX")).map(PathBuf::from);
        let prefix = prefix.or_else(|| prefix_of_file(home.as_deref()?));
        npm.extend(prefix.and_then(absolute).map(|prefix| prefix.join("bin")));
        npm.extend(variable("NVM_BIN").map(PathBuf::from).and_then(absolute));
        // What npm installs goes beside the real program of Node, which `PATH` may only have a link to.
        let node = find_program(Path::new("node"), path.as_deref()).and_then(|node| node.canonicalize().ok());
        npm.extend(node.and_then(|node| node.parent().map(Path::to_owned)));
        npm.extend(home.iter().flat_map(|home| USUAL.map(|usual| home.join(usual))));
        npm.push("/usr/local/bin".into());
        Places { path, npm }
    }

    fn find(&self, command: &Path) -> Option<Program> {
        if let Some(path) = find_program(command, self.path.as_deref()) {
            return Some(Program { path, how: Found::Path });
        }
        let bare = command.components().count() == 1 && !command.is_absolute();
        let found = self.npm.iter().filter(|_| bare).find_map(|dir| find_program(&dir.join(command), None));
        found.map(|path| Program { path, how: Found::Npm })
    }

    /// Whether anything can be run by npx here.
    pub fn has_npx(&self) -> bool {
        self.find(Path::new(NPX)).is_some()
    }
}

/// The prefix that the person's own settings of npm name.
fn prefix_of_file(home: &Path) -> Option<PathBuf> {
    use std::io::Read as _;
    let mut text = String::new();
    std::fs::File::open(home.join(".npmrc")).ok()?.take(MOST_BYTES).read_to_string(&mut text).ok()?;
    let value = text.lines().find_map(|line| {
        let (name, value) = line.split_once('=')?;
        (name.trim() == "prefix").then(|| value.trim().trim_matches('"'))
    })?;
    let below_home = ["~/", "${HOME}/", "$HOME/"].iter().find_map(|start| value.strip_prefix(start));
    Some(below_home.map_or_else(|| PathBuf::from(value), |rest| home.join(rest)))
}

impl Agent {
    /// Where its program is. By npx only where somebody has asked for it.
    pub(super) fn find(&self, places: &Places, npx_allowed: bool) -> Option<Program> {
        if self.remote.is_some() || self.built_in {
            let how = if self.remote.is_some() { Found::Remote } else { Found::BuiltIn };
            return Some(Program { path: find_program(&self.command, places.path.as_deref())?, how });
        }
        let names = std::iter::once(self.command.as_path()).chain(self.other_names.iter().map(Path::new));
        let installed = names.filter_map(|name| places.find(name)).next();
        let by_npx = || self.package.as_ref().filter(|_| npx_allowed).and_then(|_| places.find(Path::new(NPX)));
        installed.or_else(|| Some(Program { how: Found::Npx, ..by_npx()? }))
    }

    /// The arguments with which the program that was found runs the agent's own with `args`.
    pub fn arguments(&self, program: &Program, args: &[String]) -> Vec<String> {
        match &self.package {
            Some(package) if program.how == Found::Npx => package.npx_arguments(args),
            _ => args.to_vec(),
        }
    }

    /// What the program that was found has to have in its environment besides what the agent has.
    pub fn complete(&self, program: &Program, vars: impl Iterator<Item = (OsString, OsString)>, env: &mut Vec<(String, String)>) {
        match program.how {
            // What npm has put there runs on the Node that is there.
            Found::Npm => {
                let dir = program.path.parent().filter(|dir| find_program(&dir.join("node"), None).is_some());
                let Some(dir) = dir.and_then(Path::to_str) else { return };
                match env.iter_mut().find(|(name, _)| name == "PATH") {
                    Some((_, path)) => *path = format!("{dir}:{path}"),
                    None => env.push(("PATH".to_owned(), dir.to_owned())),
                }
            }
            Found::Npx => {
                let settings = vars.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
                env.extend(settings.filter(|(name, _)| NPM_SETTINGS.iter().any(|start| name.starts_with(start))));
            }
            Found::Path | Found::BuiltIn | Found::Remote => {}
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::catalogue::Package;

    fn program_in(dir: &Path, name: &str) -> PathBuf {
        fs::create_dir_all(dir).unwrap();
        let path = dir.join(name);
        fs::write(&path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn places(vars: &[(&str, &Path)]) -> Places {
        let vars: Vec<_> = vars.iter().map(|(name, value)| (OsString::from(name), value.as_os_str().to_owned())).collect();
        Places::of(&vars)
    }

    fn agent() -> Agent {
        let package = Package::new("@x/agent-x@1.2.3", None);
        Agent { command: "agent-x".into(), args: vec!["--acp".into()], package: Some(package), ..Agent::default() }
    }

    #[test]
    fn a_program_is_looked_for_in_path_then_where_npm_puts_it_then_by_npx_if_asked() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        let npx = program_in(&at("path"), "npx");
        let (path, home) = (at("path"), at("home"));
        let base: [(&str, &Path); 2] = [("PATH", &path), ("HOME", &home)];
        assert_eq!(agent().find(&places(&base), false), None, "npx is there, but nobody has asked for it");
        let found = agent().find(&places(&base), true).unwrap();
        assert_eq!(found, Program { path: npx, how: Found::Npx });
        assert_eq!(agent().arguments(&found, &agent().args), ["--yes", "@x/agent-x@1.2.3", "--acp"]);
        let configured = Agent { package: None, ..agent() };
        assert_eq!(configured.find(&places(&base), true), None, "there is nothing to fetch");

        let usual = program_in(&at("home/.local/bin"), "agent-x");
        assert_eq!(agent().find(&places(&base), true).unwrap(), Program { path: usual, how: Found::Npm });
        let global = program_in(&at("home/.npm-global/bin"), "agent-x");
        assert_eq!(agent().find(&places(&base), false).unwrap().path, global);
        let beside_node = program_in(&at("node/bin"), "agent-x");
        std::os::unix::fs::symlink(program_in(&at("node/bin"), "node"), at("path/node")).unwrap();
        assert_eq!(agent().find(&places(&base), false).unwrap().path, beside_node.canonicalize().unwrap());
        let nvm = program_in(&at("nvm"), "agent-x");
        let nvm_bin = at("nvm");
        let with_nvm: Vec<_> = base.into_iter().chain([("NVM_BIN", nvm_bin.as_path())]).collect();
        assert_eq!(agent().find(&places(&with_nvm), false).unwrap().path, nvm);
        let named = program_in(&at("home/own/bin"), "agent-x");
        fs::write(at("home/.npmrc"), "audit=false\nprefix = ${HOME}/own\n").unwrap();
        assert_eq!(agent().find(&places(&with_nvm), false).unwrap().path, named);
        let prefix = at("prefix");
        let by_variable = program_in(&at("prefix/bin"), "agent-x");
        let with_prefix: Vec<_> = with_nvm.into_iter().chain([("npm_config_prefix", prefix.as_path())]).collect();
        assert_eq!(agent().find(&places(&with_prefix), false).unwrap().path, by_variable);
        let in_path = program_in(&path, "agent-x");
        assert_eq!(agent().find(&places(&with_prefix), true).unwrap(), Program { path: in_path, how: Found::Path });
        let elsewhere = Agent { command: at("absent/agent-x"), package: None, ..agent() };
        assert_eq!(elsewhere.find(&places(&with_prefix), true), None, "a path that is configured is the only place");
    }

    #[test]
    fn only_npx_is_given_npms_settings_and_only_npms_programs_a_longer_path() {
        let vars = || [("npm_config_registry", "r"), ("NODE_OPTIONS", "o")].into_iter().map(|(name, value)| (name.into(), value.into()));
        let root = tempfile::tempdir().unwrap();
        let env = |how| {
            let mut env = vec![("PATH".to_owned(), "/bin".to_owned())];
            agent().complete(&Program { path: root.path().join("agent-x"), how }, vars(), &mut env);
            env.into_iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>()
        };
        assert_eq!(env(Found::Npm), ["PATH=/bin"], "there is no Node beside it");
        program_in(root.path(), "node");
        assert_eq!(env(Found::Path), ["PATH=/bin"]);
        assert_eq!(env(Found::Npm), [format!("PATH={}:/bin", root.path().display())]);
        assert_eq!(env(Found::Npx), ["PATH=/bin", "npm_config_registry=r"]);
    }
}
