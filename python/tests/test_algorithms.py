"""Schedulers, congestion controls and path managers written in Python."""

from __future__ import annotations

import traceback
from typing import Any

import cost_per_call
import pytest
from cost_per_call import LowestRtt, Reno

import subflow
from subflow.algorithms import Command, Established, Event, LocalAddressAdded, Open


class OneMore(subflow.PathManager):
    """Opens a subflow from each further address of the client, to the address that the initial one goes to."""

    def __init__(self) -> None:
        self.initial: subflow.algorithms.FourTuple | None = None

    def on_event(self, event: Event) -> list[Command] | None:
        if isinstance(event, Established) and event.client:
            self.initial = event.initial
        if isinstance(event, LocalAddressAdded) and self.initial is not None:
            address, port = self.initial.remote
            return [Open(event.address, subflow.algorithms.Address(0, address), port)]
        return None


def with_all(scenario: subflow.Scenario, **names: str) -> subflow.Scenario:
    scenario = scenario.with_overrides({f"flows.file.{key}": name for key, name in names.items()})
    return scenario.with_algorithms(
        schedulers={"my-ll": LowestRtt}, congestion={"my-reno": Reno}, path_managers={"one-more": OneMore}
    )


def without(results: subflow.Results, *columns: str) -> dict[str, list[Any]]:
    return {name: values for name, values in results.flows.to_dict().items() if name not in columns}


def test_a_scheduler_in_python_does_what_the_same_in_rust_does(scenario: subflow.Scenario) -> None:
    own = with_all(scenario, scheduler="my-ll").run(repeat=3)
    assert own.flows["scheduler"] == ["my-ll"] * 3
    assert without(own, "scheduler") == without(scenario.run(repeat=3), "scheduler")


def test_a_congestion_control_in_python_does_what_the_same_in_rust_does(scenario: subflow.Scenario) -> None:
    own = with_all(scenario, congestion="my-reno").run(repeat=3)
    built_in = scenario.with_overrides({"flows.file.congestion": "reno"}).run(repeat=3)
    assert own.flows["congestion"] == ["my-reno"] * 3
    assert without(own, "congestion") == without(built_in, "congestion")
    assert sum(own.flows["retransmissions"]) > 0


def two_to_one() -> subflow.Scenario:
    return subflow.Scenario.from_toml(
        """
        duration = "2 s"
        [hosts]
        client = ["wifi", "lte"]
        server = ["eth"]
        [routers]
        internet = {}
        [links]
        wifi = { between = ["client.wifi", "internet"], rate = "10 Mbit/s", delay = "10 ms" }
        lte = { between = ["client.lte", "internet"], rate = "10 Mbit/s", delay = "20 ms" }
        core = { between = ["internet", "server"], rate = "100 Mbit/s" }
        [flows.file]
        from = "client"
        to = "server"
        protocol = "mptcp"
        path_manager = "default"
        """
    )


def test_a_path_manager_in_python_opens_subflows() -> None:
    assert len(two_to_one().run().subflows) == 1
    results = with_all(two_to_one(), path_manager="one-more").run()
    assert results.flows["path_manager"] == ["one-more"]
    assert results.subflows["subflow"] == ["client.wifi-server.eth", "client.lte-server.eth"]
    assert min(results.subflows["goodput_mbps"]) > 1


def test_jobs_and_threads_make_no_difference(scenario: subflow.Scenario) -> None:
    class Random(subflow.Scheduler):
        def next(self, subflows: tuple[subflow.SubflowView, ...], queue: subflow.QueueView) -> int | None:
            eligible = [index for index, view in enumerate(subflows) if view.eligible]
            return self.random.choice(eligible) if eligible else None

    own = scenario.with_overrides({"flows.file.scheduler": "random"}).with_algorithms(schedulers={"random": Random})
    one, two = (own.run(seed=5, repeat=4, jobs=jobs).subflows.to_dict() for jobs in (1, 2))
    assert one == two
    assert len({tuple(one["packets_sent"][run : run + 2]) for run in range(0, 8, 2)}) > 1, "seeds make a difference"


