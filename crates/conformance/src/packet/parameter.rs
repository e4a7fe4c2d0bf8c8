//! Parameters of INIT and INIT ACK.

use subflow_wire::sctp::{Parameter, RawParameter};

use super::fields::Fields;
use crate::value::{Field, Value};

pub(super) fn describe_parameter(parameter: &Parameter) -> Field {
    match parameter {
        Parameter::Ipv4Address(address) => Field::address("address", (*address).into()),
        Parameter::Ipv6Address(address) => Field::address("address", (*address).into()),
        Parameter::StateCookie(cookie) => Field::bytes("cookie", cookie),
        Parameter::Unrecognized(whole) => Field::bytes("unrecognized", whole),
        Parameter::CookiePreservative { increment_ms } => Field::number("preservative", *increment_ms),
        Parameter::HostName(name) => Field::bytes("host_name", name),
        Parameter::SupportedAddressTypes(types) => {
            Field::values("address_types", types.iter().map(|kind| Value::Number((*kind).into())).collect())
        }
        Parameter::EcnCapable => Field::flag("ecn"),
        Parameter::SupportedExtensions(types) => {
            Field::values("extensions", types.iter().map(|kind| Value::Number((*kind).into())).collect())
        }
        Parameter::ForwardTsnSupported => Field::flag("forward_tsn"),
        Parameter::AdaptationIndication(indication) => Field::number("adaptation", *indication),
        Parameter::Unknown(raw) => {
            Field::values("param", vec![Value::Number(raw.kind.into()), Value::Bytes(raw.value.to_vec())])
        }
    }
}

pub(super) fn build_parameters(parts: Fields<'_>) -> Result<Vec<Parameter>, String> {
    parts.0.iter().map(build).filter_map(Result::transpose).collect()
}

fn build(field: &Field) -> Result<Option<Parameter>, String> {
    let bytes = |index| field.bytes_at(index).into_boxed_slice();
    Ok(Some(match field.name {
        "address" => Parameter::of_address(field.address_value().ok_or("address has no address")?),
        "cookie" => Parameter::StateCookie(bytes(0)),
        "unrecognized" => Parameter::Unrecognized(bytes(0)),
        "preservative" => Parameter::CookiePreservative { increment_ms: field.number_at(0) as u32 },
        "host_name" => Parameter::HostName(bytes(0)),
        "address_types" => Parameter::SupportedAddressTypes(field.numbers().map(|kind| kind as u16).collect()),
        "ecn" => Parameter::EcnCapable,
        "extensions" => Parameter::SupportedExtensions(field.numbers().map(|kind| kind as u8).collect()),
        "forward_tsn" => Parameter::ForwardTsnSupported,
        "adaptation" => Parameter::AdaptationIndication(field.number_at(0) as u32),
        "param" => Parameter::Unknown(RawParameter { kind: field.number_at(0) as u16, value: bytes(1) }),
        _ => return Ok(None),
    }))
}
