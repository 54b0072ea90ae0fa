//! Keeps the table in `bench/RESULTS.md`, with what it was measured on.

use std::fmt::Write;
use std::path::Path;

use anyhow::Context;

use crate::table::Table;

const HEAD: &str = "# Results\n\nWritten by `make bench ARGS=--write`; `README.md` says what the lines mean. A FAIL is a goal that was missed on this machine\n\
    at this time. \"Stolen\" is what other guests of the host took of the processors while the row was measured.\n\n";

pub(crate) fn write(machine: &[(&'static str, String)], table: &Table) -> anyhow::Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/RESULTS.md");
    let mut text = HEAD.to_owned();
    for (name, value) in machine {
        writeln!(text, "- {name}: {value}")?;
    }
    text.push('\n');
    text.push_str(&table.markdown());
    std::fs::write(&path, text).with_context(|| format!("{} could not be written", path.display()))
}
