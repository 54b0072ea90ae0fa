//! How values look in columns: ids and times as TEXT, numbers as BIGINT, the rest as JSON.

use std::ops::ControlFlow;
use std::str::FromStr;

use jiff::Timestamp;
use rusqlite::types::Type;
use rusqlite::{Connection, Params, Row};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::statement;
use crate::unreadable::Unreadable;

type Result<T> = std::result::Result<T, rusqlite::Error>;

/// Nine digits always: text order is time order, and the time comes back as it was.
pub(crate) fn time(time: Timestamp) -> String {
    format!("{time:.9}")
}

pub(crate) fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

pub(crate) fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("rows hold nothing that JSON cannot say")
}

/// The word by which serde knows a variant without fields.
pub(crate) fn word<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        _ => unreachable!("only enums without fields are stored as words"),
    }
}

pub(crate) trait Columns {
    fn text(&self, column: &str) -> Result<String>;
    fn maybe(&self, column: &str) -> Result<Option<String>>;
    fn number(&self, column: &str) -> Result<u64>;
    fn maybe_number(&self, column: &str) -> Result<Option<u64>>;

    fn flag(&self, column: &str) -> Result<bool> {
        Ok(self.number(column)? != 0)
    }

    fn parsed<T>(&self, column: &str) -> Result<T>
    where
        T: FromStr,
        T::Err: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.text(column)?.parse().map_err(|error| decode(column, error))
    }

    fn maybe_parsed<T>(&self, column: &str) -> Result<Option<T>>
    where
        T: FromStr,
        T::Err: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.maybe(column)?.map(|text| text.parse().map_err(|error| decode(column, error))).transpose()
    }

    /// What the JSON of a column says, nothing for NULL. `key` names the row for the log where it cannot be read.
    fn json<T: DeserializeOwned>(&self, table: &'static str, key: &str, column: &str) -> std::result::Result<Option<T>, Unreadable> {
        let text = self.maybe(column).map_err(|error| Unreadable::report(table, key, &error))?;
        let parsed = text.map(|text| serde_json::from_str(&text)).transpose();
        parsed.map_err(|error| Unreadable::report(table, key, &decode(column, error)))
    }

    fn word<T: DeserializeOwned>(&self, column: &str) -> Result<T> {
        serde_json::from_value(Value::String(self.text(column)?)).map_err(|error| decode(column, error))
    }
}

impl Columns for Row<'_> {
    fn text(&self, column: &str) -> Result<String> {
        self.get(column)
    }

    fn maybe(&self, column: &str) -> Result<Option<String>> {
        self.get(column)
    }

    fn number(&self, column: &str) -> Result<u64> {
        let value: i64 = self.get(column)?;
        u64::try_from(value).map_err(|error| decode(column, error))
    }

    fn maybe_number(&self, column: &str) -> Result<Option<u64>> {
        let value: Option<i64> = self.get(column)?;
        value.map(|value| u64::try_from(value).map_err(|error| decode(column, error))).transpose()
    }
}

/// The rows that can be read; the others are logged and left out.
pub(crate) fn readable<T>(
    table: &'static str,
    conn: &Connection,
    sql: &str,
    params: impl Params,
    mut read: impl FnMut(&Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let mut all = Vec::new();
    statement::each(conn, sql, params, |row| {
        all.extend(if_readable(table, row, &mut read));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(all)
}

/// Nothing where it cannot be read, which is logged.
pub(crate) fn if_readable<T>(table: &'static str, row: &Row<'_>, read: impl FnOnce(&Row<'_>) -> Result<T>) -> Option<T> {
    let key = || row.text("id").or_else(|_| row.text("session_id")).unwrap_or_default();
    read(row).map_err(|error| Unreadable::report(table, &key(), &error)).ok()
}

fn decode(column: &str, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> rusqlite::Error {
    let source = format!("column {column}: {}", source.into());
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, source.into())
}
