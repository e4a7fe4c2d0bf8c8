//! MP_TCPRST: the reason for the reset of a subflow.

use super::{finish_option, start_option, subtype};
use crate::reader::Reader;

/// The reason for the reset of a subflow (RFC 8684, section 3.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResetReason {
    /// T: the condition is transient.
    pub transient: bool,
    /// The reason code (RFC 8684, table 3).
    pub code: u8,
}

/// T, in the low half of the third byte.
const TRANSIENT: u8 = 0x1;

impl ResetReason {
    /// Bytes the option takes.
    pub(super) const LENGTH: u32 = 4;

    /// Code 0: unspecified error.
    pub const UNSPECIFIED: Self = Self { transient: false, code: 0 };
    /// Code 1: an MPTCP-specific error, such as a bad HMAC or token.
    pub const MPTCP_SPECIFIC: Self = Self { transient: false, code: 1 };
    /// Code 2: the host lacks resources for the subflow.
    pub const LACK_OF_RESOURCES: Self = Self { transient: true, code: 2 };
    /// Code 3: administratively prohibited.
    pub const PROHIBITED: Self = Self { transient: false, code: 3 };
    /// Code 4: too much outstanding data; the subflow is slow.
    pub const TOO_MUCH_OUTSTANDING_DATA: Self = Self { transient: true, code: 4 };
    /// Code 5: unacceptable performance.
    pub const UNACCEPTABLE_PERFORMANCE: Self = Self { transient: true, code: 5 };
    /// Code 6: a middlebox interferes with MPTCP signalling.
    pub const MIDDLEBOX_INTERFERENCE: Self = Self { transient: false, code: 6 };

    pub(super) fn emit(self, out: &mut Vec<u8>) {
        let start = start_option(Self::LENGTH, subtype::RESET, if self.transient { TRANSIENT } else { 0 }, out);
        out.push(self.code);
        finish_option(start, out);
    }

    /// Parses the bytes after subtype and flags.
    pub(super) fn parse(flags: u8, mut reader: Reader<'_>) -> Option<Self> {
        let code = reader.u8()?;
        reader.finish(Self { transient: flags & TRANSIENT != 0, code })
    }
}
