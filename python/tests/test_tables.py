"""Tables: what they hold, how others take them, and that their numbers are those of the command."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pyarrow
import pytest
from conftest import WIFI_LTE, two_paths
from recipes import ROOT, command

import subflow

MANUAL = (ROOT / "docs" / "src" / "python.md").read_text()


def printed(*arguments: str) -> str:
    return subprocess.run([command(), "run", *arguments], check=True, capture_output=True, text=True).stdout


def test_the_numbers_are_those_of_the_commands_json() -> None:
    sweep = 'sweep={"flows.file.congestion"=["lia","cubic"]}'
    shown = json.loads(printed(str(WIFI_LTE), "--set", sweep, "--repeat", "2", "--seed", "9", "--format", "json"))
    overrides = {"sweep": {"flows.file.congestion": ["lia", "cubic"]}}
    results = subflow.Scenario.read(WIFI_LTE, overrides).run(seed=9, repeat=2, series=False)

    flows = rows(results.flows)
    assert len(flows) == len(shown["runs"]) == 4
    for row, run in zip(flows, shown["runs"], strict=True):
        assert row["flows.file.congestion"] == run["parameters"]["flows.file.congestion"]
        compare(row, run["flows"][0], {"flow": "name"})
    for row, run in zip(rows(results.runs), shown["runs"], strict=True):
        assert (row["run"], row["seed"], row["duration_s"]) == (run["run"], run["seed"], run["duration_s"])
        assert {name: row[name] for name in ("version", "commit", "schema")} == shown["subflow"]
        assert row["scenario_sha256"] == shown["scenario"]["sha256"]
        assert row["packet_hops"] == run["engine"]["packet_hops"]
    subflows = [subflow for run in shown["runs"] for subflow in run["flows"][0]["subflows"]]
    for row, subflow_shown in zip(rows(results.subflows), subflows, strict=True):
        compare(row, subflow_shown, {"subflow": "name"}, {"flow", "protocol", "congestion", "scheduler", "path_manager"})
    links = [(link, way) for run in shown["runs"] for link in run["links"] for way in ("up", "down")]
    for row, (link, way) in zip(rows(results.links), links, strict=True):
        assert (row["link"], row["direction"]) == (link["name"], way)
        compare(row, {"marks": 0, **link[way]}, {}, {"link", "direction"})  # Left out of the JSON if zero.
    point = shown["statistics"][1]
    goodput = next(row for row in rows(results.statistics) if row["point"] == 1 and row["quantity"] == "goodput_mbps")
    for name, value in point["flows"][0]["goodput_mbps"].items():
        assert goodput[name] == value


def test_the_numbers_are_those_of_the_commands_csv() -> None:
    shown = list(csv.DictReader(io.StringIO(printed(str(WIFI_LTE), "--format", "csv"))))
    flow = rows(subflow.Scenario.read(WIFI_LTE).run().flows)[0]
    for name in ("goodput_mbps", "bytes_delivered", "completion_s", "retransmissions", "timeouts"):
        assert float(shown[0][name]) == flow[name]


def test_the_json_is_the_commands_but_for_cpu_time(tmp_path: Path) -> None:
    def without_cpu_time(text: str) -> str:
        return "\n".join(line for line in text.splitlines() if '"cpu_s"' not in line)

    scenario = subflow.Scenario.read(WIFI_LTE)
    shown = printed(str(WIFI_LTE), "--format", "json")
    assert without_cpu_time(scenario.run(series=False).to_json()) == without_cpu_time(shown)
    # With metrics over time there are percentiles of delays, too.
    printed(str(WIFI_LTE), "--out", str(tmp_path / "results"))
    written = (tmp_path / "results" / "results.json").read_text()
    assert '"one_way_delay": {' in written
    assert without_cpu_time(scenario.run().to_json()) == without_cpu_time(written)


def rows(table: subflow.Table) -> list[dict[str, Any]]:
    columns = table.to_dict()
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def compare(row: dict[str, Any], shown: dict[str, Any], renamed: dict[str, str], other: set[str] | None = None) -> None:
    """Compare what both have; what only the table has is empty, about the run, or in `other`."""
    about_the_run = {"run", "point", "seed", "flows.file.congestion"} | (other or set())
    compared = 0
    for name, value in row.items():
        key = renamed.get(name, name)
        if name in about_the_run:
            continue
        assert shown.get(key) == value, name
        compared += 1
    assert compared >= 6


def test_others_take_the_tables(swept: subflow.Results) -> None:
    flows = swept.flows
    goodput = flows["goodput_mbps"]
    assert pyarrow.table(flows)["goodput_mbps"].to_pylist() == goodput
    assert pandas.DataFrame.from_arrow(flows)["goodput_mbps"].tolist() == goodput
    assert polars.DataFrame(flows)["goodput_mbps"].to_list() == goodput
    arrow = pyarrow.table(flows)
    relation = duckdb.sql("select avg(goodput_mbps) from arrow")
    assert relation is not None
    ((mean,),) = relation.fetchall()
    assert mean == pytest.approx(sum(goodput) / len(goodput))
    assert len(arrow) == len(flows) == 6


def test_data_frames_of_a_table_are_made_in_every_way_that_people_try(swept: subflow.Results) -> None:
    flows = swept.flows
    for frame in (flows.to_pandas(), pandas.DataFrame(flows), pandas.DataFrame(flows.to_dict())):
        assert frame.columns.tolist() == flows.columns
        assert frame["goodput_mbps"].tolist() == flows["goodput_mbps"]
        assert frame["congestion"].tolist() == flows["congestion"]
    assert flows.to_polars().columns == flows.columns
    assert flows.to_polars()["goodput_mbps"].to_list() == flows["goodput_mbps"]
    assert list(flows) == rows(flows) and len(list(flows)) == len(flows)


def test_a_table_can_be_taken_twice_and_outlives_its_results(scenario: subflow.Scenario) -> None:
    table = scenario.run().series("cwnd")
    first, second = pyarrow.table(table), pyarrow.table(table)
    del table
    assert first.equals(second) and len(first) > 10


def test_an_unused_capsule_is_freed(swept: subflow.Results) -> None:
    for _ in range(100):
        swept.flows.__arrow_c_stream__()
        swept.flows.__arrow_c_schema__()


def test_series_are_long_and_have_their_unit(scenario: subflow.Scenario) -> None:
    results = scenario.run()
    assert {"cwnd", "goodput", "queue", "srtt"} <= set(results.metrics)
    table = pyarrow.table(results.series("srtt"))
    assert table.schema.field("value").metadata[b"unit"] == b"ms"
    assert set(table.column_names) == {"run", "point", "seed", "of", "time_s", "value"}
    frame = pandas.DataFrame.from_arrow(results.series("cwnd"))
    assert {of for of in frame["of"] if "/" in of} <= {f"file/{name}" for name in results.subflows["subflow"]}
    assert (frame.groupby("of", observed=True)["time_s"].diff().dropna() > 0).all()
    with pytest.raises(ValueError, match='did you mean "cwnd"'):
        results.series("cwmd")
    with pytest.raises(ValueError, match="run with series=True"):
        scenario.run(series=False).series("cwnd")


def test_metrics_over_time_of_all_runs_are_kept_if_they_are_asked_for(scenario: subflow.Scenario) -> None:
    def seeds(results: subflow.Results) -> set[int]:
        return set(results.series("cwnd")["seed"])

    assert seeds(scenario.run(repeat=3)) == {1}
    assert seeds(scenario.run(repeat=3, series="all")) == {1, 2, 3}
    assert seeds(subflow.sweep(scenario, repeat=3, series="all")) == {1, 2, 3}
    with pytest.raises(ValueError, match='found "some", expected True, False or "all"'):
        scenario.run(series="some")  # type: ignore[arg-type]


def test_every_column_has_a_description_and_is_in_the_manual(swept: subflow.Results) -> None:
    for table in (swept.runs, swept.flows, swept.subflows, swept.links, swept.statistics, swept.series("cwnd")):
        schema = pyarrow.schema(table)
        for field in schema:
            assert field.metadata[b"description"].endswith(b".")
            unit = field.metadata.get(b"unit", b"").decode()
            if not field.name.startswith("flows.") and field.name != "value":
                assert f"| `{field.name}` | {unit} |" in MANUAL, field.name


def test_exchanges_are_one_by_one(scenario: subflow.Scenario) -> None:
    assert len(scenario.run(series=False).exchanges) == 0
    content = two_paths()
    content["flows"] = {
        "file": {"from": "client", "to": "server", "requests": {"response": "20 kB", "every": "200 ms", "deadline": "1 s"}}
    }
    results = subflow.Scenario.from_dict(content, name="requests").run(series=False)
    for field in pyarrow.schema(results.exchanges):
        unit = field.metadata.get(b"unit", b"").decode()
        assert f"| `{field.name}` | {unit} |" in MANUAL, field.name
    frame = pandas.DataFrame.from_arrow(results.exchanges)
    assert frame["exchange"].tolist() == list(range(1, len(frame) + 1))
    whole = frame.dropna(subset=["end_s"])
    assert (whole["end_s"] >= whole["first_byte_s"]).all() and (whole["first_byte_s"] > whole["start_s"]).all()
    assert len(whole) == results.flows["exchanges"][0]


def test_statistics_have_intervals_that_contain_the_mean(swept: subflow.Results) -> None:
    frame = pandas.DataFrame.from_arrow(swept.statistics)
    assert set(frame["kind"]) == {"flow", "subflow", "link", "total"}
    goodput = frame[(frame["kind"] == "flow") & (frame["quantity"] == "goodput_mbps")]
    assert goodput["n"].tolist() == [3, 3] and goodput["flows.file.congestion"].tolist() == ["lia", "olia"]
    assert ((goodput["ci95_low"] < goodput["mean"]) & (goodput["mean"] < goodput["ci95_high"])).all()


def test_swept_values_keep_their_type(scenario: subflow.Scenario) -> None:
    sweep = {
        "flows.file.mptcp": [{"checksum": True}],
        "flows.file.tcp.sack": [False, True],
        "links.slow.rate": ["1 Mbit/s"],
        "repeat": [1, 2],
        "seed": [4, 5],
    }
    table = scenario.with_overrides(sweep=sweep, duration="100 ms").run(series=False).flows
    types = {field.name: str(field.type) for field in pyarrow.schema(table)}
    assert (types["flows.file.tcp.sack"], types["repeat"], types["links.slow.rate"]) == ("bool", "int64", "string")
    assert (types["links.slow.rate_mbps"], table.units["links.slow.rate_mbps"]) == ("double", "Mbit/s")
    assert set(table["links.slow.rate_mbps"]) == {1.0}
    assert set(table["flows.file.mptcp"]) == {'{"checksum":true}'}
    assert table.columns.count("seed") == 1
    with pytest.raises(KeyError, match="there are run"):
        table["goodput"]
