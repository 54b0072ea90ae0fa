//! What the schedules have come across, counted by name.

use std::collections::BTreeMap;

#[derive(Clone, Debug, Default)]
pub struct Coverage(BTreeMap<&'static str, u64>);

impl Coverage {
    pub fn count(&mut self, name: &'static str) {
        *self.0.entry(name).or_default() += 1;
    }

    pub fn seen(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or(0)
    }

    pub fn merge(&mut self, other: &Coverage) {
        for (name, count) in &other.0 {
            *self.0.entry(name).or_default() += count;
        }
    }

    /// By the group in front of the colon.
    pub fn print(&self) {
        let mut groups: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (name, count) in &self.0 {
            let (group, what) = name.split_once(": ").unwrap_or(("other", name));
            groups.entry(group).or_default().push(format!("{what} {count}"));
        }
        for (group, lines) in groups {
            println!("{group:>8}: {}", lines.join(", "));
        }
    }
}
