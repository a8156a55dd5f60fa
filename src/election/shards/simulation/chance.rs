//! Random numbers by a seed.

pub(super) struct Chance {
    pub(super) seed: u64,
    state: u64,
}

impl Chance {
    pub(super) fn of(seed: u64) -> Self {
        Self { seed, state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d }
    }

    fn draw(&mut self) -> u64 {
        // xorshift64*
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    pub(super) fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.draw() % (most - least + 1)
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.draw() % u64::try_from(end).unwrap()).unwrap()
    }

    /// In milliseconds: mostly short, sometimes longer than a request waits.
    pub(super) fn latency(&mut self) -> u64 {
        match self.below(100) {
            0 => self.between(1_000, 6_000),
            1..10 => self.between(50, 900),
            _ => self.between(1, 15),
        }
    }
}
