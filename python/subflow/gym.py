"""Gymnasium environments over scenarios: one for packet schedulers, one for congestion controls.

They need gymnasium: ``pip install './python[gym]'``. Importing this module registers them as ``subflow/Scheduler-v0`` and
``subflow/Congestion-v0``, for ``gymnasium.make("subflow.gym:subflow/Scheduler-v0", scenario=scenario)``. Observations are arrays of float32 whose entries have names:
``names``. The simulation waits for the agent at each decision, in a thread of its own that ends with the episode or
with ``close``.

>>> import subflow
>>> from subflow.gym import CongestionEnv
>>> scenario = subflow.Scenario.from_toml('''
... duration = "1 s"
... [hosts]
... client = ["eth"]
... server = ["eth"]
... [links.wire]
... between = ["client.eth", "server.eth"]
... rate = "8 Mbit/s"
... [flows.file]
... from = "client"
... to = "server"
... protocol = "tcp"
... ''')
>>> env = CongestionEnv(scenario, paths=1)
>>> observation, info = env.reset(seed=1)
>>> env.names
['established[0]', 'srtt[0]', 'min_rtt[0]', 'cwnd[0]', 'chosen[0]', 'rate', 'losses']
>>> observation, reward, ended, _, info = env.step(env.action_space.sample())
>>> env.close()
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, ClassVar, Generic, Literal, TypeVar

import gymnasium
import numpy as np
from numpy.typing import NDArray

from subflow._native import Decision, Scenario, Simulation

__all__ = ["CongestionEnv", "SchedulerEnv"]

Observation = NDArray[np.float32]
Action = TypeVar("Action")

# Seeds of scenarios stay below this.
_SEEDS = 2**53 - 2**20


class _Env(gymnasium.Env[Observation, Action], Generic[Action]):
    """An episode is one run of the scenario."""

    metadata: dict[str, Any] = {"render_modes": []}
    _kind: ClassVar[Literal["scheduler", "congestion"]]

    def __init__(self, scenario: Scenario, flow: str | None, names: list[str], most: list[float]) -> None:
        self.scenario = scenario
        self.flow = flow
        self.names = names
        self._most = np.array(most, dtype=np.float32)
        self.observation_space = gymnasium.spaces.Box(np.zeros_like(self._most), self._most, dtype=np.float32)
        self._simulation: Simulation | None = None
        self._decision: Decision | None = None
        self._observation = np.zeros_like(self._most)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin another run, up to the first decision.

        Parameters
        ----------
        seed : int, optional
            Seed of the sequence of runs: each run draws its own seed from it. Equal seeds and actions give equal
            episodes.
        options : dict, optional
            ``{"run_seed": n}`` gives the run the seed n, as ``Scenario.run`` does.

        Returns
        -------
        observation : numpy.ndarray
        info : dict
            As of ``step``, with ``run_seed``.
        """
        super().reset(seed=seed)
        self.close()
        drawn = int(self.np_random.integers(_SEEDS))
        run_seed = int((options or {}).get("run_seed", drawn))
        self._simulation = Simulation(self.scenario, self._kind, self.flow, run_seed)
        self._decision = self._simulation.decision()
        self._begin()
        return self._observe(), self._info() | {"run_seed": run_seed}

    def step(self, action: Action) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Do what the agent decided, and go on to the next decision.

        Returns
        -------
        observation : numpy.ndarray
        reward : float
        terminated : bool
            Whether the run has ended.
        truncated : bool
            Always False: the length of a run is part of the scenario.
        info : dict
            ``now`` is the simulated time. After the end there are ``completion_s``, ``exchange_mean_ms``,
            ``exchange_median_ms``, ``exchange_p95_ms`` and ``goodput_mbps`` of the flow instead, as in
            ``Results.flows``.
        """
        simulation = self._simulation
        if simulation is None:
            raise RuntimeError("there is no run, expected reset() before step()")
        before = self._decision
        if before is not None:
            simulation.act(self._number(action))
            self._decision = simulation.decision()
        reward = self._reward(before, self._decision, simulation)
        return self._observe(), reward, self._decision is None, False, self._info()

    def close(self) -> None:
        """End the run and its thread, also in the middle."""
        if self._simulation is not None:
            self._simulation.close()
        self._simulation = None
        self._decision = None

    def _observe(self) -> Observation:
        # After the end of a run the last observation stays.
        if self._decision is not None:
            numbers = np.array(self._numbers(self._decision), dtype=np.float32)
            self._observation = np.clip(numbers, 0.0, self._most)
        return self._observation.copy()

    def _info(self) -> dict[str, Any]:
        if self._decision is not None:
            return {"now": self._decision.now}
        assert self._simulation is not None
        return {
            "completion_s": self._simulation.completion_s,
            "exchange_mean_ms": self._simulation.exchange_mean_ms,
            "exchange_median_ms": self._simulation.exchange_median_ms,
            "exchange_p95_ms": self._simulation.exchange_p95_ms,
            "goodput_mbps": self._simulation.goodput_mbps,
        }

    def _begin(self) -> None:
        self._observation = np.zeros_like(self._most)

    @abstractmethod
    def _number(self, action: Action) -> float: ...

    @abstractmethod
    def _numbers(self, decision: Decision) -> list[float]: ...

    @abstractmethod
    def _reward(self, before: Decision | None, after: Decision | None, simulation: Simulation) -> float: ...


# What SchedulerEnv can pay for.
REWARDS = ("completion", "exchange", "goodput")


def _subflows_of(scenario: Scenario, flow: str) -> int:
    """The number of subflows that a flow has in a run."""
    subflows = scenario.run(repeat=1, series=False).subflows
    return subflows["flow"].count(flow)


class SchedulerEnv(_Env[np.int64]):
    """An agent as the packet scheduler of a flow.

    A decision is where the next segment goes. There is one whenever there is something to send and a subflow that can
    carry it. It is for the end that sends the bulk of the flow's data.

    Action: ``Discrete(subflows + 1)``. The index of a subflow; or ``subflows`` for none: nothing is sent until
    something happens. A subflow that is not eligible counts as none. ``info["action_mask"]`` says what is possible, and
    so does ``action_masks()``, which MaskablePPO of sb3-contrib asks.

    Observation, for each subflow i and then of the connection:

    ============================ ==================================================== =============
    name                         meaning                                              at most
    ============================ ==================================================== =============
    ``established[i]``           1 if it can carry data                               1
    ``eligible[i]``              1 if it may carry the next segment now               1
    ``srtt[i]``                  smoothed RTT in seconds; 0 before the first sample   60
    ``cwnd[i]``                  congestion window in segments                        100 000
    ``in_flight[i]``             segments in flight                                   100 000
    ``backlog``                  written bytes that no subflow has, in MB             10 000
    ``window``                   the peer's window in MB                              10 000
    ============================ ==================================================== =============

    Reward: with ``"completion"`` minus the simulated seconds since the decision before; the sum over an episode is
    minus the completion time of the flow, or minus the duration of the run if it does not complete. With ``"exchange"``
    minus the seconds of these in which a request waited for its response; the sum is minus the durations of all
    exchanges. With ``"goodput"`` the Mbit that were acknowledged since the decision before; at the end of the run, those
    that arrived.

    Parameters
    ----------
    scenario : Scenario
        A scenario without a sweep.
    flow : str, optional
        The flow. Default: the first one with a scheduler.
    subflows : int, optional
        How many subflows are shown. Those beyond are never used; there is a warning when the first of them appears.
        Default: as many as the flow has in a run with a scheduler of its own, which is done for that.
    reward : {"completion", "exchange", "goodput"}, optional
        See above. Default: ``"exchange"`` for a flow of requests and responses, ``"completion"`` for one that can
        complete, ``"goodput"`` for others.

    Raises
    ------
    ValueError
        The scenario is not valid or has a sweep, there is no such flow, or no such reward for it: ``"exchange"`` is for
        requests, and ``"completion"`` is for flows that can complete.
    """

    _kind = "scheduler"

    def __init__(
        self,
        scenario: Scenario,
        *,
        flow: str | None = None,
        subflows: int | None = None,
        reward: Literal["completion", "exchange", "goodput"] | None = None,
    ) -> None:
        if reward not in (None, *REWARDS):
            raise ValueError(f"reward: found {reward!r}, expected one of {', '.join(map(repr, REWARDS))}")
        served = Simulation(scenario, self._kind, flow, 1)
        if reward is None:
            reward = "exchange" if served.exchanges else "completion" if served.completes else "goodput"
        elif reward == "exchange" and not served.exchanges:
            raise ValueError("reward: 'exchange' is for flows of requests and responses; use 'completion' or 'goodput'")
        elif reward == "completion" and not served.completes:
            other = "'exchange' or 'goodput'" if served.exchanges else "'goodput'"
            raise ValueError(f"reward: 'completion' is constant, since the flow has no last byte; use {other}")
        name = served.flow
        served.close()
        if subflows is None:
            subflows = _subflows_of(scenario, name)
        of_subflow = {"established": 1.0, "eligible": 1.0, "srtt": 60.0, "cwnd": 1e5, "in_flight": 1e5}
        names = [f"{name}[{index}]" for index in range(subflows) for name in of_subflow]
        most = list(of_subflow.values()) * subflows + [1e4, 1e4]
        super().__init__(scenario, flow, [*names, "backlog", "window"], most)
        self.subflows = subflows
        self.reward = reward
        self.action_space = gymnasium.spaces.Discrete(subflows + 1)
        # Simulated seconds, of which those with "exchange" count that a request waited for.
        self._paid_until = 0.0

    def _begin(self) -> None:
        super()._begin()
        assert self._simulation is not None
        self._paid_until = 0.0 if self.reward == "exchange" else self._simulation.start_s

    def _number(self, action: np.int64) -> float:
        # The simulation takes the index of no subflow as none.
        return float(action) if action < self.subflows else 64.0

    def _rows(self, decision: Decision) -> list[list[float]]:
        rows = decision.rows[: self.subflows]
        return rows + [[0.0] * 6] * (self.subflows - len(rows))

    def _numbers(self, decision: Decision) -> list[float]:
        last = max((number for number, row in enumerate(decision.rows, 1) if row[0] != 0.0), default=0)
        if last > self.subflows:
            warnings.warn(
                f"the agent sees {self.subflows} of the flow's subflows, and number {last} is established, too; "
                f"pass subflows={last}",
                stacklevel=4,
            )
        numbers = [number for row in self._rows(decision) for number in row[:5]]
        backlog, window, _ = decision.totals
        return [*numbers, backlog / 1e6, window / 1e6]

    def _info(self) -> dict[str, Any]:
        return super()._info() | {"action_mask": self.action_masks().astype(np.int8)}

    def action_masks(self) -> NDArray[np.bool_]:
        """Say which actions do something now: the eligible subflows, and to send nothing."""
        mask = np.ones(self.subflows + 1, dtype=np.bool_)
        if self._decision is not None:
            mask[:-1] = [row[1] != 0.0 for row in self._rows(self._decision)]
        return mask

    def _reward(self, before: Decision | None, after: Decision | None, simulation: Simulation) -> float:
        if before is None:
            return 0.0
        if self.reward == "goodput":
            # What was in flight at the last decision counts as far as it arrived.
            acknowledged = after.totals[2] if after is not None else float(simulation.bytes_delivered)
            return 8e-6 * (acknowledged - before.totals[2])
        end = after.now if after is not None else simulation.end_s
        if self.reward == "exchange":
            end = simulation.waited_s(end)
        reward = self._paid_until - end
        self._paid_until = end
        return reward


class CongestionEnv(_Env[NDArray[np.float32]]):
    """An agent as the congestion control of a flow.

    A decision is how the window of one path changes. There is one for each path once per smoothed RTT, with an
    acknowledgment that arrives while no loss is repaired. Between decisions the window stays; after a loss it falls to
    0.7 of what it was, as with CUBIC, and after a timeout to one segment.

    Action: ``Box(-1, 1, (1,))``. The window is multiplied by 2 to the power of the action; it is at least two segments.

    Observation, for each path i and then for the path of the decision:

    ============================ ==================================================== =============
    name                         meaning                                              at most
    ============================ ==================================================== =============
    ``established[i]``           1 if the path is established                         1
    ``srtt[i]``                  smoothed RTT in seconds; 0 before the first sample   60
    ``min_rtt[i]``               smallest RTT in seconds                              60
    ``cwnd[i]``                  congestion window in segments                        100 000
    ``chosen[i]``                1 if the decision is for this path                   1
    ``rate``                     segments delivered per second since its last one     10 000 000
    ``losses``                   losses since then                                    1000
    ============================ ==================================================== =============

    Reward: of the path since its last decision, log2(1 + rate) - delay_weight * (srtt / min_rtt - 1) - loss_weight *
    losses: a logarithmic utility of the rate, as in proportional fairness, less queueing delay and losses.

    Parameters
    ----------
    scenario : Scenario
        A scenario without a sweep.
    flow : str, optional
        The flow. Default: the first one with a congestion control.
    paths : int, optional
        How many paths are shown. Windows of those beyond do not change between losses.
    delay_weight, loss_weight : float, optional
        See above.
    """

    _kind = "congestion"

    def __init__(
        self,
        scenario: Scenario,
        *,
        flow: str | None = None,
        paths: int = 2,
        delay_weight: float = 1.0,
        loss_weight: float = 0.5,
    ) -> None:
        of_path = {"established": 1.0, "srtt": 60.0, "min_rtt": 60.0, "cwnd": 1e5, "chosen": 1.0}
        names = [f"{name}[{index}]" for index in range(paths) for name in of_path]
        super().__init__(scenario, flow, [*names, "rate", "losses"], list(of_path.values()) * paths + [1e7, 1e3])
        self.paths = paths
        self.delay_weight = delay_weight
        self.loss_weight = loss_weight
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), dtype=np.float32)

    def _number(self, action: NDArray[np.float32]) -> float:
        exponent = float(action[0])
        if not -1.0 <= exponent <= 1.0:
            raise ValueError(f"action: found {exponent}, expected a number from -1 to 1")
        assert self._decision is not None
        return 2.0**exponent if self._decision.path < self.paths else 1.0

    def _numbers(self, decision: Decision) -> list[float]:
        numbers: list[float] = []
        for index in range(self.paths):
            row = decision.rows[index][:4] if index < len(decision.rows) else [0.0] * 4
            numbers += [*row, float(index == decision.path)]
        delivered, losses, elapsed = decision.totals
        return [*numbers, delivered / elapsed, losses]

    def _reward(self, before: Decision | None, after: Decision | None, simulation: Simulation) -> float:
        if before is None or after is None:
            return 0.0
        delivered, losses, elapsed = after.totals
        _, srtt, min_rtt, *_ = after.rows[after.path]
        queueing = srtt / min_rtt - 1.0 if min_rtt > 0.0 else 0.0
        return float(np.log2(1.0 + delivered / elapsed)) - self.delay_weight * queueing - self.loss_weight * losses


gymnasium.register("subflow/Scheduler-v0", entry_point="subflow.gym:SchedulerEnv")
gymnasium.register("subflow/Congestion-v0", entry_point="subflow.gym:CongestionEnv")
