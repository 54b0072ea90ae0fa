#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn nested(levels: usize) -> String {
    format!("{}1{}", "[".repeat(levels), "]".repeat(levels))
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    }
}

fn read(line: &str) -> (Value, bool) {
    let bounded = bounded(line).unwrap();
    (serde_json::from_str(&bounded.text).unwrap(), bounded.is_cut)
}

fn many(element: &str, times: usize) -> String {
    format!("[{}{element}]", format!("{element},").repeat(times - 1))
}

#[test]
fn what_lies_too_deep_is_replaced_and_the_rest_stays() {
    let line = format!(r#"{{"a":"]}}\"[","b":{},"c":{},"d":[2]}}"#, nested(MAX_DEPTH), nested(5000));
    let (read, is_cut) = read(&line);
    assert!(!is_cut);
    assert_eq!(read["a"], "]}\"[");
    assert_eq!(read["b"].to_string(), nested(MAX_DEPTH));
    let deepest = (0..MAX_DEPTH).fold(&read["c"], |value, _| &value[0]);
    assert_eq!(*deepest, "(nested too deep)");
    assert_eq!(read["d"][0], 2);
}

#[test]
fn wide_lines_are_left_alone_and_what_is_not_json_is_found_out() {
    let wide = format!(r#"{{"a":[{}0]}}"#, "[],{},".repeat(500));
    let prose = format!(r#"{{"a":"{}"}}"#, "so, it, goes [on] {and} ".repeat(10_000));
    for line in [wide.as_str(), &prose, &"{".repeat(10), "", "]]]]", &"]".repeat(200)] {
        let bounded = bounded(line).unwrap();
        assert!(matches!(bounded.text, Cow::Borrowed(same) if same == line) && !bounded.is_cut, "{line:.80}");
    }
    for line in ["[".repeat(500), many("1", 30_000) + "x", many("1", 30_000).replace(']', "}"), format!(r#"{{"a":{}"#, many("1", 30_000))] {
        assert!(bounded(&line).is_none(), "{line:.80}");
    }
}

#[test]
fn of_too_many_values_the_first_stay_and_so_does_every_other_field() {
    for element in ["1", r#""""#, "{}", "[]", "null", "[[[1]]]", r#"{"k":1}"#, r#"{"k":[1,{"x":","}]}"#, " 1 "] {
        let line = format!(
            r#"{{"method":"m","params":{{"sessionId":"s","update":{{"first":1,"raw": {} ,"last":{{"x":[2]}}}},"more":3}}}}"#,
            many(element, 100_000)
        );
        let (read, is_cut) = read(&line);
        assert!(is_cut, "{element}");
        assert!((1000..=MAX_PART + 100).contains(&count(&read)), "{element}: {}", count(&read));
        let update = &read["params"]["update"];
        assert_eq!((&update["first"], &update["last"]["x"][0], &read["params"]["more"]), (&json!(1), &json!(2), &json!(3)), "{element}");
        assert_eq!(update["raw"][0], serde_json::from_str::<Value>(element).unwrap());
    }
}

#[test]
fn many_parts_and_many_fields_have_a_bound_together() {
    let part = many("1", 15_000);
    let parts = (0..100).map(|number| format!(r#""p{number}":{part}"#)).collect::<Vec<_>>().join(",");
    let (value, is_cut) = read(&format!(r#"{{"params":{{{parts}}},"id":1}}"#));
    assert!(is_cut && count(&value) <= MAX_VALUES + 200 && value["id"] == 1);
    let fields = (0..50_000).map(|number| format!(r#""{number}":0"#)).collect::<Vec<_>>().join(",");
    let (value, is_cut) = read(&format!(r#"{{"params":{{{fields}}},"id":1}}"#));
    assert!(is_cut && count(&value) == MAX_FIELDS + 3 && value["id"] == 1);
    let few = (0..1_000).map(|number| format!(r#""{number}":0"#)).collect::<Vec<_>>().join(",");
    let frames = (0..1_000).map(|number| format!(r#""{number}":{{{few}}}"#)).collect::<Vec<_>>().join(",");
    let (value, _) = read(&format!(r#"{{"params":{{{frames}}},"id":1}}"#));
    assert!(count(&value) <= 2 * MAX_VALUES + 200);
}

#[test]
fn a_batch_is_read_up_to_its_bound_and_each_message_has_its_own_fields() {
    let message = r#"{"method":"m","params":{"update":{"a":[1,2,3]}}}"#;
    let (value, is_cut) = read(&many(message, 5_000));
    assert!(is_cut);
    assert_eq!(value.as_array().unwrap().len(), MAX_BATCH);
    assert_eq!(value[MAX_BATCH - 1]["params"]["update"]["a"][2], 3);
    let (value, is_cut) = read(&many("1", 100_000));
    assert!(is_cut && value.as_array().unwrap().len() == MAX_BATCH);
}

/// `serde_json` reads a text behind this key as JSON: it would be a way around every bound.
#[test]
fn a_text_is_never_parsed_as_json_of_its_own() {
    let hidden = format!("\"{}\"", many("1", 100_000));
    for key in
        [PARSED_KEY.to_owned(), PARSED_KEY.replace('$', "\\u0024"), PARSED_KEY.chars().map(|c| format!("\\u{:04x}", c as u32)).collect()]
    {
        for line in [
            format!(r#"{{"params":{{"raw":{{"{key}":{hidden}}}}}}}"#),
            format!(r#"{{"params":[{{"a":{{"{key}":{hidden}}}}}]}}"#),
            format!(r#"{{"{key}":{hidden}}}"#),
        ] {
            let (value, _) = read(&line);
            assert!(count(&value) < 10 && value.to_string().contains("$raw"), "{key}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever a parser accepts comes out smaller, as JSON, and with the same beginning.
    #[test]
    fn every_value_of_json_survives(elements in prop::collection::vec(any_json(), 1..6), times in 3_000usize..9_000) {
        let texts: Vec<String> = elements.iter().map(Value::to_string).collect();
        let line = format!(r#"{{"id":7,"params":{{"raw":{}}}}}"#, many(&texts.join(" ,\t"), times));
        let bounded = bounded(&line).unwrap();
        let value: Value = serde_json::from_str(&bounded.text).unwrap();
        prop_assert!(count(&value) <= MAX_PART + 100);
        prop_assert_eq!(&value["id"], 7);
        let whole: Value = serde_json::from_str(&line).unwrap();
        if !bounded.is_cut {
            prop_assert_eq!(value, whole);
        } else {
            prop_assert_eq!(&value["params"]["raw"][0], &whole["params"]["raw"][0]);
        }
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f32>().prop_map(|number| json!(number)),
        "[a\"\\\\{},:\\[\\]\u{1}ü😀 ]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec(("[a-z\"\\\\]{0,4}", inner), 0..5).prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}
