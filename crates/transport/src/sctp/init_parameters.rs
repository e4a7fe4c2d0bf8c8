//! The peer's parameters in INIT and INIT ACK (RFC 9260, sections 3.3.2 and 5.1.2).

use std::net::IpAddr;

use subflow_quantity::Duration;
use subflow_wire::sctp::{ErrorCause, InitChunk, Parameter, chunk_type};

use super::config::Config;
use super::cookie::{Extensions, MAX_PEER_ADDRESSES};

/// The least receive window that a peer may offer (RFC 9260, section 3.3.2).
const MIN_PEER_WINDOW: u32 = 1500;
/// The maximum extension of a cookie's lifetime on request (section 5.2.6 recommends caution).
const MAX_COOKIE_PROLONGATION: Duration = Duration::from_secs(60);

/// A valid INIT or INIT ACK.
#[derive(Clone, Debug)]
pub(crate) struct Offer {
    pub(crate) tag: u32,
    pub(crate) tsn: u32,
    pub(crate) window: u32,
    pub(crate) outbound_streams: u16,
    pub(crate) inbound_streams: u16,
    /// The address that it came from first.
    pub(crate) addresses: Vec<IpAddr>,
    pub(crate) extensions: Extensions,
    pub(crate) cookie: Option<Box<[u8]>>,
    /// Parameters that are to be reported.
    pub(crate) unrecognized: Vec<Box<[u8]>>,
    pub(crate) prolongation: Duration,
}

/// Why an INIT or INIT ACK is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unusable {
    /// Its initiate tag is 0: there is none to answer with.
    NoTag,
    /// It is refused with this cause.
    Because(ErrorCause),
}

impl Offer {
    /// Reads what came from `source`.
    pub(crate) fn read(init: &InitChunk, source: IpAddr, config: &Config) -> Result<Self, Unusable> {
        if init.initiate_tag == 0 {
            return Err(Unusable::NoTag);
        }
        if init.a_rwnd < MIN_PEER_WINDOW || init.outbound_streams == 0 || init.inbound_streams == 0 {
            return Err(Unusable::Because(ErrorCause::InvalidMandatoryParameter));
        }
        // Also behind an unknown parameter that ends the processing: INIT ACK is answered with COOKIE ECHO then, too
        // (section 3.2.1).
        let cookie = init.parameters.iter().find_map(|parameter| match parameter {
            Parameter::StateCookie(cookie) => Some(cookie.clone()),
            _ => None,
        });
        let mut offer = Self {
            tag: init.initiate_tag,
            tsn: init.initial_tsn,
            window: init.a_rwnd,
            outbound_streams: init.outbound_streams,
            inbound_streams: init.inbound_streams,
            addresses: vec![source],
            extensions: Extensions::default(),
            cookie,
            unrecognized: Vec::new(),
            prolongation: Duration::ZERO,
        };
        for parameter in &init.parameters {
            match parameter {
                Parameter::Ipv4Address(_) | Parameter::Ipv6Address(_) => {
                    parameter.address().into_iter().for_each(|address| offer.add_address(address));
                }
                Parameter::CookiePreservative { increment_ms } => {
                    offer.prolongation = Duration::from_millis(u64::from(*increment_ms)).min(MAX_COOKIE_PROLONGATION);
                }
                Parameter::HostName(_) => {
                    let cause = ErrorCause::UnresolvableAddress(parameter.to_bytes());
                    return Err(Unusable::Because(cause));
                }
                Parameter::SupportedExtensions(types) => {
                    offer.extensions.forward_tsn |= types.contains(&chunk_type::FORWARD_TSN);
                    offer.extensions.nr_sack |= types.contains(&chunk_type::NR_SACK);
                }
                Parameter::ForwardTsnSupported => offer.extensions.forward_tsn = true,
                Parameter::EcnCapable => offer.extensions.ecn = true,
                Parameter::Unknown(raw) => {
                    if raw.is_reportable() {
                        offer.unrecognized.push(parameter.to_bytes());
                    }
                    if !raw.is_skippable() {
                        break;
                    }
                }
                Parameter::StateCookie(_)
                | Parameter::Unrecognized(_)
                | Parameter::SupportedAddressTypes(_)
                | Parameter::AdaptationIndication(_) => {}
            }
        }
        offer.extensions.forward_tsn &= config.partial_reliability;
        offer.extensions.nr_sack &= config.nr_sack;
        offer.extensions.ecn &= config.ecn;
        Ok(offer)
    }

    /// Invalid unicast addresses, and those of another family than the one in use, are ignored (section 5.1.2).
    fn add_address(&mut self, address: IpAddr) {
        let is_broadcast = matches!(address, IpAddr::V4(v4) if v4.is_broadcast());
        let usable = !address.is_unspecified() && !address.is_multicast() && !is_broadcast;
        let family = self.addresses[0].is_ipv4() == address.is_ipv4();
        if usable && family && !self.addresses.contains(&address) && self.addresses.len() < MAX_PEER_ADDRESSES {
            self.addresses.push(address);
        }
    }

    /// The numbers of streams to the peer and from the peer, where this side has `config`: of each the smaller of the
    /// number requested by one side and the number allowed by the other (section 5.1.1).
    pub(crate) fn streams(&self, config: &Config) -> (u16, u16) {
        (config.streams.min(self.inbound_streams), config.inbound_streams.min(self.outbound_streams))
    }
}

/// The parameters that this side sends: its other addresses and the extensions that it supports.
pub(crate) fn own_parameters(config: &Config, locals: &[IpAddr]) -> Vec<Parameter> {
    let mut parameters = Vec::new();
    if config.multihomed && locals.len() > 1 {
        parameters.extend(locals.iter().map(|&local| Parameter::of_address(local)));
    }
    let mut extensions = Vec::new();
    if config.partial_reliability {
        extensions.push(chunk_type::FORWARD_TSN);
    }
    if config.nr_sack {
        extensions.push(chunk_type::NR_SACK);
    }
    if !extensions.is_empty() {
        parameters.push(Parameter::SupportedExtensions(extensions));
    }
    if config.partial_reliability {
        parameters.push(Parameter::ForwardTsnSupported);
    }
    if config.ecn {
        parameters.push(Parameter::EcnCapable);
    }
    parameters
}
