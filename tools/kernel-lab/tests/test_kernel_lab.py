"""What the laboratory does on the host. `.ci/kernel-lab` boots the machine besides."""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FOLDER = Path(__file__).parent.parent
sys.path.insert(0, str(FOLDER))

from kernel_lab import cases, image, machine, results, topology  # noqa: E402

HEADER = "case,protocol,cc,paths,loss_pct,duration_s,rep,flow,flow_start_s,bottleneck,host_qdisc,gso,ecn,tcp_limit_output,udp_sent\n"


def read(rows: str) -> list[cases.Case]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cases.csv"
        file.write_text(HEADER + rows)
        return cases.read(file)


class Cases(unittest.TestCase):
    def test_rows_of_a_run_are_one_case_and_its_row_of_all_flows_none(self) -> None:
        found = read(
            "C,tcp,reno,20/10/50,0,60,1,1,0,,,,,,\nC,tcp,cubic,20/10/50,0,60,1,2,1.0,,,,,,\n"
            "C,tcp+tcp,reno+cubic,20/10/50,0,60,1,all,,,,,,,\nA,tcp,bbr,20/10/50,0,30,1,1,0,,,,,,\n"
        )
        self.assertEqual([[flow.congestion for flow in case.flows] for case in found], [["reno", "cubic"], ["bbr"]])
        self.assertEqual(found[0].flows[1].start, 1.0)

    def test_names_tell_of_sizes_messages_and_failures(self) -> None:
        rows = [f"{name},tcp,reno,20/10/50;10/10/50,0;1,40,1,1,0,,,,,,\n" for name in
                ("F-100kB", "K7-10MB-fqcodel-ecn", "G-sctp-64k", "G-sctp-1452", "G-fail-path2-both")]
        found = read("".join(rows))
        self.assertEqual([case.size for case in found], [100_000, 10_000_000, 0, 0, 0])
        self.assertEqual([case.message for case in found[2:4]], [65_536, 1452])
        self.assertEqual(found[4].failure, (2, True))
        self.assertEqual([path.loss for path in found[0].paths], [0, 1])

    def test_what_is_no_configuration_is_named_with_its_line(self) -> None:
        for row, words in (
            ("A,tcp,reno,20/10,0,30,1,1,0,,,,,,", "paths: found '20/10'"),
            ("A,quic,reno,20/10/50,0,30,1,1,0,,,,,,", "protocol: found 'quic'"),
            ("A,tcp,reno; reboot,20/10/50,0,30,1,1,0,,,,,,", "cc: found"),
            ("A,tcp,reno,20/10/50,0,30,1,2,0,,,,,,", "flow: found '2'"),
            ("A,tcp,reno,20/10/50,0,30,1,1,0,cake,,,,,", "bottleneck: found 'cake'"),
            ("A-fail-path2-data,tcp,reno,20/10/50,0,30,1,1,0,,,,,,", "path 2 fails"),
        ):
            with self.assertRaisesRegex(cases.BadCase, r"cases\.csv.*" + words):
                read(row + "\n")


