//! What a database consists of: tables with their columns, keys and indexes, as lines of text that can be compared. The text of the
//! statements cannot: a migrated database and a new one of the same version are written differently.

use std::collections::BTreeSet;

use rusqlite::Connection;

use crate::open::{MIGRATIONS, SCHEMA};
use crate::statement::{self, Read};

/// Tables that SQLite makes by itself.
const OF_SQLITE: [&str; 3] = ["sqlite_sequence", "sqlite_stat1", "sqlite_stat4"];
/// Words of table definitions that no pragma shows and that ours do not have.
const UNUSED_WORDS: [&str; 3] = ["CHECK", "COLLATE", "GENERATED"];

/// The parts of one attached database.
pub(crate) fn shape(conn: &Connection, schema: &str) -> Read<BTreeSet<String>> {
    let of_tables = "SELECT 'the ' || t.type || ' ' || t.name || ' with ' || json_array(t.wr, t.strict, c.cid, c.name, c.type, c.\"notnull\", c.dflt_value, c.pk, c.hidden) \
        FROM pragma_table_list t JOIN pragma_table_xinfo(t.name, ?1) c WHERE t.schema = ?1 AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
    let of_keys = "SELECT 'a key of ' || t.name || ' with ' || json_array(k.\"table\", k.\"from\", k.\"to\", k.on_update, k.on_delete, k.\"match\") \
        FROM pragma_table_list t JOIN pragma_foreign_key_list(t.name, ?1) k WHERE t.schema = ?1";
    let of_indexes = "SELECT 'the index ' || i.name || ' of ' || t.name || ' with ' || json_array(i.\"unique\", i.origin, i.partial, x.seqno, x.name, x.\"desc\", x.coll, x.key) \
        FROM pragma_table_list t JOIN pragma_index_list(t.name, ?1) i JOIN pragma_index_xinfo(i.name, ?1) x \
        WHERE t.schema = ?1 AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
    let mut parts = BTreeSet::new();
    for sql in [of_tables, of_keys, of_indexes] {
        parts.extend(statement::all(conn, sql, [schema], |row| row.get::<_, String>(0))?);
    }
    let partial = format!(
        "SELECT 'the index ' || name || ' ' || substr(sql, instr(sql, 'WHERE')) FROM \"{schema}\".sqlite_schema \
         WHERE type = 'index' AND instr(sql, 'WHERE') > 0"
    );
    parts.extend(statement::all(conn, &partial, [], |row| row.get::<_, String>(0))?);
    parts.extend(foreign_objects(conn, schema)?);
    Ok(parts)
}

/// What has no place in a database of ours, whatever it is called: triggers, views, tables that only look like SQLite's own, definitions
/// that evaluate something.
fn foreign_objects(conn: &Connection, schema: &str) -> Read<Vec<String>> {
    let all = format!("SELECT type, name, COALESCE(sql, '') FROM \"{schema}\".sqlite_schema");
    let objects = statement::all(conn, &all, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let foreign = objects.into_iter().filter(|(kind, name, sql): &(String, String, String)| {
        let own_kind = matches!(kind.as_str(), "table" | "index");
        let of_sqlite = name.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("sqlite_"));
        let made_by_sqlite = OF_SQLITE.contains(&name.as_str()) || name.starts_with("sqlite_autoindex_");
        let words = || sql.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        !own_kind || of_sqlite && !made_by_sqlite || words().any(|word| UNUSED_WORDS.iter().any(|unused| word.eq_ignore_ascii_case(unused)))
    });
    Ok(foreign.map(|(kind, name, _)| format!("the {kind} {name}")).collect())
}

/// What a database of this version consists of.
pub(crate) fn known(version: usize) -> Read<BTreeSet<String>> {
    let conn = Connection::open_in_memory()?;
    build(&conn, version)?;
    shape(&conn, "main")
}

/// Makes the tables of this version in an empty database.
pub(crate) fn build(conn: &Connection, version: usize) -> Read<()> {
    if version == MIGRATIONS.len() {
        return conn.execute_batch(SCHEMA);
    }
    MIGRATIONS[..version].iter().try_for_each(|sql| conn.execute_batch(sql))
}

/// One thing in which a shape differs from the known one, for people.
pub(crate) fn difference(found: &BTreeSet<String>, known: &BTreeSet<String>) -> Option<String> {
    let unknown = found.difference(known).next().map(|part| format!("{part}, which is unknown"));
    unknown.or_else(|| known.difference(found).next().map(|part| format!("no {part}")))
}
