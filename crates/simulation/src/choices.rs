//! Every choice of a schedule, drawn from a seed or read back from a record.
//!
//! Choices are grouped by step, so that a schedule can be shrunk by leaving steps out: a choice that is missing is 0, and 0 is always
//! the harmless one.

/// The choices of one schedule, by step.
pub type Record = Vec<Vec<u16>>;

#[derive(Clone, Debug)]
pub struct Choices {
    source: Source,
    record: Record,
}

#[derive(Clone, Debug)]
enum Source {
    Random(Random),
    Replay { steps: Record, step: usize, at: usize },
}

/// SplitMix64.
#[derive(Clone, Debug)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

impl Choices {
    pub fn from_seed(seed: u64) -> Choices {
        let mut random = Random(seed.wrapping_mul(0xD134_2543_DE82_EF95).wrapping_add(1));
        random.next();
        Choices { source: Source::Random(random), record: Vec::new() }
    }

    pub fn replay(steps: Record) -> Choices {
        Choices { source: Source::Replay { steps, step: 0, at: 0 }, record: Vec::new() }
    }

    /// Begins the next step; whether there is one. A seed has as many as anybody wants.
    pub fn begin_step(&mut self) -> bool {
        let there = match &mut self.source {
            Source::Random(_) => true,
            Source::Replay { steps, step, at } => {
                *step += usize::from(!self.record.is_empty());
                *at = 0;
                *step < steps.len()
            }
        };
        if there {
            self.record.push(Vec::new());
        }
        there
    }

    pub fn is_replay(&self) -> bool {
        matches!(self.source, Source::Replay { .. })
    }

    /// One of `count`.
    pub fn draw(&mut self, count: usize) -> usize {
        let drawn = match &mut self.source {
            Source::Random(random) => (random.next() >> 16) as usize % count.max(1),
            Source::Replay { steps, step, at } => {
                let value = steps.get(*step).and_then(|choices| choices.get(*at)).copied().unwrap_or(0);
                *at += 1;
                usize::from(value) % count.max(1)
            }
        };
        if let Some(step) = self.record.last_mut() {
            step.push(drawn as u16);
        }
        drawn
    }

    /// Yes, once in `of` times.
    pub fn once_in(&mut self, of: usize) -> bool {
        of > 0 && self.draw(of) == of - 1
    }

    /// One of those with a weight, in proportion to it. In a replay the one that was chosen, if it still has a weight.
    pub fn weighted(&mut self, weights: &[u32]) -> Option<usize> {
        if self.is_replay() {
            let chosen = self.draw(weights.len());
            return (weights[chosen] > 0).then_some(chosen);
        }
        let total: u32 = weights.iter().sum();
        let Source::Random(random) = &mut self.source else { return None };
        let mut left = ((random.next() >> 16) % u64::from(total.max(1))) as u32;
        let chosen = weights.iter().position(|weight| {
            let here = left < *weight;
            left = left.saturating_sub(*weight);
            here
        })?;
        if let Some(step) = self.record.last_mut() {
            step.push(chosen as u16);
        }
        Some(chosen)
    }

    pub fn into_record(self) -> Record {
        self.record
    }
}

/// The compact form that `--replay` takes.
pub fn encode(record: &Record) -> String {
    let steps = record.iter().map(|step| {
        let end = step.iter().rposition(|choice| *choice != 0).map_or(0, |at| at + 1);
        step[..end].iter().map(u16::to_string).collect::<Vec<_>>().join(".")
    });
    steps.collect::<Vec<_>>().join(",")
}

pub fn decode(text: &str) -> Option<Record> {
    let step = |step: &str| step.split('.').filter(|choice| !choice.is_empty()).map(|choice| choice.parse().ok()).collect();
    text.split(',').map(step).collect()
}
