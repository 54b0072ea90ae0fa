//! What happened, as numbered steps in words. Told only where somebody wants to read it.

#[derive(Clone, Debug, Default)]
pub struct Story {
    wanted: bool,
    step: usize,
    lines: Vec<String>,
}

impl Story {
    pub fn new(wanted: bool) -> Story {
        Story { wanted, ..Story::default() }
    }

    pub fn begin_step(&mut self) {
        self.step += 1;
    }

    pub fn tell(&mut self, line: impl FnOnce() -> String) {
        if self.wanted {
            self.lines.push(format!("{:4} {}", self.step, line()));
        }
    }

    pub fn lines(&self) -> &[String] {
        &self.lines
    }
}
