//! A C++ program for ns-3: point-to-point links, global routing, and bulk transfers over TCP.

use std::fmt::Write;

use subflow_policy::queue::Limit;
use subflow_scenario::{Flow, Period, Traffic};

use crate::Exported;
use crate::Notes;
use crate::conditions::Conditions;
use crate::layout::{End, Layout};

/// What stands for a link without a rate.
const FASTEST_BITS: u64 = 1_000_000_000_000;

pub(crate) fn write(layout: Layout<'_>) -> Exported {
    let mut notes = layout.notes.clone();
    let mut body = format!("    NodeContainer nodes;\n    nodes.Create({});\n\n", layout.nodes.len());
    for (number, node) in layout.nodes.iter().enumerate() {
        let _ = writeln!(body, "    Names::Add(\"{}\", nodes.Get({number}));", node.label);
    }
    body.push_str("    InternetStackHelper().Install(nodes);\n\n");
    for cable in &layout.cables {
        let [up, down] = &cable.directions;
        if up.delay != down.delay {
            notes.add(&cable.name, "a channel has one delay: that of the first direction is both");
        }
        let ends = cable.ends.map(|end| end.node);
        let _ = writeln!(
            body,
            "    connect(nodes.Get({}), nodes.Get({}), \"{}\", {{{}}}, {{{}}}, NanoSeconds({}));",
            ends[0],
            ends[1],
            cable.ends[0].address,
            direction(up, &cable.name, &mut notes),
            direction(down, &cable.name, &mut notes),
            up.delay.as_nanos()
        );
    }
    body.push_str("    Ipv4GlobalRoutingHelper::PopulateRoutingTables();\n\n");
    for (flow, ends) in layout.flows() {
        match traffic(flow, ends, layout.scenario.duration.as_secs_f64(), &mut notes) {
            Ok(line) => body.push_str(&line),
            Err(why) => notes.add(&flow.name, format!("the flow is left out: {why}")),
        }
    }
    notes.add("", "point-to-point links of ns-3 add 2 bytes to each packet, and their queues do not count the packet in transmission");
    let title = format!("The network of {:?} for ns-3.37 or later", layout.scenario.name);
    let usage = "g++ -O2 -std=c++17 FILE $(pkg-config --cflags --libs ns3-applications ns3-point-to-point ns3-traffic-control) -o NAME \
                 && ./NAME; or as scratch/NAME.cc: ./ns3 run NAME";
    let text = format!(
        "{}{PROLOGUE}\nint main(int argc, char* argv[])\n{{\n    CommandLine(__FILE__).Parse(argc, argv);\n{DEFAULTS}{body}    \
         Simulator::Stop(NanoSeconds({}));\n    Simulator::Run();\n    report(Seconds({}));\n    Simulator::Destroy();\n}}\n",
        notes.heading("//", &title, usage),
        layout.scenario.duration.as_nanos(),
        layout.scenario.duration.as_secs_f64(),
    );
    Exported { text, notes: notes.lines() }
}

const DEFAULTS: &str = r#"    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 23));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 23));
    // As in Linux.
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));

"#;

const PROLOGUE: &str = r#"
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <iostream>
#include <string>
#include <vector>

using namespace ns3;

/// One direction of a link: its rate, the limit of its queue, and the probability of a loss.
struct Direction
{
    uint64_t rate;
    std::string queue;
    double loss;
};

/// A flow whose goodput is printed.
struct Sink
{
    std::string name;
    Ptr<PacketSink> sink;
    double start;
};

static std::vector<Sink> sinks;

/// Joins two nodes by a link; the first has this address, the second the next one.
static void connect(Ptr<Node> a, Ptr<Node> b, const std::string& address, const Direction& up, const Direction& down, Time delay)
{
    PointToPointHelper link;
    link.SetChannelAttribute("Delay", TimeValue(delay));
    NetDeviceContainer devices = link.Install(a, b);
    for (uint32_t end = 0; end < 2; ++end)
    {
        const Direction& way = end == 0 ? up : down;
        auto device = DynamicCast<PointToPointNetDevice>(devices.Get(end));
        device->SetDataRate(DataRate(way.rate));
        device->GetQueue()->SetMaxSize(QueueSize(way.queue));
        // Packets are lost on arrival at the other end.
        auto loss = CreateObject<RateErrorModel>();
        loss->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
        loss->SetRate(way.loss);
        devices.Get(1 - end)->SetAttribute("ReceiveErrorModel", PointerValue(loss));
    }
    Ipv4Address network(Ipv4Address(address.c_str()).Get() - 1);
    Ipv4AddressHelper addresses(network, "255.255.255.252");
    addresses.Assign(devices);
    // Otherwise a second queue would wait above the device's.
    TrafficControlHelper().Uninstall(devices);
}

