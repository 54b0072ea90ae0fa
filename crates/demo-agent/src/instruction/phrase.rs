//! One phrase to one instruction. Pure.

use super::token::{self, Kind, Token};
use super::{Instruction, Recall};

/// Words that may stand before the verb and say nothing.
const POLITE: &[&str] = &[
    "please", "kindly", "can", "could", "would", "will", "you", "now", "and", "also", "next", "finally", "first", "then", "ok", "okay",
    "hey", "let's", "just",
];
const ARTICLES: &[&str] = &["a", "an", "the", "me", "my", "new", "empty", "text", "some"];
const CONTENT: &[&str] = &["with", "containing", "saying", "having", "contains", "says"];
/// Most that is counted or written in one go.
const MOST: u64 = 1_000_000;

/// Reads one phrase; `None` if it is not an instruction.
pub(super) fn read(prompt: &str, tokens: &[Token]) -> Option<Instruction> {
    let mut phrase = Phrase { prompt, tokens };
    phrase.skip_bullet();
    phrase.skip(POLITE);
    if let Some(recall) = recall(&token::source(prompt, phrase.tokens).to_lowercase()) {
        return Some(recall);
    }
    let verb = phrase.take_word()?;
    match verb.trim_start_matches('/') {
        verb @ ("create" | "write" | "make" | "put" | "save") => phrase.create(verb),
        "append" | "add" => phrase.append(),
        "replace" => phrase.replace(&["with", "by"]),
        "change" => phrase.replace(&["to", "into", "with"]),
        "in" => phrase.replace_in(),
        "delete" | "remove" | "rm" | "erase" => phrase.delete(),
        "read" | "show" | "cat" | "open" | "print" | "display" => phrase.show(),
        "list" | "ls" => phrase.list(),
        "what" | "which" => phrase.which_files(),
        "run" | "execute" | "exec" => phrase.run(),
        "count" => phrase.count(),
        "think" => {
            phrase.skip(&["hard", "about", "of"]);
            phrase.value().map(|about| Instruction::Think { about })
        }
        "say" | "echo" => phrase.value().map(|text| Instruction::Say { text }),
        _ => None,
    }
}

/// True if these tokens only lead over to an instruction.
pub(super) fn is_filler(tokens: &[Token]) -> bool {
    tokens.iter().all(|token| is_bullet(token) || is_one_of(token, POLITE))
}

pub(super) fn looks_like_file(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    name.contains('/') || name.trim_start_matches('.').contains('.') || (name.len() > 1 && name.starts_with('.'))
}

fn recall(phrase: &str) -> Option<Instruction> {
    let asks = ["what", "which", "do you remember", "tell me what", "repeat"].iter().any(|start| phrase.starts_with(start));
    let about_me =
        ["i ask", "i say", "i said", "i tell", "i told", "my first", "my last", "my previous"].iter().any(|words| phrase.contains(words));
    let which = match () {
        () if !(asks && about_me) => return None,
        () if phrase.contains("first") => Recall::First,
        () if phrase.contains("last") || phrase.contains("previous") => Recall::Last,
        () => Recall::All,
    };
    Some(Instruction::Recall(which))
}

/// What is left of a phrase while it is read from the front.
struct Phrase<'a> {
    prompt: &'a str,
    tokens: &'a [Token],
}

impl<'a> Phrase<'a> {
    fn create(mut self, verb: &str) -> Option<Instruction> {
        if let Some(count) = self.words() {
            return Some(Instruction::Words { count });
        }
        if matches!(verb, "write" | "put" | "save")
            && !self.has(CONTENT)
            && let Some((content, name)) = self.split_target(&["to", "into", "in"])
        {
            return Some(Instruction::Create { name, content });
        }
        // "create a python file called x.py": whatever stands before the word file describes it.
        let content_at = self.find(CONTENT).unwrap_or(self.tokens.len());
        let is_file = match self.find(&["file"]).filter(|at| *at < content_at) {
            Some(at) => {
                self.tokens = &self.tokens[at + 1..];
                true
            }
            None => false,
        };
        let plain = !self.skip(ARTICLES) && verb == "create";
        self.skip(&["called", "named"]);
        let announced = self.tokens.first().is_some_and(|token| token.text.ends_with(':'));
        let mut name = self.take_name(is_file || plain && self.tokens.get(1).is_some_and(is_content))?;
        if self.skip(&["in", "inside", "under"]) {
            self.skip(&["the", "directory", "folder"]);
            name = format!("{}/{name}", self.take_name(true)?);
            self.skip(&["directory", "folder"]);
        }
        self.skip(&["that", "which", "and"]);
        let given = self.skip(CONTENT) || announced || self.tokens.first().is_some_and(Token::is_quote);
        let content = if given { self.content() } else { String::new() };
        Some(Instruction::Create { name, content })
    }

