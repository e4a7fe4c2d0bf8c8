//! Error causes of SCTP.

use subflow_wire::sctp::ErrorCause;

use super::fields::Fields;
use crate::value::{Field, Value};

pub(super) fn describe_causes(reflected: bool, causes: &[ErrorCause]) -> Vec<Field> {
    let flag = reflected.then(|| Field::flag("reflected"));
    flag.into_iter().chain(causes.iter().map(describe)).collect()
}

fn describe(cause: &ErrorCause) -> Field {
    let detail = match cause {
        ErrorCause::InvalidStreamIdentifier { stream } => Some(Value::Number((*stream).into())),
        ErrorCause::StaleCookie { staleness_us: value } | ErrorCause::NoUserData { tsn: value } => {
            Some(Value::Number((*value).into()))
        }
        ErrorCause::MissingMandatoryParameter(types) => {
            Some(Value::Bytes(types.iter().flat_map(|kind| kind.to_be_bytes()).collect()))
        }
        ErrorCause::UnresolvableAddress(bytes)
        | ErrorCause::UnrecognizedChunkType(bytes)
        | ErrorCause::UnrecognizedParameters(bytes)
        | ErrorCause::RestartWithNewAddresses(bytes)
        | ErrorCause::UserInitiatedAbort(bytes)
        | ErrorCause::ProtocolViolation(bytes)
        | ErrorCause::Unknown { value: bytes, .. } => Some(Value::Bytes(bytes.to_vec())),
        ErrorCause::OutOfResource
        | ErrorCause::InvalidMandatoryParameter
        | ErrorCause::CookieReceivedWhileShuttingDown => None,
    };
    let code = Value::Number(cause.code().into());
    Field::values("cause", core::iter::once(code).chain(detail).collect())
}

pub(super) fn build_causes(parts: Fields<'_>) -> Result<Vec<ErrorCause>, String> {
    parts.0.iter().filter(|field| field.name == "cause").map(build).collect()
}

/// Causes that a peer sends in scripts; others are written as raw chunks.
fn build(field: &Field) -> Result<ErrorCause, String> {
    let (code, number) = (field.number_at(0), field.number_at(1) as u32);
    let bytes = || field.bytes_at(1).into_boxed_slice();
    Ok(match code {
        1 => ErrorCause::InvalidStreamIdentifier { stream: number as u16 },
        3 => ErrorCause::StaleCookie { staleness_us: number },
        4 => ErrorCause::OutOfResource,
        5 => ErrorCause::UnresolvableAddress(bytes()),
        6 => ErrorCause::UnrecognizedChunkType(bytes()),
        7 => ErrorCause::InvalidMandatoryParameter,
        8 => ErrorCause::UnrecognizedParameters(bytes()),
        9 => ErrorCause::NoUserData { tsn: number },
        10 => ErrorCause::CookieReceivedWhileShuttingDown,
        12 => ErrorCause::UserInitiatedAbort(bytes()),
        13 => ErrorCause::ProtocolViolation(bytes()),
        14.. => ErrorCause::Unknown { code: code as u16, value: bytes() },
        _ => return Err(format!("cause {code} is written as a raw CHUNK")),
    })
}
