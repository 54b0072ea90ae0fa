//! The colours can be read: contrast AA (4.5) in both schemes, on the backgrounds a page is likely to have.

#![allow(clippy::unwrap_used)]

use render::HIGHLIGHT_CSS;

const LIGHT_BACKGROUNDS: [&str; 4] = ["#ffffff", "#f6f8fa", "#f5f5f4", "#f3f4f6"];
const DARK_BACKGROUNDS: [&str; 5] = ["#000000", "#0d1117", "#161b22", "#1e1e1e", "#22272e"];

/// The `--hl-…: #rrggbb` of the block that follows `selector`.
fn colours(selector: &str) -> Vec<(&'static str, &'static str)> {
    let at = HIGHLIGHT_CSS.find(selector).unwrap() + selector.len();
    let block = HIGHLIGHT_CSS[at..].trim_start().strip_prefix('{').unwrap();
    let block = &block[..block.find('}').unwrap()];
    let declarations = block.split(';').filter_map(|line| line.trim().split_once(':'));
    declarations.map(|(name, value)| (name.trim(), value.trim())).collect()
}

fn luminance(colour: &str) -> f64 {
    let channel = |at: usize| {
        let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
        if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
}

fn contrast(a: &str, b: &str) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn every_colour_is_readable_in_both_schemes() {
    let light = colours("\n:root ");
    let dark = colours("\n:root[data-theme=\"dark\"] ");
    let dark_by_system = colours("\n  :root:not([data-theme=\"light\"]) ");
    assert_eq!(dark, dark_by_system);
    let names = |colours: &[(&str, &str)]| colours.iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>();
    assert_eq!(names(&light), names(&dark));
    for (colours, backgrounds) in [(light, &LIGHT_BACKGROUNDS[..]), (dark, &DARK_BACKGROUNDS[..])] {
        for (name, colour) in colours {
            for background in backgrounds {
                let contrast = contrast(colour, background);
                assert!(contrast >= 4.5, "{name} {colour} on {background}: {contrast:.2}");
            }
        }
    }
}

#[test]
fn every_variable_that_is_used_is_set() {
    let set: Vec<_> = colours("\n:root ").iter().map(|(name, _)| *name).collect();
    for used in HIGHLIGHT_CSS.split("var(").skip(1) {
        let name = &used[..used.find(')').unwrap()];
        assert!(set.contains(&name), "{name}");
    }
}
