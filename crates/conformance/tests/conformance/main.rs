//! Scripts of protocol tests: their language, those of `conformance/`, and the kernel.

mod failures;
#[cfg(target_os = "linux")]
mod on_linux;
mod reading;
mod scripts;
