//! Where settings come from: the command line, the environment and the files. The only reader of all three.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches};

use super::error::ConfigError;
use super::form::Given;
use super::setting::{Fallback, PREFIX, SETTINGS, Setting};
use super::{file, open_to_others};

const FILE_NAME: &str = "voxpilot.toml";

/// Everything that decides the settings, so that resolving them is a pure function.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// By key, as in `voxpilot.toml`.
    pub flags: BTreeMap<String, String>,
    pub env: BTreeMap<String, String>,
    /// The first that has a key wins.
    pub files: Vec<ConfigFile>,
    /// Absolute.
    pub cwd: PathBuf,
}

#[derive(Clone, Debug)]
pub struct ConfigFile {
    /// Absolute.
    pub path: PathBuf,
    pub text: String,
    /// Somebody besides the owner may read it.
    pub open_to_others: bool,
}

/// The flags of every command that needs settings.
pub fn args() -> impl Iterator<Item = Arg> {
    SETTINGS.iter().map(|setting| {
        let default = match setting.default {
            Fallback::Text(text) => format!(" [default: {text}]"),
            _ => String::new(),
        };
        let help = format!("{}{default} [env: {}]", setting.help, setting.variable());
        Arg::new(setting.name).long(setting.name).value_name(setting.value_name).help(help)
    })
}

/// The settings that were given as flags; a command need not take all of them.
pub fn flags(matches: &ArgMatches) -> BTreeMap<String, String> {
    let given = |setting: &Setting| Some((setting.key(), matches.try_get_one::<String>(setting.name).ok()??.clone()));
    SETTINGS.iter().filter_map(given).collect()
}

impl Sources {
    pub fn gather(flags: BTreeMap<String, String>) -> Result<Sources, ConfigError> {
        let cwd = std::env::current_dir()
            .map_err(|error| ConfigError { problems: vec![format!("the current directory cannot be read: {error}")] })?;
        let mut sources = Sources { flags, env: environment()?, files: Vec::new(), cwd };
        let user = sources.config_dir().map(|dir| dir.join(FILE_NAME));
        let user = user.as_deref().map(read).transpose()?.flatten();
        let project_path = sources.work_dir_before_project_file(user.as_ref()).join(FILE_NAME);
        let project = if user.as_ref().is_some_and(|user| user.path == project_path) { None } else { read(&project_path)? };
        sources.files = project.into_iter().chain(user).collect();
        Ok(sources)
    }

    pub(super) fn home(&self) -> Option<&Path> {
        self.variable("HOME").map(Path::new).filter(|home| home.is_absolute())
    }

    /// Where the person's own settings are.
    pub fn config_dir(&self) -> Option<PathBuf> {
        self.user_directory("XDG_CONFIG_HOME", ".config")
    }

    /// `voxpilot` in one of the user's base directories; a relative one counts as not set, as the XDG rules say.
    pub(super) fn user_directory(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        let given = self.variable(variable).map(PathBuf::from).filter(|path| path.is_absolute());
        Some(given.or_else(|| self.home().map(|home| home.join(below_home)))?.join("voxpilot"))
    }

    /// An empty variable counts as not set: that is how people switch one off.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        self.env.get(name).map(String::as_str).filter(|text| !text.is_empty())
    }

    /// The work directory as far as it is known before the file in it is read.
    fn work_dir_before_project_file(&self, user: Option<&ConfigFile>) -> PathBuf {
        let setting = self.flags.get("work_dir").map(String::as_str).or_else(|| self.variable("VOXPILOT_WORK_DIR"));
        let from_user = || {
            let user = user?;
            let text = file::work_dir(&user.text)?;
            Given { text: &text, base: user.path.parent()?, home: self.home() }.path()
        };
        match setting {
            Some(text) => Given { text, base: &self.cwd, home: self.home() }.path(),
            None => from_user(),
        }
        .unwrap_or_else(|| self.cwd.clone())
    }
}

#[allow(clippy::disallowed_methods, reason = "the one place where the environment is read")]
fn environment() -> Result<BTreeMap<String, String>, ConfigError> {
    let mut env = BTreeMap::new();
    let mut problems = Vec::new();
    for (name, value) in std::env::vars_os() {
        match (name.into_string(), value.into_string()) {
            (Ok(name), Ok(value)) => drop(env.insert(name, value)),
            (Ok(name), Err(_)) if name.starts_with(PREFIX) => problems.push(format!("`{name}` is not valid UTF-8")),
            // Somebody else's variable.
            _ => {}
        }
    }
    ConfigError::unless_empty(problems).map(|()| env)
}

fn read(path: &Path) -> Result<Option<ConfigFile>, ConfigError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(ConfigFile { path: path.to_path_buf(), text, open_to_others: open_to_others(path) })),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(ConfigError { problems: vec![format!("{} cannot be read: {error}", path.display())] }),
    }
}
