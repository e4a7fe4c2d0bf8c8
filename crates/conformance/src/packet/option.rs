//! MPTCP options.

use subflow_wire::tcp::mptcp::{
    AddAddress, Capable, CapableFlags, DataAck, Dss, Join, Mapping, MptcpOption, ResetReason,
};

use super::fields::Fields;
use crate::value::{Field, Value};

pub(super) fn describe_dss(dss: &Dss) -> Field {
    let mut parts = Vec::new();
    if let Some(ack) = dss.data_ack {
        parts.push(Field::number(if ack.wide { "ack" } else { "ack4" }, ack.value));
    }
    if let Some(mapping) = dss.mapping {
        parts.push(Field::number(if mapping.wide { "dsn" } else { "dsn4" }, mapping.data_sequence));
        parts.push(Field::number("ssn", mapping.subflow_sequence));
        parts.push(Field::number("len", mapping.length));
        parts.extend(mapping.checksum.map(|checksum| Field::number("checksum", checksum)));
    }
    parts.extend(dss.data_fin.then(|| Field::flag("fin")));
    Field::group("dss", parts)
}

pub(super) fn build_dss(fields: Fields<'_>) -> Result<Dss, String> {
    let sized = |wide: &str, narrow: &str| match (fields.number(wide), fields.number(narrow)) {
        (Some(_), Some(_)) => Err(format!("dss has both {wide} and {narrow}")),
        (Some(value), None) => Ok(Some((value, true))),
        (None, Some(value)) => Ok(Some((value & 0xffff_ffff, false))),
        (None, None) => Ok(None),
    };
    let mapping = sized("dsn", "dsn4")?.map(|(data_sequence, wide)| Mapping {
        data_sequence,
        wide,
        subflow_sequence: fields.number("ssn").unwrap_or(0) as u32,
        length: fields.number("len").unwrap_or(0) as u16,
        checksum: fields.number("checksum").map(|checksum| checksum as u16),
    });
    if mapping.is_none() && (fields.has("ssn") || fields.has("len") || fields.has("checksum")) {
        return Err("dss has a mapping without dsn or dsn4".to_owned());
    }
    let data_ack = sized("ack", "ack4")?.map(|(value, wide)| DataAck { value, wide });
    Ok(Dss { data_ack, mapping, data_fin: fields.has("fin") })
}

pub(super) fn describe(option: &MptcpOption) -> Field {
    let flag = |is_set: bool, name: &'static str| is_set.then(|| Field::flag(name));
    match option {
        MptcpOption::Capable(capable) => describe_capable(capable),
        MptcpOption::Join(join) => Field::group("join", describe_join(join)),
        MptcpOption::AddAddress(announced) => {
            let mut parts: Vec<Field> = flag(announced.truncated_hmac.is_none(), "echo").into_iter().collect();
            parts.push(Field::number("id", announced.address_id));
            parts.push(Field::address("address", announced.address));
            parts.extend(announced.port.map(|port| Field::number("port", port)));
            parts.extend(announced.truncated_hmac.map(|hmac| Field::number("hmac", hmac)));
            Field::group("add_addr", parts)
        }
        MptcpOption::RemoveAddress(identifiers) => {
            Field::values("remove_addr", identifiers.iter().map(|id| Value::Number((*id).into())).collect())
        }
        MptcpOption::Priority { backup } => Field::group("prio", flag(*backup, "backup").into_iter().collect()),
        MptcpOption::Fail { data_sequence } => Field::number("fail", *data_sequence),
        MptcpOption::FastClose { receiver_key } => Field::number("fastclose", *receiver_key),
        MptcpOption::Reset(reason) => {
            let reason_code = Field::number("reason", reason.code);
            let transient = flag(reason.transient, "transient");
            Field::group("tcprst", core::iter::once(reason_code).chain(transient).collect())
        }
    }
}

