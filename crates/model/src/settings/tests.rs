//! Tables over the settings: what resolves to what, and what each mistake is told.
#![allow(clippy::unwrap_used)]

use super::*;

fn endpoint(base_url: Option<&str>, key: Option<&str>, provider: Option<Provider>) -> Settings {
    Settings::Endpoint { model: "m".to_owned(), base_url: base_url.map(str::to_owned), api_key: key.map(Secret::from), provider }
}

#[test]
fn relay_needs_nothing() {
    assert!(Settings::Relay.resolve().unwrap().is_none());
}

#[test]
fn base_urls_are_brought_into_one_form() {
    let table = [
        ("http://127.0.0.1:9/v1", "http://127.0.0.1:9/v1/", "127.0.0.1:9", true),
        ("http://127.0.0.1:9/v1/", "http://127.0.0.1:9/v1/", "127.0.0.1:9", true),
        ("http://localhost:9", "http://localhost:9/", "localhost:9", true),
        ("http://[::1]:9/v1", "http://[::1]:9/v1/", "[::1]:9", true),
        ("https://llm.example/v1/chat/completions", "https://llm.example/v1/", "llm.example", false),
        (" https://llm.example/v1 ", "https://llm.example/v1/", "llm.example", false),
    ];
    for (given, base_url, host, loopback) in table {
        let target = endpoint(Some(given), None, None).resolve().unwrap().unwrap();
        assert_eq!(target.base_url, base_url);
        assert_eq!(target.host, host);
        assert_eq!(target.loopback, loopback, "{given}");
    }
}

#[test]
fn mistakes_are_named() {
    let table = [
        (endpoint(None, None, None), "VOXPILOT_MODEL_BASE_URL or VOXPILOT_MODEL_PROVIDER"),
        (endpoint(Some("localhost:9"), None, None), "`localhost:9` is not an http(s) address"),
        (endpoint(Some("file:///etc"), None, None), "not an http(s) address"),
        (endpoint(None, None, Some(Provider::GitHub)), "GITHUB_TOKEN"),
        (endpoint(None, Some(""), Some(Provider::OpenRouter)), "OPENROUTER_API_KEY"),
    ];
    for (settings, expected) in table {
        let message = settings.resolve().err().unwrap().to_string();
        assert!(message.contains(expected), "{message}");
    }
    let message = Provider::from_str("azure").unwrap_err().to_string();
    for provider in Provider::ALL {
        assert!(message.contains(provider.as_str()), "{message}");
        assert_eq!(Provider::from_str(provider.as_str()), Ok(provider));
    }
}

#[test]
fn an_address_of_the_local_link_is_refused_however_it_is_written() {
    for given in ["http://169.254.169.254/v1", "http://2852039166/v1", "http://[fe80::1]/v1", "http://[::ffff:a9fe:a9fe]/v1"] {
        let refused = endpoint(Some(given), None, None).resolve().err();
        assert!(matches!(refused, Some(SettingsError::RefusedAddress { .. })), "{given}: {refused:?}");
    }
}

#[test]
fn a_preset_knows_its_address_and_needs_a_key() {
    for missing in [None, Some("")] {
        let refused = endpoint(None, missing, Some(Provider::GitHub)).resolve().err().unwrap();
        assert!(matches!(refused, SettingsError::NoKey { provider: Provider::GitHub, variable: "GITHUB_TOKEN" }), "{refused}");
    }
    let target = endpoint(None, Some("mine"), Some(Provider::GitHub)).resolve().unwrap().unwrap();
    assert_eq!((target.host.as_str(), target.key.unwrap().expose()), ("models.github.ai", "mine"));
    assert_eq!(target.key_variables, "GITHUB_TOKEN or VOXPILOT_MODEL_API_KEY");
}

#[test]
fn another_address_needs_no_key_of_the_provider() {
    for provider in [Some(Provider::GitHub), None] {
        let elsewhere = endpoint(Some("http://127.0.0.1:9/v1"), None, provider);
        assert_eq!(elsewhere.resolve().unwrap().unwrap().key, None);
    }
}

#[test]
fn the_local_provider_needs_no_key() {
    assert_eq!(endpoint(None, None, Some(Provider::Ollama)).resolve().unwrap().unwrap().key, None);
}

#[test]
fn debug_output_hides_the_key() {
    let settings = endpoint(Some("http://127.0.0.1:9"), Some("sk-very-secret"), None);
    assert!(!format!("{settings:?}").contains("very-secret"));
    let model = crate::Model::new(settings).unwrap();
    assert!(!format!("{model:?}").contains("very-secret"));
}