/// Sends so many bytes (0: without end) over TCP.
static void bulk(const std::string& name, Ptr<Node> from, Ptr<Node> to, const char* address, uint16_t port, uint64_t bytes,
                 double start, double stop, const std::string& congestion)
{
    TypeId type = TypeId::LookupByName(congestion);
    std::string node = "/NodeList/" + std::to_string(from->GetId());
    Config::Set(node + "/$ns3::TcpL4Protocol/SocketType", TypeIdValue(type));
    BulkSendHelper sender("ns3::TcpSocketFactory", InetSocketAddress(address, port));
    sender.SetAttribute("MaxBytes", UintegerValue(bytes));
    ApplicationContainer source = sender.Install(from);
    source.Start(Seconds(start));
    source.Stop(Seconds(stop));
    PacketSinkHelper receiver("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
    sinks.push_back({name, DynamicCast<PacketSink>(receiver.Install(to).Get(0)), start});
}

/// Sends datagrams at a rate: payload bits a second, payload bytes of each.
static void datagrams(const std::string& name, Ptr<Node> from, Ptr<Node> to, const char* address, uint16_t port,
                      uint64_t rate, uint32_t packet, double start, double stop)
{
    OnOffHelper sender("ns3::UdpSocketFactory", InetSocketAddress(address, port));
    sender.SetConstantRate(DataRate(rate), packet);
    ApplicationContainer source = sender.Install(from);
    source.Start(Seconds(start));
    source.Stop(Seconds(stop));
    PacketSinkHelper receiver("ns3::UdpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
    sinks.push_back({name, DynamicCast<PacketSink>(receiver.Install(to).Get(0)), start});
}

/// Prints the goodput of each flow, from its start to the end.
static void report(Time end)
{
    for (const Sink& flow : sinks)
    {
        double bits = flow.sink->GetTotalRx() * 8.0;
        std::cout << flow.name << ": " << bits / (end.GetSeconds() - flow.start) / 1e6 << " Mbit/s\n";
    }
}
"#;

/// The members of `Direction`.
fn direction(conditions: &Conditions, name: &str, notes: &mut Notes) -> String {
    if conditions.rate.is_none() {
        notes.add(name, "a device of ns-3 has a rate: 1 Tbit/s stands for an unlimited one");
    }
    if !conditions.is_drop_tail() {
        notes.add(name, format!("the queue is drop-tail instead of {}", conditions.discipline.name()));
    }
    let queue = match conditions.limit {
        Limit::Unlimited => "1000000p".to_owned(),
        // The packet in transmission is not in the queue of a device.
        Limit::Packets(packets) => format!("{}p", packets.saturating_sub(1).max(1)),
        Limit::Bytes(bytes) => format!("{bytes}B"),
    };
    let rate = conditions.rate.map_or(FASTEST_BITS, subflow_quantity::Rate::bits_per_second);
    format!("{rate}ULL, \"{queue}\", {}", conditions.loss)
}

fn traffic(flow: &Flow, ends: [End; 2], duration: f64, notes: &mut Notes) -> Result<String, String> {
    let (start, stop) = (flow.start.as_secs_f64(), flow.stop.map_or(duration, |stop| stop.as_secs_f64()));
    let at = format!(
        "{:?}, nodes.Get({}), nodes.Get({}), \"{}\", {}",
        flow.name, ends[0].node, ends[1].node, ends[1].address, flow.port
    );
    if flow.dscp.traffic_class() > 0 {
        notes.add(&flow.name, "its packets leave without the DSCP");
    }
    match (&flow.traffic, flow.protocol.name()) {
        (Traffic::Bulk { bytes }, name @ ("tcp" | "mptcp")) => {
            if name == "mptcp" {
                notes.add(&flow.name, "ns-3 has no MPTCP: it is TCP over the first path");
            }
            let congestion = congestion(flow, notes);
            Ok(format!("    bulk({at}, {}, {start}, {stop}, \"ns3::{congestion}\");\n", bytes.unwrap_or(0)))
        }
        (Traffic::OnOff { rate, packet, off: Period::Constant(off), .. }, _) if off.as_nanos() == 0 => {
            Ok(format!("    datagrams({at}, {}, {packet}, {start}, {stop});\n", rate.bits_per_second()))
        }
        (Traffic::Bulk { .. }, name) => Err(format!("ns-3 has no {name}")),
        _ => Err("it is no bulk transfer, nor datagrams at a constant rate".to_owned()),
    }
}

/// The congestion control of ns-3 with the same name, else NewReno.
fn congestion(flow: &Flow, notes: &mut Notes) -> &'static str {
    match flow.congestion().map_or("reno", |algorithm| algorithm.name()) {
        "reno" => "TcpLinuxReno",
        "cubic" => "TcpCubic",
        "vegas" => "TcpVegas",
        "bbr" => "TcpBbr",
        "dctcp" => "TcpDctcp",
        other => {
            notes.add(&flow.name, format!("NewReno instead of {other}, which ns-3 lacks"));
            "TcpNewReno"
        }
    }
}