def test_each_connection_has_an_instance_of_its_own(scenario: subflow.Scenario) -> None:
    made: list[int] = []

    class Counted(LowestRtt):
        def seed(self, seed: int) -> None:
            super().seed(seed)
            made.append(seed)

    own = scenario.with_overrides({"flows.file.scheduler": "counted"}).with_algorithms(schedulers={"counted": Counted})
    assert made == [], "the first object serves no connection"
    own.run(seed=1, repeat=3)
    assert len(made) == len(set(made)) == 3, "one for the sender of each run"


def test_an_exception_ends_the_run_and_is_the_cause(scenario: subflow.Scenario) -> None:
    class Broken(LowestRtt):
        def next(self, subflows: tuple[subflow.SubflowView, ...], queue: subflow.QueueView) -> int | None:
            if queue.now > 0.5:
                raise LookupError("no way on")
            return super().next(subflows, queue)

    own = scenario.with_overrides({"flows.file.scheduler": "broken"}).with_algorithms(schedulers={"broken": Broken})
    for jobs in (1, 2):
        with pytest.raises(subflow.RunError, match=r'run 0 \(seed 7\): schedulers "broken": LookupError') as caught:
            own.run(seed=7, repeat=4, jobs=jobs)
        cause = caught.value.__cause__
        assert isinstance(cause, LookupError)
        assert 'raise LookupError("no way on")' in "".join(traceback.format_exception(cause))


NONSENSE = [
    ("queue.now", "TypeError", "expected the index of a subflow"),
    ("True", "TypeError", "expected the index of a subflow"),
    ("len(subflows)", "IndexError", "one of the"),
    ("-1", "IndexError", "one of the"),
    ("10**30", "IndexError", "one of the"),
    ("subflow.Assignment(0, copy=(10**9, 10**9 + 1))", "ValueError", "not within one outstanding range"),
    ("subflow.Assignment(0, at_most=0)", "ValueError", "no bytes"),
    ("subflow.Assignment(0, at_most=1, copy=(0, 1))", "TypeError", "expected one of them"),
    ("next((i for i, view in enumerate(subflows) if not view.can_send), None)", "ValueError", "eligible"),
]


@pytest.mark.parametrize(("decision", "error", "message"), NONSENSE)
def test_nonsense_of_a_scheduler_is_told_with_the_way_out(
    scenario: subflow.Scenario, decision: str, error: str, message: str
) -> None:
    class Nonsense(LowestRtt):
        def next(self, subflows: tuple[subflow.SubflowView, ...], queue: subflow.QueueView) -> Any:
            chosen = eval(decision, {"subflow": subflow, "subflows": subflows, "queue": queue})
            return super().next(subflows, queue) if chosen is None else chosen

    own = scenario.with_overrides({"flows.file.scheduler": "nonsense"})
    with pytest.raises(subflow.RunError, match=message) as caught:
        own.with_algorithms(schedulers={"nonsense": Nonsense}).run()
    assert type(caught.value.__cause__).__name__ == error


