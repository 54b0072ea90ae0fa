//! Code as a block of its own. It is not coloured here: the page does that, by the language in the class.

use crate::escape;

const LABEL_CHARS: usize = 32;

/// Appends code as `<pre><code>`, with its language (`rust`, or a path such as `src/main.rs`) as a class.
pub(crate) fn block(text: &str, language_or_path: &str, html: &mut String) {
    match label(language_or_path).as_str() {
        "" => html.push_str("<pre class=\"code\"><code>"),
        label => html.push_str(&format!("<pre class=\"code\"><code class=\"language-{label}\">")),
    }
    escape::text(text, html);
    html.push_str("</code></pre>");
}

/// A language as it may stand in a class name.
fn label(language_or_path: &str) -> String {
    let name = language_or_path.trim().rsplit(['/', '.']).next().unwrap_or_default();
    name.chars().filter(|c| is_label_char(*c)).take(LABEL_CHARS).collect::<String>().to_ascii_lowercase()
}

fn is_label_char(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '+' | '#' | '-' | '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_is_a_class_and_the_code_stays_as_it_is() {
        for (language, class) in [
            ("rust", " class=\"language-rust\""),
            ("src/Main.RS", " class=\"language-rs\""),
            ("c++", " class=\"language-c++\""),
            ("\"><script>", " class=\"language-script\""),
            ("", ""),
        ] {
            let mut html = String::new();
            block("let a = 1 < 2;", language, &mut html);
            assert_eq!(html, format!("<pre class=\"code\"><code{class}>let a = 1 &lt; 2;</code></pre>"), "{language}");
        }
    }
}
