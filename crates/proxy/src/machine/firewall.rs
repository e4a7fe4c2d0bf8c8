//! Masquerading, and what keeps the machine from forwarding for others: nftables, or iptables where there is no nft.

use std::net::IpAddr;

use super::step::{self, Step};
use crate::error::{Error, Result};

/// The command that there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Firewall {
    Nft,
    Iptables,
}

/// What the firewall has to do for one address of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Translation {
    pub(crate) address: IpAddr,
    pub(crate) interface: String,
    /// Whether the machine did not forward from the interface before.
    pub(crate) forwards_for_us_only: bool,
}

impl Firewall {
    pub(crate) fn find() -> Result<Self> {
        let works = |words: [&str; 2]| step::run(&words.map(str::to_owned), "").is_ok();
        match () {
            () if works(["nft", "--version"]) => Ok(Self::Nft),
            () if works(["iptables", "--version"]) => Ok(Self::Iptables),
            () => Err(Error::bad_input("there is neither nft nor iptables", "install one: apt install nftables")),
        }
    }

    /// The table of proxy `number`, for nft.
    pub(crate) fn table_of(number: u8) -> String {
        format!("subflow_proxy_{number}")
    }

    /// The tables of the family `inet` that there are. None without the right to list them.
    pub(crate) fn tables(self) -> Vec<String> {
        let listed = match self {
            Self::Nft => step::run(&["nft", "list", "tables", "inet"].map(str::to_owned), ""),
            Self::Iptables => Ok(String::new()),
        };
        let listed = listed.unwrap_or_default();
        listed.lines().filter_map(|line| line.split_whitespace().last()).map(str::to_owned).collect()
    }

    /// The steps that set it up, each with the one that undoes it. `devices` is what the names of the proxy's devices
    /// begin with, `number` the proxy's.
    pub(crate) fn steps(self, number: u8, devices: &str, translations: &[Translation]) -> Vec<(Step, Step)> {
        match self {
            Self::Nft => vec![nft(number, devices, translations)],
            Self::Iptables => translations.iter().flat_map(|one| iptables(devices, one)).collect(),
        }
    }
}

/// A table of our own, which is removed as a whole.
fn nft(number: u8, devices: &str, translations: &[Translation]) -> (Step, Step) {
    let (mut nat, mut filter) = (String::new(), String::new());
    for Translation { address, interface, forwards_for_us_only } in translations {
        let source = format!("{} saddr {address}", if address.is_ipv4() { "ip" } else { "ip6" });
        nat += &format!("    {source} oifname \"{interface}\" masquerade\n");
        // What connection tracking does not know is not translated either, and must not leave.
        filter += &format!("    {source} ct state invalid drop\n");
        if *forwards_for_us_only {
            let family = if address.is_ipv4() { "ipv4" } else { "ipv6" };
            filter += &format!("    meta nfproto {family} iifname \"{interface}\" oifname != \"{devices}*\" drop\n");
        }
    }
    let table = Firewall::table_of(number);
    let input = format!(
        "table inet {table} {{\n  chain postrouting {{\n    type nat hook postrouting priority 100;\n{nat}  }}\n  \
         chain forward {{\n    type filter hook forward priority 0;\n{filter}  }}\n}}\n"
    );
    let words = ["nft", "-f", "-"].map(str::to_owned).to_vec();
    (Step::Run { words, input }, Step::run(&format!("nft delete table inet {table}")))
}

fn iptables(devices: &str, translation: &Translation) -> Vec<(Step, Step)> {
    let Translation { address, interface, forwards_for_us_only } = translation;
    let command = if address.is_ipv4() { "iptables" } else { "ip6tables" };
    let mut rules = vec![
        ("-t nat", format!("POSTROUTING -s {address} -o {interface} -j MASQUERADE")),
        ("-t filter", format!("FORWARD -s {address} -m conntrack --ctstate INVALID -j DROP")),
    ];
    if *forwards_for_us_only {
        rules.push(("-t filter", format!("FORWARD -i {interface} ! -o {devices}+ -j DROP")));
    }
    let step =
        |action: &str, (table, rule): &(&str, String)| Step::run(&format!("{command} -w {table} {action} {rule}"));
    rules.iter().map(|rule| (step("-I", rule), step("-D", rule))).collect()
}
