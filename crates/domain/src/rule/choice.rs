//! What a person can have remembered of a request, the narrowest first, in words that say exactly what is covered.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Effect, Rule, Scope, Subject};
use crate::agent::PermissionAsk;
use crate::decision::Verdict;

/// So many files are still named one by one.
const MOST_FILES: usize = 16;
const NAMED_FILES: usize = 3;

/// One of the answers for always that a request can be given.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = RuleChoice)]
pub struct Choice {
    /// By which the answer names it.
    pub id: String,
    pub text: String,
    pub scope: Scope,
    pub subject: Subject,
    /// What can be remembered so.
    #[serde(default)]
    pub effects: Vec<Effect>,
}

/// None of a form and of a change of mode, which are a person's each time. A protected file can be denied for always, and never allowed.
pub fn choices(agent: &str, ask: &PermissionAsk) -> Vec<Choice> {
    let effects = effects(ask);
    if effects.is_empty() {
        return Vec::new();
    }
    let choice = |id: &str, scope: Scope, subject: &Subject| Choice {
        id: id.to_owned(),
        text: format!("{}, {}", subject.words(), scope.words()),
        scope,
        subject: subject.clone(),
        effects: effects.clone(),
    };
    match Subject::of(ask) {
        subject @ Subject::Command { .. } => {
            let every = Subject::Commands { agent: agent.to_owned() };
            vec![
                choice("command-session", Scope::Session, &subject),
                choice("command-project", Scope::Project, &subject),
                choice("commands-session", Scope::Session, &every),
            ]
        }
        Subject::Edits => {
            let files = Subject::Files { files: ask.files.iter().map(|file| file.path.clone()).collect() };
            let few = ask.files.len() <= MOST_FILES;
            let narrow = [("files-session", Scope::Session, &files), ("files-project", Scope::Project, &files)];
            let broad = [("edits-session", Scope::Session, &Subject::Edits), ("edits-project", Scope::Project, &Subject::Edits)];
            narrow.into_iter().filter(|_| few).chain(broad).map(|(id, scope, subject)| choice(id, scope, subject)).collect()
        }
        subject => {
            vec![choice("request-session", Scope::Session, &subject), choice("request-project", Scope::Project, &subject)]
        }
    }
}

fn effects(ask: &PermissionAsk) -> Vec<Effect> {
    if ask.form.is_some() || ask.is_mode() {
        return Vec::new();
    }
    let offers = |verdict: Verdict| ask.options.iter().any(|option| option.kind.verdict() == verdict);
    let allow = (offers(Verdict::Allow) && !ask.is_protected()).then_some(Effect::Allow);
    let deny = offers(Verdict::Reject).then_some(Effect::Deny);
    allow.into_iter().chain(deny).collect()
}

impl Scope {
    fn words(self) -> &'static str {
        match self {
            Scope::Session => "in this session",
            Scope::Project => "in every session of this project",
        }
    }
}

impl Subject {
    fn words(&self) -> String {
        match self {
            Subject::Command { cwd: None, .. } => "This command".to_owned(),
            Subject::Command { cwd: Some(cwd), .. } if cwd == "." => "This command in the project's directory".to_owned(),
            Subject::Command { cwd: Some(cwd), .. } => format!("This command in {}/", cwd.trim_end_matches('/')),
            Subject::Commands { .. } => "Every command of this agent".to_owned(),
            Subject::Files { files } if files.len() > NAMED_FILES => format!("Every change to these {} files", files.len()),
            Subject::Files { files } => format!("Every change to {}", files.join(", ")),
            Subject::Edits => "Every file change inside the project".to_owned(),
            Subject::Request { .. } => "Exactly this request".to_owned(),
        }
    }
}

impl Rule {
    /// For the list of what is remembered: what is covered, and where.
    pub fn text(&self) -> String {
        let verb = if self.allow { "Allow" } else { "Deny" };
        let subject = match &self.subject {
            Subject::Commands { agent } => format!("every command of {agent}"),
            Subject::Request { title, .. } => format!("exactly this request: {title}"),
            other => {
                let words = other.words();
                let mut letters = words.chars();
                letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
            }
        };
        format!("{verb} {subject}, {}", self.scope.words())
    }
}
