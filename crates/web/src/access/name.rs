//! What a device is called before anybody gives it a name: what its browser or program says of itself.

const LONGEST: usize = 60;

/// The order counts: most browsers also name those that they want to be taken for.
const BROWSERS: [(&str, &str); 8] = [
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
];
const SYSTEMS: [(&str, &str); 7] = [
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
];

pub(crate) fn of(user_agent: Option<&str>) -> String {
    let text = user_agent.unwrap_or_default();
    let find = |table: &[(&str, &'static str)]| table.iter().find(|(mark, _)| text.contains(mark)).map(|(_, name)| *name);
    match (find(&BROWSERS), find(&SYSTEMS)) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(browser), None) => browser.to_owned(),
        (None, _) => {
            let program = text.split(['/', ' ', '(']).next().unwrap_or_default();
            let program: String = program.chars().filter(|letter| letter.is_ascii_graphic()).take(LONGEST).collect();
            if program.is_empty() { "A program".to_owned() } else { program }
        }
    }
}

/// A name that a person gives, or nothing where it is none.
pub(crate) fn given(text: &str) -> Option<String> {
    let name = super::audit::shown(text.trim());
    (!name.is_empty() && name.chars().count() <= LONGEST).then_some(name)
}

/// What a name must look like, for messages.
pub(crate) const FORM: &str = "a name has 1 to 60 characters";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_called_after_its_browser_and_system() {
        let table = [
            ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"),
            ("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36", "Chrome on Linux"),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1",
                "Safari on iPhone",
            ),
            (
                "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36",
                "Chrome on Android",
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0",
                "Edge on Windows",
            ),
            ("curl/8.14.1", "curl"),
            ("python-requests/2.32", "python-requests"),
            ("", "A program"),
        ];
        for (user_agent, name) in table {
            assert_eq!(of(Some(user_agent)), name);
        }
        assert_eq!(of(None), "A program");
    }

    #[test]
    fn a_given_name_is_short_and_shows_all_its_characters() {
        assert_eq!(given("  Ada's phone ").as_deref(), Some("Ada's phone"));
        assert_eq!(given(" "), None);
        assert_eq!(given(&"x".repeat(61)), None);
        assert!(!given("a\u{202e}b").unwrap().contains('\u{202e}'));
    }
}
