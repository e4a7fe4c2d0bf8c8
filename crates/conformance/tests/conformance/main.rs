//! Scripts of protocol tests: their language, those of `conformance/`, and the kernel.

mod failures;
#[cfg(all(target_os = "linux", feature = "linux"))]
mod on_linux;
mod reading;
mod scripts;
