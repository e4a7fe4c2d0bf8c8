//! CPU time of the calling thread.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Measures the CPU time that the calling thread spends. It reports cost; nothing simulated depends on it.
#[derive(Clone, Copy, Debug)]
pub struct CpuTimer(Duration);

impl CpuTimer {
    /// Starts to measure.
    pub fn start() -> Self {
        Self(now())
    }

    /// CPU seconds of this thread since the start.
    pub fn seconds(self) -> f64 {
        now().saturating_sub(self.0).as_secs_f64()
    }
}

fn now() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_time() {
        let timer = CpuTimer::start();
        let mut x = 1u64;
        while timer.seconds() < 1e-4 {
            x = std::hint::black_box(x.wrapping_mul(3));
        }
        assert!(timer.seconds() >= 1e-4);
    }
}