    fn append(mut self) -> Option<Instruction> {
        if self.skip(&["to"]) {
            self.skip(&["the", "end", "of", "file"]);
            let name = self.take_name(false)?;
            self.skip(CONTENT);
            let content = self.content();
            return (!content.is_empty()).then_some(Instruction::Append { name, content });
        }
        let (content, name) = self.split_target(&["to", "into", "in"])?;
        Some(Instruction::Append { name, content })
    }

    fn replace(self, joints: &[&str]) -> Option<Instruction> {
        let (at, name) = self.target(&["in", "inside", "of"])?;
        let joint = self.find(joints).filter(|joint| *joint < at)?;
        let from = self.part(0, joint).quoted_or_raw()?;
        let to = self.part(joint + 1, at).quoted_or_raw()?;
        Some(Instruction::Replace { name, from, to })
    }

    fn replace_in(mut self) -> Option<Instruction> {
        self.skip(&["the", "file"]);
        let name = self.take_name(false)?;
        let joints: &[&str] = match self.take_word()?.as_str() {
            "replace" => &["with", "by"],
            "change" => &["to", "into", "with"],
            _ => return None,
        };
        let joint = self.find(joints)?;
        let from = self.part(0, joint).quoted_or_raw()?;
        let to = self.part(joint + 1, self.tokens.len()).quoted_or_raw()?;
        Some(Instruction::Replace { name, from, to })
    }

    fn delete(mut self) -> Option<Instruction> {
        let is_file = self.has(&["file"]);
        self.skip(&["the", "file", "a", "called", "named"]);
        let alone = self.tokens.len() == 1;
        let name = self.take_name(is_file || alone)?;
        Some(Instruction::Delete { name })
    }

    fn show(mut self) -> Option<Instruction> {
        self.skip(&["me", "the", "all", "content", "contents", "of", "my", "full", "text", "what", "is", "what's", "in"]);
        if self.is_only(&["attachment", "attachments", "attached", "file", "it", "this", "resource"]) && !self.tokens.is_empty() {
            return Some(Instruction::Read { name: None });
        }
        if self.has(&["files", "directory", "folder"]) {
            return self.list();
        }
        self.skip(&["file", "called", "named"]);
        let alone = self.tokens.len() == 1;
        let name = self.take_name(alone)?;
        Some(Instruction::Read { name: Some(name) })
    }

    fn list(mut self) -> Option<Instruction> {
        self.skip(&[
            "me",
            "all",
            "the",
            "my",
            "files",
            "directory",
            "folder",
            "content",
            "contents",
            "here",
            "in",
            "of",
            "under",
            "this",
            "current",
        ]);
        let dir = match self.tokens.len() {
            0 => None,
            1 => Some(self.take_name(true)?),
            2 if self.part(1, 2).is_only(&["directory", "folder"]) => Some(self.take_name(true)?),
            _ => return None,
        };
        Some(Instruction::List { dir })
    }

    /// "what files are there?"
    fn which_files(mut self) -> Option<Instruction> {
        self.skip(&["files"]).then_some(())?;
        self.skip(&["are", "do", "we", "i", "you", "have", "see", "there", "here", "exist"]);
        self.list()
    }

    fn run(mut self) -> Option<Instruction> {
        let at = self.find(&["command"]).filter(|at| *at < 3);
        if let Some(at) = at {
            self.tokens = &self.tokens[at + 1..];
        }
        let talk = self
            .tokens
            .first()
            .and_then(Token::lower)
            .is_some_and(|word| ["the", "a", "my", "your", "this", "some", "all", "it", "that"].contains(&word.as_str()));
        if talk {
            return None;
        }
        self.value().map(|command| Instruction::Run { command })
    }

    fn count(mut self) -> Option<Instruction> {
        let number = |phrase: &mut Self| -> Option<u64> {
            let digits = phrase.take_word()?.replace(['_', ','], "");
            digits.parse().ok()
        };
        let from_one = self.skip(&["from"]) && number(&mut self)? == 1;
        self.skip(&["up", "to"]);
        let to = number(&mut self)?;
        (from_one || self.tokens.is_empty()).then_some(Instruction::Count { to: to.min(MOST) })
    }

    /// "500 words"
    fn words(&self) -> Option<u64> {
        let count = self.tokens.first()?.lower()?.parse().ok()?;
        let unit = self.tokens.get(1)?.lower()?;
        (unit == "words" || unit == "word").then_some(u64::min(count, MOST))
    }

