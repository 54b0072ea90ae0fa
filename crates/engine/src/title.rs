//! What a session is called that nobody named.

use unicode_segmentation::UnicodeSegmentation;

/// How many characters a title has at most, as people count them.
const CHARACTERS: usize = 28;
/// No line is looked at further than this.
const LINE_MAX: usize = 400;

const GREETINGS: [&str; 4] = ["hi", "hello", "hey", "thanks"];
const REQUESTS: [&str; 9] =
    ["please", "kindly", "can you", "could you", "would you", "will you", "i want you to", "i would like you to", "i'd like you to"];

/// A title from the first message: the words of its first line that says something, without marks of Markdown, without whom it is
/// for and without what is said to be polite.
pub(crate) fn of(message: &str) -> String {
    let lines = || message.lines().map(|line| domain::text::clip(line.trim(), LINE_MAX)).filter(|line| !line.is_empty());
    let said = lines().filter(|line| !line.starts_with("```")).map(|line| matter(&plain(line))).find(|line| !line.is_empty());
    shortened(&said.or_else(|| lines().next().map(str::to_owned)).unwrap_or_default())
}

/// The line as it reads when it is rendered.
fn plain(line: &str) -> String {
    let numbered = || line.split_once(". ").filter(|(number, _)| number.bytes().all(|byte| byte.is_ascii_digit())).map(|(_, rest)| rest);
    let marked = || line.split_once(' ').filter(|(mark, _)| mark.bytes().all(|byte| b"#>-*+".contains(&byte))).map(|(_, rest)| rest);
    let mut text = numbered().or_else(marked).unwrap_or(line).replace("**", "").replace('`', "");
    while let Some((range, label)) = link(&text) {
        text.replace_range(range, &label);
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first `[label](address)`, and its label.
fn link(text: &str) -> Option<(std::ops::Range<usize>, String)> {
    let middle = text.find("](")?;
    let start = text[..middle].rfind('[')?;
    let end = middle + text[middle..].find(')')?;
    Some((start..end + 1, text[start + 1..middle].to_owned()))
}

fn matter(line: &str) -> String {
    let mut rest = line;
    while let Some(shorter) = without_mention(rest).or_else(|| without_politeness(rest)) {
        rest = shorter;
    }
    let mut letters = rest.chars();
    match letters.next() {
        // What was cut off began the sentence.
        Some(first) if rest.len() < line.len() && line.starts_with(char::is_uppercase) => first.to_uppercase().chain(letters).collect(),
        _ => rest.to_owned(),
    }
}

/// The line without the one it is for. A path that is mentioned is part of what is said.
fn without_mention(line: &str) -> Option<&str> {
    let (name, rest) = line.strip_prefix('@')?.split_once(' ')?;
    let name = name.trim_end_matches([',', ':']);
    (!name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '-' || letter == '_')).then(|| rest.trim_start())
}

fn without_politeness(line: &str) -> Option<&str> {
    let after = |words: &str| line.get(..words.len()).filter(|start| start.eq_ignore_ascii_case(words)).map(|_| &line[words.len()..]);
    let greeted = GREETINGS.into_iter().filter_map(after).find(|rest| rest.is_empty() || rest.starts_with([',', '!', '.']));
    let asked = || REQUESTS.into_iter().filter_map(after).find(|rest| rest.is_empty() || rest.starts_with([' ', ',', ':']));
    greeted.or_else(asked).map(|rest| rest.trim_start_matches([' ', ',', '!', '.', ':']))
}

/// As many whole words as there is room for; of a first word that is too long, its beginning.
fn shortened(line: &str) -> String {
    let ends: Vec<usize> = line.grapheme_indices(true).map(|(start, character)| start + character.len()).collect();
    if ends.len() <= CHARACTERS {
        return line.to_owned();
    }
    let room = ends[CHARACTERS - 2];
    let whole = if line[room..].starts_with(' ') { Some(room) } else { line[..room].rfind(' ') };
    let cut = line[..whole.unwrap_or(room)].trim_end_matches([' ', ',', ';', ':', '.', '-']);
    format!("{cut}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_short_and_says_what_is_asked_for() {
        let table = [
            ("", ""),
            ("say heron", "say heron"),
            ("hi there", "hi there"),
            ("\n\n  Fix the login  \nIt fails since Monday.", "Fix the login"),
            ("exactly twenty-eight letters", "exactly twenty-eight letters"),
            ("exactly twenty-eight letters.", "exactly twenty-eight…"),
            ("create a file notes.txt with hello from the train", "create a file notes.txt…"),
            ("Rename the handler, the route, and its tests", "Rename the handler, the…"),
            ("Rename the handlers of this and its tests", "Rename the handlers of this…"),
            ("https://example.org/a/very/long/address", "https://example.org/a/very/…"),
            ("Could you please fix the login?", "Fix the login?"),
            ("Hello,\n\nplease add tests", "add tests"),
            ("Hi! I would like you to explain `main.rs`", "Explain main.rs"),
            ("please", "please"),
            ("Pleased to meet you", "Pleased to meet you"),
            ("@docs: please say hello", "say hello"),
            ("@src/lib.rs explain it", "@src/lib.rs explain it"),
            ("@docs", "@docs"),
            ("## **Plan** for the [next week](https://example.org)", "Plan for the next week"),
            ("- 2 * 3 = 6", "2 * 3 = 6"),
            ("1. Look at *.rs", "Look at *.rs"),
            ("a](b) [c](d) [", "a](b) [c](d) ["),
            ("```sh\nmake test\n```\nWhy?", "make test"),
            ("---", "---"),
            ("/commit", "/commit"),
            ("👨‍👩‍👧 goes to the beach today", "👨‍👩‍👧 goes to the beach today"),
            ("日本語の説明を書いてください、それからテストも全部直してください", "日本語の説明を書いてください、それからテストも全部直し…"),
        ];
        for (message, title) in table {
            assert_eq!(of(message), title, "{message:?}");
            assert!(of(message).graphemes(true).count() <= CHARACTERS, "{message:?}");
        }
    }
}