fn describe_capable(capable: &Capable) -> Field {
    let mut parts = vec![Field::number("version", capable.version)];
    parts.extend(capable.flags.checksum_required.then(|| Field::flag("checksums")));
    parts.extend(capable.flags.deny_join_to_initial_address.then(|| Field::flag("deny_join")));
    parts.extend(capable.sender_key.map(|key| Field::number("key", key)));
    parts.extend(capable.receiver_key.map(|key| Field::number("peer_key", key)));
    parts.extend(capable.data_length.map(|length| Field::number("len", length)));
    parts.extend(capable.checksum.map(|checksum| Field::number("checksum", checksum)));
    Field::group("capable", parts)
}

fn describe_join(join: &Join) -> Vec<Field> {
    let backup_flag = |backup: bool| backup.then(|| Field::flag("backup"));
    match *join {
        Join::Syn { backup, address_id, token, nonce } => {
            let rest = [Field::number("id", address_id), Field::number("token", token), Field::number("nonce", nonce)];
            backup_flag(backup).into_iter().chain(rest).collect()
        }
        Join::SynAck { backup, address_id, truncated_hmac, nonce } => {
            let hmac = Field::number("hmac", truncated_hmac);
            let rest = [Field::number("id", address_id), hmac, Field::number("nonce", nonce)];
            backup_flag(backup).into_iter().chain(rest).collect()
        }
        Join::Ack { hmac } => vec![Field::bytes("hmac160", &hmac)],
    }
}

/// The option that `field` is, if it is one other than the DSS.
pub(super) fn build(field: &Field) -> Result<Option<MptcpOption>, String> {
    let fields = Fields(&field.parts);
    Ok(Some(match field.name {
        "capable" => MptcpOption::Capable(Capable {
            version: fields.number("version").unwrap_or(1) as u8,
            flags: CapableFlags {
                checksum_required: fields.has("checksums"),
                deny_join_to_initial_address: fields.has("deny_join"),
            },
            sender_key: fields.number("key"),
            receiver_key: fields.number("peer_key"),
            data_length: fields.number("len").map(|length| length as u16),
            checksum: fields.number("checksum").map(|checksum| checksum as u16),
        }),
        "join" => MptcpOption::Join(build_join(fields)?),
        "add_addr" => MptcpOption::AddAddress(AddAddress {
            address_id: fields.number("id").unwrap_or(0) as u8,
            address: fields.address("address").ok_or("add_addr has no address")?,
            port: fields.number("port").map(|port| port as u16),
            truncated_hmac: (!fields.has("echo")).then(|| fields.number("hmac").unwrap_or(0)),
        }),
        "remove_addr" => MptcpOption::RemoveAddress(field.numbers().map(|id| id as u8).collect()),
        "prio" => MptcpOption::Priority { backup: fields.has("backup") },
        "fail" => MptcpOption::Fail { data_sequence: field.number_at(0) },
        "fastclose" => MptcpOption::FastClose { receiver_key: field.number_at(0) },
        "tcprst" => MptcpOption::Reset(ResetReason {
            transient: fields.has("transient"),
            code: fields.number("reason").unwrap_or(0) as u8,
        }),
        _ => return Ok(None),
    }))
}

fn build_join(fields: Fields<'_>) -> Result<Join, String> {
    let (backup, address_id) = (fields.has("backup"), fields.number("id").unwrap_or(0) as u8);
    let nonce = fields.number("nonce").unwrap_or(0) as u32;
    match (fields.number("token"), fields.number("hmac"), fields.bytes("hmac160")) {
        (Some(token), None, None) => Ok(Join::Syn { backup, address_id, token: token as u32, nonce }),
        (None, Some(truncated_hmac), None) => Ok(Join::SynAck { backup, address_id, truncated_hmac, nonce }),
        (None, None, Some(hmac)) => {
            let hmac = hmac.try_into().map_err(|_| "hmac160 takes 20 bytes")?;
            Ok(Join::Ack { hmac })
        }
        _ => Err("join has one of token, hmac and hmac160".to_owned()),
    }
}