    /// What a file shall contain: the rest of the phrase, without the words that announce it.
    fn content(mut self) -> String {
        const NOUNS: &[&str] = &["text", "content", "contents", "line", "following", "words"];
        let second = self.tokens.get(1).and_then(Token::lower);
        if second.is_some_and(|word| NOUNS.contains(&word.as_str())) {
            self.skip(&["the", "this"]);
        }
        if self.tokens.len() > 1 {
            self.skip(NOUNS);
        }
        self.value().unwrap_or_default()
    }

    /// The first quote if the phrase starts with one, else the rest as it was written.
    fn value(&self) -> Option<String> {
        let start = self.tokens.iter().position(|token| token.kind != Kind::Break)?;
        let first = &self.tokens[start];
        if first.is_quote() {
            return Some(first.text.clone());
        }
        // The comma before "then".
        let raw = token::source(self.prompt, &self.tokens[start..]);
        Some(raw.trim_end_matches(',').to_owned())
    }

    fn quoted_or_raw(mut self) -> Option<String> {
        if let Some(quoted) = self.tokens.iter().find(|token| token.is_quote()) {
            return Some(quoted.text.clone());
        }
        if self.tokens.len() > 1 {
            self.skip(&["the", "word", "text", "string", "every", "all", "occurrences", "of"]);
        }
        self.value()
    }

    /// Splits "CONTENT to NAME" at its last preposition.
    fn split_target(&self, prepositions: &[&str]) -> Option<(String, String)> {
        let (at, name) = self.target(prepositions)?;
        let mut content = self.part(0, at);
        if content.tokens.len() > 1 {
            content.skip(&["the", "line", "text", "content", "word", "words"]);
        }
        Some((content.value()?, name))
    }

    /// The last preposition that is followed by nothing but a file's name.
    fn target(&self, prepositions: &[&str]) -> Option<(usize, String)> {
        (1..self.tokens.len()).rev().find_map(|at| {
            let word = self.tokens[at].lower()?;
            if !prepositions.contains(&word.as_str()) {
                return None;
            }
            let mut rest = self.part(at + 1, self.tokens.len());
            let is_file = rest.has(&["file"]);
            rest.skip(&["a", "the", "new", "end", "of", "file", "called", "named"]);
            let name = rest.take_name(is_file)?;
            rest.tokens.is_empty().then_some((at, name))
        })
    }

    fn skip_bullet(&mut self) {
        if self.tokens.len() > 1 && is_bullet(&self.tokens[0]) {
            self.tokens = &self.tokens[1..];
        }
    }

    /// Skips any of these words; true if there was at least one.
    fn skip(&mut self, words: &[&str]) -> bool {
        let count = self.tokens.iter().take_while(|token| is_one_of(token, words)).count();
        self.tokens = &self.tokens[count..];
        count > 0
    }

    fn take_word(&mut self) -> Option<String> {
        let (first, rest) = self.tokens.split_first()?;
        let word = first.lower()?;
        self.tokens = rest;
        Some(word)
    }

    /// A quote, a word that looks like a file, or with `any` whatever word is next.
    fn take_name(&mut self, any: bool) -> Option<String> {
        let (first, rest) = self.tokens.split_first()?;
        let name = first.name();
        if name.is_empty() || !(first.is_quote() || any || looks_like_file(&name)) {
            return None;
        }
        self.tokens = rest;
        Some(name)
    }

    fn part(&self, start: usize, end: usize) -> Phrase<'a> {
        Phrase { prompt: self.prompt, tokens: &self.tokens[start..end] }
    }

    fn find(&self, words: &[&str]) -> Option<usize> {
        self.tokens.iter().position(|token| is_one_of(token, words))
    }

    fn has(&self, words: &[&str]) -> bool {
        self.find(words).is_some()
    }

    fn is_only(&self, words: &[&str]) -> bool {
        self.tokens.iter().all(|token| is_one_of(token, words))
    }
}

fn is_bullet(token: &Token) -> bool {
    let number = token.text.trim_end_matches(['.', ')']);
    let is_number = number.len() < token.text.len() && number.parse::<u16>().is_ok();
    token.kind == Kind::Word && (is_number || matches!(token.text.as_str(), "-" | "*" | "•"))
}

fn is_content(token: &Token) -> bool {
    is_one_of(token, CONTENT)
}

fn is_one_of(token: &Token, words: &[&str]) -> bool {
    token.lower().is_some_and(|word| words.contains(&word.as_str()))
}