def test_a_closed_subflow_is_refused() -> None:
    class Closed(LowestRtt):
        def next(self, subflows: tuple[subflow.SubflowView, ...], queue: subflow.QueueView) -> int | None:
            closed = [index for index, view in enumerate(subflows) if not view.established and index < 1]
            return closed[0] if closed else super().next(subflows, queue)

    content = two_to_one().with_overrides(
        {"flows.file.path_manager": "full-mesh", "flows.file.scheduler": "closed"},
        timeline=[{"at": "1 s", "interface": "client.wifi", "down": True}],
    )
    with pytest.raises(subflow.RunError, match="subflow 0, which is closed or not yet established"):
        content.with_algorithms(schedulers={"closed": Closed}).run()


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("paths[path].cwnd = 0", "expected at least one segment"),
        ("paths[path].cwnd = 2**31", "at most 100000"),
        ("paths[path].cwnd = -1", "cwnd: found -1, expected an int from 0"),
        ("paths[path].cwnd *= 1.5", "cwnd: found float .*, expected an int: round it"),
        ("paths[path].ssthresh = None", "ssthresh: found NoneType None, expected an int"),
        ("paths[path].credit = float('nan')", "credit: found float nan, expected an int"),
        ("paths[9].cwnd = 1", "IndexError"),
        ("paths[path].ssthresh = 0", "ssthresh at 0"),
    ],
)
def test_nonsense_of_a_congestion_control_is_told(scenario: subflow.Scenario, statement: str, message: str) -> None:
    class Nonsense(Reno):
        def on_ack(self, paths: tuple[subflow.Path, ...], path: int, ack: subflow.Ack) -> None:
            exec(statement)

    own = scenario.with_overrides({"flows.file.congestion": "nonsense"})
    with pytest.raises(subflow.RunError, match=message):
        own.with_algorithms(congestion={"nonsense": Nonsense}).run()


@pytest.mark.parametrize("threshold", [0, -1, 2.5, None, 2**31 - 1, 2**40])
def test_a_threshold_that_is_none_is_told(scenario: subflow.Scenario, threshold: Any) -> None:
    class Nonsense(Reno):
        def ssthresh_after_loss(self, paths: tuple[subflow.Path, ...], path: int, now: float) -> Any:
            return threshold

    own = scenario.with_overrides({"flows.file.congestion": "nonsense"})
    with pytest.raises(subflow.RunError, match="ssthresh_after_loss returned"):
        own.with_algorithms(congestion={"nonsense": Nonsense}).run()


@pytest.mark.parametrize(
    ("commands", "message"),
    [
        (7, "expected a list of commands"),
        ([7], "expected commands: Open"),
        ([Open(subflow.algorithms.Address(0, "nowhere"), subflow.algorithms.Address(0, "10.0.0.1"), 80)], "nowhere"),
        ([subflow.algorithms.Withdraw(700)], "OverflowError"),
    ],
)
def test_nonsense_of_a_path_manager_is_told(scenario: subflow.Scenario, commands: Any, message: str) -> None:
    class Nonsense(subflow.PathManager):
        def on_event(self, event: Event) -> Any:
            return commands

    own = scenario.with_overrides({"flows.file.path_manager": "nonsense"})
    with pytest.raises(subflow.RunError, match=message):
        own.with_algorithms(path_managers={"nonsense": Nonsense}).run()


def test_what_is_no_algorithm_is_refused_at_once(scenario: subflow.Scenario) -> None:
    wrong: Any
    for wrong, message in [(7, "found int"), (dict, "made a dict"), (Reno, "derived from subflow.Scheduler")]:
        with pytest.raises(TypeError, match=message):
            scenario.with_algorithms(schedulers={"mine": wrong})
    with pytest.raises(subflow.ScenarioError, match="a built-in one"):
        scenario.with_algorithms(schedulers={"ll": LowestRtt})
    with pytest.raises(subflow.ScenarioError, match="letters"):
        scenario.with_algorithms(schedulers={"my scheduler": LowestRtt})
    with pytest.raises(subflow.ScenarioError, match='there are: .*my-ll'):
        with_all(scenario, scheduler="my-l").check()


def test_a_scheduler_that_repeats_sees_what_is_outstanding(scenario: subflow.Scenario) -> None:
    copied: list[tuple[int, int]] = []

    class Twice(subflow.Scheduler):
        """Repeats the oldest outstanding range on a subflow that has not carried it."""

        repeats = True

        def next(
            self, subflows: tuple[subflow.SubflowView, ...], queue: subflow.QueueView
        ) -> int | subflow.Assignment | None:
            if queue.new_data[0] < queue.new_data[1]:
                return LowestRtt().next(subflows, queue)
            for sent in queue.outstanding:
                for index, view in enumerate(subflows):
                    if view.can_send and not view.potentially_failed and index not in sent.carried_by:
                        copied.append((sent.start, sent.end))
                        return subflow.Assignment(index, copy=(sent.start, sent.end))
            return None

    own = scenario.with_overrides({"flows.file.scheduler": "twice"}).with_algorithms(schedulers={"twice": Twice})
    flows = own.run().flows
    assert copied and flows["completion_s"] != [None]
    assert flows["reinjected_bytes"][0] >= sum(end - start for start, end in copied)


