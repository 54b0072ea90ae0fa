//! What a prompt asks for, read from plain English. Pure; forgiving where that is safe, and everything it does
//! not understand stays a remark.

mod phrase;
mod token;

use token::{Kind, Token};

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Instruction {
    Create {
        name: String,
        content: String,
    },
    Append {
        name: String,
        content: String,
    },
    Replace {
        name: String,
        from: String,
        to: String,
    },
    Delete {
        name: String,
    },
    /// Without a name: what came attached to the prompt.
    Read {
        name: Option<String>,
    },
    List {
        dir: Option<String>,
    },
    Run {
        command: String,
    },
    Count {
        to: u64,
    },
    Words {
        count: u64,
    },
    Think {
        about: String,
    },
    Say {
        text: String,
    },
    Recall(Recall),
    /// Not understood, or just talk.
    Remark {
        text: String,
    },
}

/// Which of the earlier prompts is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Recall {
    First,
    Last,
    All,
}

impl Instruction {
    /// The step as a plan names it.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Create { name, .. } => format!("Write {name}"),
            Self::Append { name, .. } => format!("Append to {name}"),
            Self::Replace { name, from, to } => format!("Replace {from:?} with {to:?} in {name}"),
            Self::Delete { name } => format!("Delete {name}"),
            Self::Read { name: Some(name) } => format!("Read {name}"),
            Self::Read { name: None } => "Read the attachment".to_owned(),
            Self::List { dir } => format!("List the files in {}", dir.as_deref().unwrap_or(".")),
            Self::Run { command } => format!("Run `{command}`"),
            Self::Count { to } => format!("Count to {to}"),
            Self::Words { count } => format!("Write {count} words"),
            Self::Think { about } => format!("Think about {about}"),
            Self::Say { .. } => "Say it".to_owned(),
            Self::Recall(_) => "Look up what was asked before".to_owned(),
            Self::Remark { .. } => "Answer".to_owned(),
        }
    }

    /// True where the words leave no doubt that an instruction was meant, even in the middle of a sentence.
    fn is_plain(&self) -> bool {
        match self {
            Self::Create { name, .. }
            | Self::Append { name, .. }
            | Self::Replace { name, .. }
            | Self::Delete { name }
            | Self::Read { name: Some(name) } => phrase::looks_like_file(name),
            Self::Run { .. } | Self::Count { .. } | Self::Words { .. } => true,
            _ => false,
        }
    }
}

/// The instructions of a prompt, in order; never empty.
pub(crate) fn parse(prompt: &str) -> Vec<Instruction> {
    let tokens = token::split(prompt);
    let mut found = Vec::new();
    for sentence in sentences(&tokens) {
        for part in parts(prompt, sentence) {
            found.push(match phrase::read(prompt, part) {
                Some(instruction) => instruction,
                None => Instruction::Remark { text: token::source(prompt, part).to_owned() },
            });
        }
    }
    let talk = |instruction: &Instruction| matches!(instruction, Instruction::Remark { .. });
    if found.iter().all(talk) {
        return vec![Instruction::Remark { text: prompt.trim().to_owned() }];
    }
    found
}

/// Splits at line ends and semicolons. A code fence belongs to the line that announces it.
fn sentences(tokens: &[Token]) -> Vec<&[Token]> {
    let mut all = Vec::new();
    let mut start = 0;
    for (at, token) in tokens.iter().enumerate() {
        let fence_follows = tokens.get(at + 1).is_some_and(|next| next.kind == Kind::Fence);
        if token.kind == Kind::Break && !(fence_follows && at > start) {
            all.push(&tokens[start..at]);
            start = at + 1;
        }
    }
    all.push(&tokens[start..]);
    all.retain(|sentence| sentence.iter().any(|token| token.kind != Kind::Break));
    all
}

