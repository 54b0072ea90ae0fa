//! The text format of Prometheus, version 0.0.4: a few lines of code, so no library is drawn in for it.

use std::fmt::{Display, Write as _};

use crate::Reading;

#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Counter,
    Gauge,
    Histogram,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        }
    }
}

#[derive(Default)]
pub(crate) struct Page(String);

impl Page {
    /// What follows are samples of this family, until the next one.
    pub(crate) fn family(&mut self, name: &str, kind: Kind, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {}", kind.word());
    }

    pub(crate) fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        self.0.push_str(name);
        for (place, (label, text)) in labels.iter().enumerate() {
            let _ = write!(self.0, "{}{label}=\"", if place == 0 { '{' } else { ',' });
            escape(text, &mut self.0);
            self.0.push('"');
        }
        if !labels.is_empty() {
            self.0.push('}');
        }
        let _ = writeln!(self.0, " {value}");
    }

    /// A family of one sample without labels.
    pub(crate) fn single(&mut self, name: &str, kind: Kind, help: &str, value: impl Display) {
        self.family(name, kind, help);
        self.sample(name, &[], value);
    }

    pub(crate) fn histogram(&mut self, name: &str, reading: &Reading) {
        let bucket = format!("{name}_bucket");
        let mut within = 0;
        for (bound, count) in reading.bounds.iter().zip(&reading.counts) {
            within += count;
            self.sample(&bucket, &[("le", &bound.to_string())], within);
        }
        let all: u64 = reading.counts.iter().sum();
        self.sample(&bucket, &[("le", "+Inf")], all);
        self.sample(&format!("{name}_sum"), &[], reading.sum_s);
        self.sample(&format!("{name}_count"), &[], all);
    }

    pub(crate) fn text(self) -> String {
        self.0
    }
}

/// Nothing that is told may end its label, or the line that it stands in.
fn escape(text: &str, into: &mut String) {
    for letter in text.chars() {
        match letter {
            '\\' => into.push_str("\\\\"),
            '"' => into.push_str("\\\""),
            '\n' => into.push_str("\\n"),
            // A reader that splits at it would see another line.
            '\r' => into.push(' '),
            other => into.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_told_as_prometheus_reads_it() {
        let mut page = Page::default();
        page.family("a_total", Kind::Counter, "what it is");
        page.sample("a_total", &[("x", "1"), ("y", "q\"\\\n\r}")], 7_u64);
        page.family("b_seconds", Kind::Histogram, "how long");
        page.histogram("b_seconds", &Reading { bounds: vec![0.5, 1.0], counts: vec![2, 0, 1], sum_s: 4.25 });
        let told = "# HELP a_total what it is\n# TYPE a_total counter\na_total{x=\"1\",y=\"q\\\"\\\\\\n }\"} 7\n\
                    # HELP b_seconds how long\n# TYPE b_seconds histogram\n\
                    b_seconds_bucket{le=\"0.5\"} 2\nb_seconds_bucket{le=\"1\"} 2\nb_seconds_bucket{le=\"+Inf\"} 3\n\
                    b_seconds_sum 4.25\nb_seconds_count 3\n";
        assert_eq!(page.text(), told);
    }
}