def test_sctp_and_tcp_take_them_too(scenario: subflow.Scenario) -> None:
    sctp = {"from": "client", "to": "server", "protocol": "sctp", "send": "1 MB", "sctp": {"cmt": True}}
    for key, own, built_in in (("scheduler", "my-ll", "ll"), ("congestion", "my-reno", "reno")):
        flow = scenario.with_overrides({"flows.file": sctp | {"scheduler": "ll", key: built_in}})
        python = with_all(flow.with_overrides({"flows.file": sctp | {"scheduler": "ll", key: own}}))
        assert without(python.run(), key) == without(flow.run(), key)
    tcp = scenario.with_overrides({"flows.file": {"from": "client", "to": "server", "congestion": "reno"}})
    own_tcp = with_all(tcp, congestion="my-reno")
    assert without(own_tcp.run(), "congestion") == without(tcp.run(), "congestion")


def test_a_scheduler_may_queue_ahead_and_a_window_may_be_huge(scenario: subflow.Scenario) -> None:
    class Ahead(subflow.Scheduler):
        queues_ahead = True

        def next(self, subflows: tuple[subflow.SubflowView, ...], queue: subflow.QueueView) -> int | None:
            ready = [index for index, view in enumerate(subflows) if view.established and not view.buffer_full]
            return ready[0] if ready and queue.new_data[0] < queue.new_data[1] else None

    class Huge(Reno):
        def on_ack(self, paths: tuple[subflow.Path, ...], path: int, ack: subflow.Ack) -> None:
            paths[path].cwnd = 100_000

    own = scenario.with_overrides({"flows.file.scheduler": "ahead", "flows.file.congestion": "huge"})
    results = own.with_algorithms(schedulers={"ahead": Ahead}, congestion={"huge": Huge}).run()
    assert results.flows["bytes_delivered"] == [1_000_000]


def test_an_earlier_scenario_does_not_change(scenario: subflow.Scenario) -> None:
    with_all(scenario)
    with pytest.raises(subflow.ScenarioError, match="my-ll"):
        scenario.with_overrides({"flows.file.scheduler": "my-ll"}).check()


def test_attributes_that_are_not_what_they_should_be_are_named(scenario: subflow.Scenario) -> None:
    class Unclear(subflow.Scheduler):
        queues_ahead = "yes"  # type: ignore[assignment]

        def next(self, subflows: Any, queue: Any) -> None: ...

    with pytest.raises(TypeError, match="queues_ahead of .unclear. is str 'yes', expected True or False"):
        scenario.with_algorithms(schedulers={"unclear": Unclear})


def test_the_cost_of_a_call_can_be_measured(capsys: pytest.CaptureFixture[str]) -> None:
    cost_per_call.main(["--repeat", "1"])
    assert capsys.readouterr().out.count("us per call besides its own work") == 2


def test_a_class_without_its_method_is_refused_where_it_is_named(scenario: subflow.Scenario) -> None:
    class Forgetful(subflow.Scheduler):
        def choose(self, subflows: Any, queue: Any) -> int:
            return 0

    class HalfReno(subflow.CongestionControl):
        def on_ack(self, paths: Any, path: int, ack: Any) -> None: ...

    with pytest.raises(TypeError, match="Forgetful .*next"):
        scenario.with_algorithms(schedulers={"forgetful": Forgetful})
    with pytest.raises(TypeError, match="HalfReno .*ssthresh_after_loss"):
        scenario.with_algorithms(congestion={"half": HalfReno})
