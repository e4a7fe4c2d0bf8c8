//! `subflow proxy`: our MPTCP for applications, or our multipath QUIC between two proxies.

use std::net::{Ipv4Addr, SocketAddr};

use subflow_proxy::tunnel::{
    self, Allowed, ClientSettings, Fingerprint, Identity, ServerSettings, run_client, run_server,
};
use subflow_proxy::{Options, Settings, dry_run, run};
use subflow_scenario::file::{did_you_mean, list};

use super::logging::start_logging;
use crate::arguments::{Proxy, ProxyTransport, Tunnel};
use crate::commands::ending_signals::ending_signals;
use crate::failure::Failure;

/// Where applications connect without `--listen`.
const LISTEN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 1080);
/// The largest packet of a tunnel without `--mtu`, in bytes: what every path of IPv6 carries (RFC 8200, section 5).
const TUNNEL_MTU: u16 = 1280;

pub(crate) fn proxy(arguments: &Proxy) -> Result<(), Failure> {
    if arguments.via.len() > 16 {
        return Err(Failure::bad_input("--via names more than 16 interfaces", "name fewer"));
    }
    let tunnel = &arguments.tunnel;
    if tunnel.server {
        return server(arguments, tunnel);
    }
    if arguments.transport == ProxyTransport::Mpquic {
        return client(arguments, tunnel);
    }
    if tunnel.to.is_some() || tunnel.certificate.is_some() || tunnel.key.is_some() || !tunnel.peer.is_empty() {
        let help = "add --transport mpquic, or --server at the other end";
        return Err(Failure::bad_input("--to, --certificate, --key and --peer are those of a tunnel", help));
    }
    let options = Options::named(&arguments.congestion, &arguments.scheduler, &arguments.paths).map_err(unknown)?;
    let options = Options { mtu: arguments.mtu.unwrap_or(u16::MAX), ..options };
    let settings = Settings { listen: arguments.listen.unwrap_or(LISTEN), via: arguments.via.clone(), options };
    if arguments.dry_run {
        return crate::output::print(&dry_run(&settings).map_err(failure)?);
    }
    start_logging(arguments.log);
    warn_of_applications_elsewhere(settings.listen);
    run(&settings, ending_signals(), |line| log::info!("{line}")).map_err(failure)
}

/// The end of a tunnel where the applications are.
fn client(arguments: &Proxy, tunnel: &Tunnel) -> Result<(), Failure> {
    let Some(server) = tunnel.to else {
        return Err(Failure::bad_input("--transport mpquic has no server", "name it with --to ADDRESS:PORT"));
    };
    let settings = ClientSettings {
        listen: arguments.listen.unwrap_or(LISTEN),
        via: arguments.via.clone(),
        server,
        accepted: accepted(tunnel)?,
        identity: identity(tunnel)?,
        options: options(arguments)?,
    };
    start_logging(arguments.log);
    warn_of_applications_elsewhere(settings.listen);
    run_client(settings, ending_signals(), |line| log::info!("{line}")).map_err(failure)
}

/// The end that connects to destinations.
fn server(arguments: &Proxy, tunnel: &Tunnel) -> Result<(), Failure> {
    let Some(listen) = arguments.listen else {
        return Err(Failure::bad_input("--server has no address", "name it with --listen ADDRESS:PORT"));
    };
    let allowed = |text: &String| {
        let refused = |error| Failure::bad_input(format!("--allow {text:?} names no destinations"), format!("{error}"));
        text.parse::<Allowed>().map_err(refused)
    };
    let allowed = tunnel.allow.iter().map(allowed).collect::<Result<Vec<_>, _>>()?;
    let settings = ServerSettings {
        listen,
        accepted: accepted(tunnel)?,
        identity: identity(tunnel)?,
        allowed,
        options: options(arguments)?,
    };
    start_logging(arguments.log);
    run_server(settings, ending_signals(), |line| log::info!("{line}")).map_err(failure)
}

fn options(arguments: &Proxy) -> Result<subflow_proxy::tunnel::Options, Failure> {
    let Proxy { congestion, scheduler, paths, mtu, .. } = arguments;
    tunnel::options(congestion, scheduler, paths, mtu.unwrap_or(TUNNEL_MTU)).map_err(unknown)
}

fn accepted(tunnel: &Tunnel) -> Result<Vec<Fingerprint>, Failure> {
    let accepted = tunnel.peer.iter().map(|text| Fingerprint::accepted(text)).collect::<Result<Vec<_>, _>>();
    Ok(accepted.map_err(failure)?.concat())
}

fn identity(tunnel: &Tunnel) -> Result<Identity, Failure> {
    let (Some(certificate), Some(key)) = (&tunnel.certificate, &tunnel.key) else {
        let help = "name their PEM files with --certificate and --key";
        return Err(Failure::bad_input("each end of a tunnel has a certificate with its key", help));
    };
    Identity::read(certificate, key).map_err(failure)
}

fn warn_of_applications_elsewhere(listen: SocketAddr) {
    if !listen.ip().is_loopback() {
        log::warn!("the proxy has no authentication of applications: everybody who can reach the address may use it");
    }
}

/// Undoes what killed proxies have left, and reports what it did, a line each.
pub(crate) fn cleanup(report: &mut dyn FnMut(&str)) -> Result<(), Failure> {
    subflow_proxy::cleanup(report).map_err(failure)
}

fn failure(error: subflow_proxy::Error) -> Failure {
    use subflow_proxy::Error;

    match error {
        Error::Settings { problem, help } | Error::Machine { problem, help } => Failure::bad_input(problem, help),
        Error::Both { first, later } => match *first {
            Error::Settings { problem, help } | Error::Machine { problem, help } => {
                Failure::bad_input(format!("{problem}; {later}"), help)
            }
            first => Failure::RunFailed(format!("{first}; {later}")),
        },
        other => Failure::RunFailed(other.to_string()),
    }
}

fn unknown(error: subflow_proxy::UnknownName) -> Failure {
    let known = || error.known.iter().copied();
    let otherwise = format!("there are {}", list(known()));
    Failure::bad_input(error.to_string(), did_you_mean(&error.name, known(), &otherwise))
}
