//! Random numbers from a seed: the same seed gives the same cases.

/// SplitMix64.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0xD134_2543_DE82_EF95).wrapping_add(1))
    }

    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Less than `bound`; 0 where the bound is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.draw() % (bound.max(1) as u64)).unwrap_or_default()
    }

    /// Small numbers more often than large ones.
    pub fn small(&mut self, bound: usize) -> usize {
        let bits = self.below(usize::BITS as usize - bound.max(1).leading_zeros() as usize + 1);
        self.below(bound.min(1 << bits.min(62)))
    }

    /// True in one of `n` cases.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn byte(&mut self) -> u8 {
        self.draw().to_le_bytes()[0]
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.below(from.len()))
    }
}
