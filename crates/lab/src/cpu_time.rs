//! CPU time of the calling thread.

use cpu_time::ThreadTime;

/// Measures the CPU time of the calling thread. No simulated result depends on it.
#[derive(Clone, Copy, Debug)]
pub struct CpuTimer(ThreadTime);

impl CpuTimer {
    /// Starts measuring.
    pub fn start() -> Self {
        Self(ThreadTime::now())
    }

    /// CPU seconds of this thread since the start.
    pub fn seconds(self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_cpu_time() {
        let timer = CpuTimer::start();
        let mut x = 1u64;
        while timer.seconds() < 1e-4 {
            x = std::hint::black_box(x.wrapping_mul(3));
        }
        assert!(timer.seconds() >= 1e-4);
    }
}
