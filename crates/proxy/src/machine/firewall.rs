//! Masquerading, and what keeps the machine from forwarding for others: nftables, or iptables where there is no nft.

use std::net::IpAddr;

use super::DEVICES;
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
            () => Err(Error::machine("there is neither nft nor iptables", "install one: apt install nftables")),
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

    /// The steps that set it up for proxy `number`, each with the one that undoes it.
    pub(crate) fn steps(self, number: u8, translations: &[Translation]) -> Vec<(Step, Step)> {
        match self {
            Self::Nft => vec![nft(number, translations)],
            Self::Iptables => translations.iter().flat_map(iptables).collect(),
        }
    }

    /// The step that makes proxy `number`, which is set up, drop what an interface would forward for others.
    pub(crate) fn close(self, number: u8, translation: &Translation) -> (Step, Option<Step>) {
        let table = Self::table_of(number);
        match self {
            // It ends with the table.
            Self::Nft => (Step::run(&format!("nft add rule inet {table} forward {}", nft_drop(translation))), None),
            Self::Iptables => {
                let [step, undo] = ["-I", "-D"].map(|action| iptables_drop(translation, action));
                (step, Some(undo))
            }
        }
    }
}

/// A table of our own, which is removed as a whole.
fn nft(number: u8, translations: &[Translation]) -> (Step, Step) {
    let (mut nat, mut filter) = (String::new(), String::new());
    for translation in translations {
        let Translation { address, interface, forwards_for_us_only } = translation;
        let source = format!("{} saddr {address}", if address.is_ipv4() { "ip" } else { "ip6" });
        nat += &format!("    {source} oifname \"{interface}\" masquerade\n");
        // What connection tracking does not know is not translated either, and must not leave.
        filter += &format!("    {source} ct state invalid drop\n");
        if *forwards_for_us_only {
            filter += &format!("    {}\n", nft_drop(translation));
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

/// What an interface would forward for others is dropped. Devices of other proxies are no others: several proxies may use
/// the same interface.
fn nft_drop(Translation { address, interface, .. }: &Translation) -> String {
    let family = if address.is_ipv4() { "ipv4" } else { "ipv6" };
    format!("meta nfproto {family} iifname \"{interface}\" oifname != \"{DEVICES}*\" drop")
}

fn iptables(translation: &Translation) -> Vec<(Step, Step)> {
    let Translation { address, interface, forwards_for_us_only } = translation;
    let rules = [
        ("-t nat", format!("POSTROUTING -s {address} -o {interface} -j MASQUERADE")),
        ("-t filter", format!("FORWARD -s {address} -m conntrack --ctstate INVALID -j DROP")),
    ];
    let step = |action: &str, (table, rule): &(&str, String)| {
        Step::run(&format!("{} -w {table} {action} {rule}", iptables_for(*address)))
    };
    let mut steps: Vec<(Step, Step)> = rules.iter().map(|rule| (step("-I", rule), step("-D", rule))).collect();
    if *forwards_for_us_only {
        steps.push((iptables_drop(translation, "-I"), iptables_drop(translation, "-D")));
    }
    steps
}

fn iptables_drop(Translation { address, interface, .. }: &Translation, action: &str) -> Step {
    let command = iptables_for(*address);
    Step::run(&format!("{command} -w -t filter {action} FORWARD -i {interface} ! -o {DEVICES}+ -j DROP"))
}

fn iptables_for(address: IpAddr) -> &'static str {
    if address.is_ipv4() { "iptables" } else { "ip6tables" }
}
