//! Reproducible random numbers for tests: a failed test prints the seed.

/// Random numbers; the same seed gives the same ones (`SplitMix64`).
#[derive(Debug)]
pub(crate) struct SeededRng(u64);

impl SeededRng {
    pub(crate) fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below this one.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^= bits >> 31;
        usize::try_from(bits >> 33).unwrap_or_default() % limit
    }

    pub(crate) fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// True once in `times` on average.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

/// Runs a test with each seed, and prints the seed of a failure.
pub(crate) fn with_seeds(count: u64, mut test: impl FnMut(SeededRng)) {
    for seed in 0..count {
        let ending = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            test(SeededRng::seeded(seed));
        }));
        if let Err(panic) = ending {
            eprintln!("failed with seed {seed}");
            std::panic::resume_unwind(panic);
        }
    }
}