class Network(unittest.TestCase):
    def test_a_rate_of_tbf_counts_the_ethernet_header(self) -> None:
        case = read("K3-fqcodel-ecn,tcp,cubic,20/10/0,0,30,1,1,0,fqcodelecn,,off,1,default,\n")[0]
        text = topology.Topology(case).build()
        self.assertIn("tbf rate 20186667bit burst 2000", text)
        self.assertIn("fq_codel limit 10240 flows 1024 quantum 1514 target 5ms interval 100ms ecn", text)
        self.assertIn("echo 1 > tcp_ecn", text)

    def test_a_bottleneck_at_the_host_is_the_clients_device(self) -> None:
        case = read("K6-tbf,tcp,cubic,50/10/1000,0,30,1,1,0,host,tbf,off,0,131072,\n")[0]
        network = topology.Topology(case)
        self.assertEqual(network.bottlenecks, [("c", "c1")])
        self.assertNotIn("dev rr root", network.build())
        self.assertIn("echo 131072 > tcp_limit_output_bytes", network.build())

    def test_scripts_have_the_syntax_of_a_shell(self) -> None:
        found = read(
            "D,mptcp,cubic,20/10/50;10/40/50,0;1,60,1,1,0,,,,,,\n"
            "E,mptcp,reno,20/10/50,0,60,1,1,0,,,,,,\nE,tcp,reno,20/10/50,0,60,1,2,1,,,,,,9\n"
        )
        for case in found:
            network = topology.Topology(case)
            for script in (network.build(), network.statistics(), network.remove()):
                subprocess.run(["sh", "-n"], input=script, text=True, check=True)
        plan = topology.Topology(found[1]).plan()
        self.assertIn("flow tcp d 10.1.3.2 5002 1 0 reno 65536\nthin d 10.1.3.2 5100 2 20000\n", plan)


class Results(unittest.TestCase):
    CASE = "A,tcp,cubic,20/10/50,0,30,1,1,0,,,,,,\n"
    PRINTED = [
        "kernel 6.12", "begin 0000", "queue 0.0035 4", "queue 0.0105 8", "info 0.0500 1 1 20 2147483647 22000 20057 0 0 7",
        "info 30.0000 1 1 60 59 44000 20057 18 0 7", "flow 1 tcp 0.000000 80000000 72000000 48000000 -1.000000",
        "counter c Tcp.RetransSegs 18", "end 30.000000",
        'qdisc 1 bottleneck [{"kind":"netem","bytes":75700,"packets":50,"drops":18}]',
        'qdisc 1 loss [{"kind":"netem","bytes":0,"packets":0,"drops":2}]', "end-of 0000", "complete",
    ]  # fmt: skip

    def test_rows_have_what_the_guest_measured(self) -> None:
        found = read(self.CASE)
        row = results.rows(found[0], results.outputs(self.PRINTED, found)[0])[0]
        told = {key: row[key] for key in ("goodput_mbps", "goodput_tail_mbps", "retransmits", "drops", "loss_drops_path1")}
        self.assertEqual(told, {"goodput_mbps": "19.2000", "goodput_tail_mbps": "19.2000", "retransmits": 18, "drops": 18,
                                "loss_drops_path1": 2})  # fmt: skip
        self.assertEqual((row["path1_bytes"], row["backlog_median_pkts"], row["srtt_median_ms"]), (75_000, "6.0", "33.000"))
        with tempfile.TemporaryDirectory() as folder:
            results.write(Path(folder) / "out.csv", [row])
            with (Path(folder) / "out.csv").open() as file:
                self.assertEqual(next(csv.DictReader(file))["min_rtt_ms"], "20.057")

    def test_complaints_of_the_guest_are_told_with_their_run(self) -> None:
        found = read(self.CASE)
        for printed, words in (
            ([*self.PRINTED[:2], "RTNETLINK answers: File exists"], "A 20/10/50: the guest says 'RTNETLINK"),
            ([*self.PRINTED[:2], "end 30.0"], "0 flows ended"),
            ([line.replace(" 7", " 15") if line.startswith("info 30") else line for line in self.PRINTED], "ECN"),
        ):
            with self.assertRaisesRegex(machine.Failure, words):
                results.outputs(printed, found)


class Image(unittest.TestCase):
    def test_an_archive_has_its_files_and_their_folders(self) -> None:
        content = image.archive([("bin/tool", image.EXECUTABLE, b"#!/bin/sh\n"), ("init", image.FILE, b"x" * 5)])
        self.assertTrue(content.startswith(b"070701") and len(content) % 4 == 0)
        for name in (b"bin\0", b"bin/tool\0", b"init\0", b"proc\0", b"TRAILER!!!\0"):
            self.assertIn(name, content)


if __name__ == "__main__":
    unittest.main()
