//! `docs/metrics.md` and `docs/dashboard.json` name what `/metrics` tells, and nothing else.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use testkit::server::Rig;

fn document(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)).unwrap()
}

/// The names of metrics in a text, those of a histogram's parts as the histogram's.
fn names(text: &str, histograms: &BTreeSet<String>) -> BTreeSet<String> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let names = words.filter(|word| word.starts_with("voxpilot_"));
    let whole = |name: &str| {
        let parts = ["_bucket", "_sum", "_count"].iter().filter_map(|part| name.strip_suffix(part));
        parts.into_iter().find(|name| histograms.contains(*name)).unwrap_or(name).to_owned()
    };
    names.map(whole).collect()
}

fn told(page: &str, kind: &str) -> BTreeSet<String> {
    let types = page.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
    types.filter(|(_, found)| kind.is_empty() || *found == kind).map(|(name, _)| name.to_owned()).collect()
}

#[tokio::test]
async fn every_metric_is_documented_and_every_documented_one_exists() {
    let server = Rig::default().demo_agent().start().await;
    let page = server.text("GET", "/metrics").await;
    server.end().await;
    let (all, histograms) = (told(&page, ""), told(&page, "histogram"));
    assert!(all.len() > 30, "{page}");
    let rows: String =
        document("metrics.md").lines().filter(|line| line.starts_with("| `voxpilot_")).map(|row| format!("{row}\n")).collect();
    assert_eq!(names(&rows, &histograms), all, "the table of docs/metrics.md");
    for name in names(&document("metrics.md"), &histograms) {
        assert!(all.contains(&name), "docs/metrics.md names {name}");
    }
    let dashboard = document("dashboard.json");
    for name in names(&dashboard, &histograms) {
        assert!(all.contains(&name), "docs/dashboard.json names {name}");
    }
    for line in page.lines().filter(|line| !line.starts_with('#')) {
        let name = line.split(['{', ' ']).next().unwrap();
        assert!(all.is_superset(&names(name, &histograms)), "a sample without a family: {line}");
    }
}

#[test]
fn the_dashboard_is_one_that_grafana_takes() {
    let dashboard: Value = serde_json::from_str(&document("dashboard.json")).unwrap();
    let variable = &dashboard["templating"]["list"][0];
    assert_eq!((&variable["type"], &variable["query"]), (&"datasource".into(), &"prometheus".into()));
    let panels = dashboard["panels"].as_array().unwrap();
    let mut ids = BTreeSet::new();
    for panel in panels {
        assert!(ids.insert(panel["id"].as_u64().unwrap()), "an id stands there twice: {panel}");
        assert!(panel["gridPos"]["w"].as_u64().unwrap() + panel["gridPos"]["x"].as_u64().unwrap() <= 24, "{panel}");
        if panel["type"] == "row" {
            continue;
        }
        assert_eq!(panel["datasource"]["uid"], "${datasource}", "{panel}");
        assert!(
            panel["targets"].as_array().unwrap().iter().all(|target| target["expr"].as_str().unwrap().contains("voxpilot_")),
            "{panel}"
        );
    }
    let rows: Vec<_> = panels.iter().filter(|panel| panel["type"] == "row").map(|panel| panel["title"].as_str().unwrap()).collect();
    assert_eq!(rows, ["Flow", "Commits", "Agents and turns", "Model", "Machine"]);
}
