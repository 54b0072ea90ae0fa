//! The command line behind a shell that is only there to run it.

use domain::agent::is_system_shell;

/// `touch a; echo b` of `/bin/bash -lc 'touch a; echo b'`; anything else as it is.
pub(super) fn script(command: &str) -> String {
    unwrapped(command).unwrap_or_else(|| command.to_owned())
}

fn unwrapped(command: &str) -> Option<String> {
    let (shell, rest) = command.split_once(' ')?;
    let (flag, rest) = rest.split_once(' ')?;
    // A file of the project may be called like a shell, and run something else.
    let is_shell = (matches!(shell, "bash" | "zsh" | "sh" | "dash") || is_system_shell(shell)) && matches!(flag, "-lc" | "-c");
    if is_shell { only_word(rest) } else { None }
}

/// What one shell word says, where the text is exactly one.
fn only_word(text: &str) -> Option<String> {
    let mut word = String::new();
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match char {
            '\'' => loop {
                match chars.next()? {
                    '\'' => break,
                    inner => word.push(inner),
                }
            },
            '"' => loop {
                match chars.next()? {
                    '"' => break,
                    '\\' => match chars.next()? {
                        escaped @ ('"' | '\\' | '$' | '`') => word.push(escaped),
                        '\n' => {}
                        other => word.extend(['\\', other]),
                    },
                    '$' | '`' => return None,
                    inner => word.push(inner),
                }
            },
            '\\' => word.push(chars.next()?),
            plain if plain.is_whitespace() || "|&;<>()$`*?[#~=%!{}".contains(plain) => return None,
            plain => word.push(plain),
        }
    }
    Some(word)
}

#[cfg(test)]
mod tests {
    use super::script;

    #[test]
    fn only_what_is_surely_a_script_is_unwrapped() {
        let cases = [
            ("/bin/bash -lc ls", "ls"),
            ("/bin/bash -lc 'touch a; echo b'", "touch a; echo b"),
            ("bash -c \"echo 'it'\"", "echo 'it'"),
            ("/bin/zsh -lc 'a'\\''b'", "a'b"),
            ("bash -lc \"say \\\"x\\\" \\$HOME\"", "say \"x\" $HOME"),
            ("bash -lc 'a' b", "bash -lc 'a' b"),
            ("bash -lc \"$(id)\"", "bash -lc \"$(id)\""),
            ("bash -lc 'open", "bash -lc 'open"),
            ("/work/bash -lc ls", "/work/bash -lc ls"),
            ("./sh -c ls", "./sh -c ls"),
            ("python3 -c 'x'", "python3 -c 'x'"),
            ("ls", "ls"),
        ];
        for (command, expected) in cases {
            assert_eq!(script(command), expected, "{command}");
        }
    }
}