/// Splits a sentence at "then", and at "and" or a full stop, where an instruction clearly follows.
fn parts<'a>(prompt: &str, sentence: &'a [Token]) -> Vec<&'a [Token]> {
    let mut all = Vec::new();
    let mut start = 0;
    for at in 1..sentence.len() {
        let rest = &sentence[at..];
        let joint = match sentence[at].lower().as_deref() {
            Some("then") => phrase::read(prompt, rest).is_some(),
            Some("and") => phrase::read(prompt, rest).is_some_and(|next| next.is_plain()),
            _ if sentence[at - 1].ends_sentence() => phrase::read(prompt, rest).is_some_and(|next| next.is_plain()),
            _ => false,
        };
        if joint && !phrase::is_filler(&sentence[start..at]) {
            let end = match sentence[at - 1].lower().as_deref() {
                Some("and") if at - 1 > start => at - 1,
                _ => at,
            };
            all.push(&sentence[start..end]);
            start = at;
        }
    }
    all.push(&sentence[start..]);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn create(name: &str, content: &str) -> Instruction {
        Instruction::Create { name: name.into(), content: content.into() }
    }

    fn run(command: &str) -> Instruction {
        Instruction::Run { command: command.into() }
    }

    #[test]
    fn creating_is_understood_in_many_words() {
        for (prompt, name, content) in [
            ("create a file hello.txt with hello world", "hello.txt", "hello world"),
            ("Create hello.txt containing \"a; b then c\"", "hello.txt", "a; b then c"),
            ("please make a new file called 'my notes.txt' saying hi", "my notes.txt", "hi"),
            ("write a file named src/a.rs with the content `fn main() {}`.", "src/a.rs", "fn main() {}"),
            ("write \"one\\ntwo\" to list.txt", "list.txt", "one\ntwo"),
            ("write hello there into the file x.md", "x.md", "hello there"),
            ("create a file named Makefile", "Makefile", ""),
            ("create an empty file a.txt", "a.txt", ""),
            ("create a python file called x.py with:\n```python\nprint(1)\nprint(2)\n```", "x.py", "print(1)\nprint(2)\n"),
            ("create a.txt: hello", "a.txt", "hello"),
            ("create a file a.txt in src with x", "src/a.txt", "x"),
            ("Could you create “curly.txt” with “smart quotes”?", "curly.txt", "smart quotes"),
            ("- create a.txt with the quick brown fox", "a.txt", "the quick brown fox"),
            ("create a file don't.txt with it's fine", "don't.txt", "it's fine"),
        ] {
            assert_eq!(parse(prompt), [create(name, content)], "{prompt}");
        }
    }

    #[test]
    fn the_other_verbs_are_understood() {
        let name = || "a.txt".to_owned();
        let text = |text: &str| text.to_owned();
        for (prompt, expected) in [
            ("append more text to a.txt", Instruction::Append { name: name(), content: text("more text") }),
            ("add the line 'x to y' to the file a.txt", Instruction::Append { name: name(), content: text("x to y") }),
            ("append to a.txt: more", Instruction::Append { name: name(), content: text("more") }),
            ("replace old with new in a.txt", Instruction::Replace { name: name(), from: text("old"), to: text("new") }),
            ("Replace \"in a\" with \"in b\" in a.txt.", Instruction::Replace { name: name(), from: text("in a"), to: text("in b") }),
            ("in a.txt, replace x by y", Instruction::Replace { name: name(), from: text("x"), to: text("y") }),
            ("change the word foo to bar in a.txt", Instruction::Replace { name: name(), from: text("foo"), to: text("bar") }),
            ("delete a.txt", Instruction::Delete { name: name() }),
            ("remove the file \"a.txt\"", Instruction::Delete { name: name() }),
            ("show me the contents of a.txt", Instruction::Read { name: Some(name()) }),
            ("cat a.txt", Instruction::Read { name: Some(name()) }),
            ("read the attached file", Instruction::Read { name: None }),
            ("list", Instruction::List { dir: None }),
            ("list the files", Instruction::List { dir: None }),
            ("list files in src", Instruction::List { dir: Some(text("src")) }),
            ("list src", Instruction::List { dir: Some(text("src")) }),
            ("show me the files", Instruction::List { dir: None }),
            ("what files are there?", Instruction::List { dir: None }),
            ("run `echo 'a; b' && ls`", run("echo 'a; b' && ls")),
            ("run the command \"ls -l\"", run("ls -l")),
            ("run ls -l", run("ls -l")),
            ("/run ls", run("ls")),
            ("count to 25", Instruction::Count { to: 25 }),
            ("/count 3", Instruction::Count { to: 3 }),
            ("please count up to 1000.", Instruction::Count { to: 1000 }),
            ("write 500 words about ducks", Instruction::Words { count: 500 }),
            ("think about the meaning of life", Instruction::Think { about: text("the meaning of life") }),
            ("say good morning", Instruction::Say { text: text("good morning") }),
            ("What did I ask you before?", Instruction::Recall(Recall::All)),
            ("what was my first message?", Instruction::Recall(Recall::First)),
            ("and what was my last question", Instruction::Recall(Recall::Last)),
        ] {
            assert_eq!(parse(prompt), [expected], "{prompt}");
        }
    }

    #[test]
    fn several_instructions_come_in_order() {
        let three = [create("a.txt", "x"), run("cat a.txt"), Instruction::Delete { name: "a.txt".into() }];
        for prompt in [
            "create a.txt with x\nrun `cat a.txt`\ndelete a.txt",
            "create a.txt with x; run `cat a.txt`; delete a.txt;",
            "create a.txt with x, then run `cat a.txt` and then delete a.txt",
            "1. create a.txt with \"x\"\n2. run `cat a.txt`\n\n3) delete a.txt",
            "Create a.txt with `x` and run `cat a.txt`. Delete a.txt.",
        ] {
            assert_eq!(parse(prompt), three, "{prompt}");
        }
    }

    #[test]
    fn talk_is_left_alone() {
        for prompt in [
            "",
            "hello, who are you?",
            "show me what you can do",
            "make me a sandwich",
            "write a poem and read it aloud",
            "run the tests",
            "list all the things I should do",
            "can you fix the bug in the parser?",
            "I don't think that's right; it isn't",
            "```\nlet x = 1;\n```",
            "count",
            "\"unclosed",
        ] {
            let expected = Instruction::Remark { text: prompt.trim().into() };
            assert_eq!(parse(prompt), [expected], "{prompt}");
        }
    }

    #[test]
    fn a_remark_beside_an_instruction_is_kept_apart() {
        assert_eq!(
            parse("Good morning!\ncount to 3"),
            [Instruction::Remark { text: "Good morning!".into() }, Instruction::Count { to: 3 }]
        );
    }
}
