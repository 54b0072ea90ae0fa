//! The fields in which agents say what a tool works on, by what they name. One table for all who read them: those who collect names,
//! those who find out where they lead, and those who judge that.

use serde_json::Value;

/// The directory that a tool works in.
pub const DIRECTORY_FIELDS: [&str; 11] = [
    "cwd",
    "workdir",
    "work_dir",
    "working_directory",
    "workingDirectory",
    "directory",
    "dir",
    "dir_path",
    "dirPath",
    "directory_path",
    "directoryPath",
];

/// Files, or directories to look through.
pub const FILE_FIELDS: [&str; 22] = [
    "path",
    "paths",
    "file",
    "files",
    "file_path",
    "filePath",
    "filepath",
    "file_paths",
    "filePaths",
    "absolute_path",
    "abs_path",
    "fileName",
    "filename",
    "file_name",
    "target_file",
    "old_path",
    "new_path",
    "oldPath",
    "newPath",
    "source",
    "destination",
    "notebook_path",
];

/// What chooses among files by their names.
pub const GLOB_FIELDS: [&str; 2] = ["glob", "include"];

/// What chooses among files by their names, or is looked for in them: which of the two, only the tool knows.
pub const PATTERN_FIELDS: [&str; 2] = ["pattern", "query"];

/// Text that names no place that would be looked at, whatever it says.
const TEXT_FIELDS: [&str; 4] = ["description", "regex", "exclude", "ignore"];

/// How, and how much. No text that could be a path belongs here.
const OPTION_FIELDS: [&str; 20] = [
    "line",
    "limit",
    "offset",
    "start_line",
    "end_line",
    "view_range",
    "range",
    "max_results",
    "max_lines",
    "head_limit",
    "recursive",
    "case_sensitive",
    "output_mode",
    "multiline",
    "type",
    "-n",
    "-i",
    "-A",
    "-B",
    "-C",
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Names {
    Directory,
    File,
    Glob,
    Pattern,
    Text,
    Option,
}

/// What a field names; none where nobody knows.
pub fn names(field: &str) -> Option<Names> {
    let tables: [(&[&str], Names); 6] = [
        (&DIRECTORY_FIELDS, Names::Directory),
        (&FILE_FIELDS, Names::File),
        (&GLOB_FIELDS, Names::Glob),
        (&PATTERN_FIELDS, Names::Pattern),
        (&TEXT_FIELDS, Names::Text),
        (&OPTION_FIELDS, Names::Option),
    ];
    tables.into_iter().find(|(fields, _)| fields.contains(&field)).map(|(_, names)| names)
}

/// Every place that an input names, in the order of its fields, and how it is meant. A field with anything else than text or a list of
/// texts names none that could be told.
pub fn places(input: &Value) -> Vec<(Names, &str)> {
    let mut places = Vec::new();
    for (field, value) in input.as_object().into_iter().flatten() {
        if let Some(names @ (Names::Directory | Names::File | Names::Glob | Names::Pattern)) = names(field) {
            let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            places.extend(values.iter().filter_map(Value::as_str).map(|text| (names, text)));
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_field_is_known_for_one_thing() {
        let all: Vec<&str> = [&DIRECTORY_FIELDS[..], &FILE_FIELDS, &GLOB_FIELDS, &PATTERN_FIELDS, &TEXT_FIELDS, &OPTION_FIELDS].concat();
        for (at, field) in all.iter().enumerate() {
            assert!(!all[at + 1..].contains(field), "{field} is there twice");
        }
    }

    #[test]
    fn texts_and_lists_of_texts_are_places() {
        let input =
            json!({ "paths": ["a", 7, "b"], "cwd": "c", "glob": "*.rs", "line": 3, "description": "d", "unknown": "e", "file": {} });
        let expected = [(Names::File, "a"), (Names::File, "b"), (Names::Directory, "c"), (Names::Glob, "*.rs")];
        assert_eq!(places(&input), expected);
        assert!(places(&json!("path")).is_empty());
    }
}
