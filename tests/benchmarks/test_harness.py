from __future__ import annotations

import json
import math
import os

import pytest

from benchmarks import __main__ as command
from benchmarks import alone, harness, machine, memory, report, scaling, workload, workloads

Check, Contestant, Workload = workload.Check, workload.Contestant, workload.Workload
GROUP = "float64"


class Clock:
    """A clock that moves only when a contestant works."""

    def __init__(self) -> None:
        self.now = 0.0
        self.calls: list[str] = []

    def contestant(self, label, answer=1.0, *, seconds=(1.0,), **settings):
        """A contestant whose runs take these seconds in turn, the warm-up included."""
        taken = iter(seconds * 20)

        def run(data):
            self.calls.append(label)
            self.now += next(taken)
            if isinstance(answer, Exception):
                raise answer
            return data * answer

        return Contestant(label, run, settings.pop("group", GROUP), **settings)


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(harness, "perf_counter", lambda: made.now)
    monkeypatch.setattr(harness, "settle", lambda: None)
    return made


def toy(*contestants, **settings):
    return Workload(
        name="toy-sum",
        title="a toy",
        data=lambda seed, rows: {each.group: float(rows) for each in contestants},
        contestants=contestants,
        quality=lambda result, data: {"answer": result / data},
        checks=(Check("answer", 1e-9),),
        rows=10,
        quick_rows=2,
        **settings,
    )


def verdicts(outcome):
    return {row.contestant.label: row.verdict for row in outcome.rows}


def test_contestants_alternate_and_the_order_rotates(clock):
    harness.run(toy(*(clock.contestant(label) for label in "abc")), rounds=4)
    assert "".join(clock.calls) == "abc" + "abc" + "bca" + "cab" + "abc"


def test_minima_medians_and_ratios(clock):
    peer = clock.contestant("peer", seconds=(9.0, 8.0, 6.0, 7.0))
    slow = clock.contestant("slow", seconds=(20.0,))
    ours = clock.contestant("ours", seconds=(9.0, 2.0, 4.0, 5.0), ours=True)
    outcome = harness.run(toy(ours, peer, slow), rounds=3)
    mine, first, second = outcome.rows
    assert (mine.least, mine.median) == (2.0, 4.0)
    assert (first.least, first.median) == (6.0, 7.0)
    assert [outcome.times_faster(row) for row in outcome.rows] == [1.0, 3.0, 10.0]
    assert outcome.fastest_peer(GROUP) is first
    assert outcome.times_faster(second) == 10.0


def test_times_are_told_a_call(clock):
    outcome = harness.run(toy(clock.contestant("a", seconds=(8.0,)), calls=4), rounds=2)
    assert outcome.rows[0].seconds == [2.0, 2.0]


def test_quick_takes_the_small_data(clock):
    seen = []
    watcher = Contestant("a", lambda data: seen.append(data) or data, GROUP)
    assert harness.run(toy(watcher), rounds=1, quick=True).size == 2
    assert set(seen) == {2.0}


@pytest.mark.parametrize(
    ("kind", "value", "passes"),
    [
        ("same", 100.0, True),
        ("same", 101.0, True),
        ("same", 101.1, False),
        ("same", 98.9, False),
        ("no more", 101.0, True),
        ("no more", 50.0, True),
        ("no more", 101.1, False),
        ("no less", 99.0, True),
        ("no less", 200.0, True),
        ("no less", 98.9, False),
        ("same", math.nan, False),
        ("no more", math.nan, False),
        ("no less", math.nan, False),
        ("same", None, False),
    ],
)
def test_check(kind, value, passes):
    complaint = Check("score", {GROUP: 0.01}, kind).complaint(GROUP, value, 100.0)
    assert (complaint == "") is passes
    assert passes or "score" in complaint


def test_a_negative_reference_keeps_its_tolerance():
    check = Check("loglik", 0.01, "no less")
    assert check.complaint(GROUP, -100.5, -100.0) == ""
    assert check.complaint(GROUP, -101.5, -100.0) != ""


def test_verdicts(clock):
    outcome = harness.run(
        toy(
            clock.contestant("ours", ours=True),
            clock.contestant("gone", needs="no_such_module_at_all"),
            clock.contestant("broken", ValueError("bad day\nand why")),
            clock.contestant("first"),
            clock.contestant("second", 1.0 + 1e-12),
            clock.contestant("wrong", 1.5, seconds=(0.01,)),
        ),
        rounds=2,
    )
    assert verdicts(outcome) == {
        "ours": "equal",
        "gone": "not installed",
        "broken": "failed: ValueError: bad day",
        "first": "reference",
        "second": "equal",
        "wrong": "differs: answer 1.5 against 1 (allowed: 1e-09 relative)",
    }
    assert outcome.good
    fastest = outcome.fastest_peer(GROUP)
    assert fastest is not None
    assert fastest.contestant.label == "first", "who does other work is no peer"


def test_groups_are_judged_apart(clock):
    outcome = harness.run(
        toy(
            clock.contestant("ours", 2.0, ours=True, group="float32"),
            clock.contestant("peer", 2.0, group="float32"),
            clock.contestant("peer", 1.0),
        ),
        rounds=1,
    )
    assert [row.verdict for row in outcome.rows] == ["equal", "reference", "reference"]


@pytest.mark.parametrize(
    ("answer", "needs", "good"),
    [
        (1.0, "sklearn", True),
        (1.1, "sklearn", False),
        (math.nan, "sklearn", False),
        (RuntimeError("no kernel"), "sklearn", False),
        (1.0, "no_such_module_at_all", True),
    ],
)
def test_only_the_quality_of_ours_decides(clock, answer, needs, good):
    ours = clock.contestant("ours", answer, ours=True, needs=needs, seconds=(1000.0,))
    outcome = harness.run(toy(ours, clock.contestant("peer")), rounds=1)
    assert outcome.good is good


def test_ours_alone_is_unchecked(clock):
    outcome = harness.run(toy(clock.contestant("ours", ours=True)), rounds=1)
    assert outcome.rows[0].verdict == "unchecked"
    assert outcome.fastest_peer(GROUP) is None
    assert "1.00" in report.table(outcome)


def test_table(clock):
    outcome = harness.run(
        toy(
            clock.contestant("ours", ours=True, seconds=(0.002,)),
            clock.contestant("slow", seconds=(0.5,)),
            clock.contestant("quick", seconds=(0.005,)),
            clock.contestant("gone", needs="no_such_module_at_all"),
        ),
        rounds=5,
    )
    lines = report.table(outcome).splitlines()
    assert lines[:3] == ["toy-sum: a toy", "10 rows, 5 rounds, times a call", ""]
    assert [line.split() for line in lines[3:]] == [
        [GROUP, "least", "median", "ours", "=", "1.00", "answer", "quality"],
        ["ours", "2.00", "ms", "2.00", "ms", "1.00", "1", "equal"],
        ["slow", "500", "ms", "500", "ms", "250.00", "1", "reference"],
        ["quick", "*", "5.00", "ms", "5.00", "ms", "2.50", "1", "equal"],
        ["gone", "not", "installed"],
    ]
    assert len({line.index("ms") for line in lines[4:7]}) == 1, "figures stand in columns"


def test_table_without_ours_tells_from_the_fastest_peer(clock):
    outcome = harness.run(
        toy(clock.contestant("a", seconds=(3.0,)), clock.contestant("b", seconds=(2.0,))), rounds=1
    )
    text = report.table(outcome)
    assert "fastest peer = 1.00" in text
    assert "1.50" in text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (1234.4, "1234 s"),
        (12.34, "12.3 s"),
        (1.0, "1.00 s"),
        (0.9999, "1.00 s"),
        (0.123, "123 ms"),
        (0.0123, "12.3 ms"),
        (0.00099, "990 µs"),
        (5e-8, "0.05 µs"),
    ],
)
def test_duration(seconds, text):
    assert report.duration(seconds) == text


@pytest.fixture
def kept_environment(monkeypatch):
    """The command sets the thread variables of the whole process: put them back."""
    for name in machine.THREAD_VARIABLES:
        monkeypatch.setenv(name, "2")


@pytest.fixture
def at_command(monkeypatch, tmp_path, kept_environment):
    """Run the command on toy workloads, results in a folder of the test."""

    def run(*arguments, of):
        monkeypatch.setattr(workloads, "every", lambda: {each.name: each for each in of})
        monkeypatch.setattr(report, "RESULTS", tmp_path)
        return command.main(arguments)

    return run


def test_command_writes_json_without_names_or_paths(clock, at_command, tmp_path, capsys):
    ours = clock.contestant("ours", ours=True, seconds=(2.0,))
    work = toy(ours, clock.contestant("peer", seconds=(5.0,)))
    assert at_command("toy", "--seed", "7", of=[work]) == 0
    text = (tmp_path / "toy-sum.json").read_text(encoding="utf-8")
    told = json.loads(text)
    assert set(told["machine"]) == {"cpu", "cores", "threads", "system", "python", "versions"}
    assert str(memory.ROOT) not in text
    assert told["machine"]["versions"]["scikit-learn"]
    assert (told["seed"], told["rounds"], told["rows"], told["good"]) == (7, 5, 10, True)
    group = told["groups"][GROUP]
    assert group["fastest_peer"] == "peer"
    assert group["rows"][1]["ours_times_faster"] == 2.5
    assert group["rows"][1]["seconds"] == [5.0] * 5
    assert "toy-sum.json" in capsys.readouterr().out


@pytest.mark.parametrize(("answer", "status"), [(1.0, 0), (2.0, 1), (ValueError("no"), 1)])
def test_exit_code_is_quality_never_time(clock, at_command, answer, status):
    ours = clock.contestant("ours", answer, ours=True, seconds=(1e6,))
    good = toy(clock.contestant("peer"))
    assert at_command("--quick", of=[toy(ours, clock.contestant("peer"))]) == status
    assert at_command("--quick", of=[good]) == 0


def test_quick_results_do_not_replace_real_ones(clock, at_command, tmp_path):
    at_command("--quick", of=[toy(clock.contestant("peer"))])
    assert [path.name for path in tmp_path.iterdir()] == ["toy-sum-quick.json"]


@pytest.mark.parametrize("arguments", [["--rounds", "4"], ["--rounds", "0"], ["toy-su"]])
def test_command_refuses(clock, at_command, arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        at_command(*arguments, of=[toy(clock.contestant("peer"))])
    assert stopped.value.code == 2
    assert "rounds" in capsys.readouterr().err or "toy-sum" in capsys.readouterr().err


def test_list_runs_nothing(clock, at_command, capsys):
    assert at_command("--list", of=[toy(clock.contestant("peer"))]) == 0
    assert "toy-sum" in capsys.readouterr().out
    assert clock.calls == []


def test_instructions_without_valgrind_say_so(clock, at_command, monkeypatch, capsys):
    monkeypatch.setattr(alone, "has_valgrind", lambda: False)
    assert at_command("--instructions", "peer", of=[toy(clock.contestant("peer"))]) == 0
    assert "not installed" in capsys.readouterr().out


def test_figures_go_on_after_a_failure(clock, at_command, monkeypatch, capsys):
    def count(workload, contestant, seed, quick):
        if contestant.ours:
            raise RuntimeError("Traceback\nImportError: no kernel")
        return 1_200

    monkeypatch.setattr(alone, "has_valgrind", lambda: True)
    monkeypatch.setattr(alone, "instructions", count)
    work = toy(clock.contestant("ours", ours=True), clock.contestant("peer"), calls=2)
    assert at_command("--instructions", "e", of=[work]) == 0, "ours was not asked for"
    assert at_command("--instructions", "", of=[work]) == 1
    out = capsys.readouterr().out
    assert "600 instructions" in out
    assert "failed: ImportError: no kernel" in out


def test_callgrind_total():
    assert alone.total("version: 1\nsummary: 0\ntotals: 3210485\n") == 3_210_485
    with pytest.raises(ValueError, match="no total"):
        alone.total("version: 1\n")


def test_a_family_is_whole_words():
    assert workloads.matches("kmeans-groups", "kmeans")
    assert workloads.matches("kmeans-groups", "kmeans-groups")
    assert not workloads.matches("kmeans-groups", "kmeans-g")


@pytest.mark.parametrize(("found", "count"), [("3", 3), ("5,2", 5), ("", None), ("x", None)])
def test_threads_as_found(kept_environment, monkeypatch, found, count):
    monkeypatch.setenv("OMP_NUM_THREADS", found)
    assert machine.threads() == (count or machine.cores())
    assert machine.fix_threads() == (count or machine.cores())
    assert {os.environ[name] for name in machine.THREAD_VARIABLES} == {str(machine.threads())}


def test_asked_threads_overrule(kept_environment):
    machine.fix_threads(7)
    assert machine.threads() == 7


def test_peak_is_remembered_and_forgotten():
    size = 200_000_000
    before = memory.forget_peak()
    block = b"\x01" * size
    assert memory.peak_resident() - before >= 0.9 * size
    del block
    if not memory._CLEAR.exists():
        pytest.skip("this system cannot forget a peak")
    memory.forget_peak()
    assert memory.peak_resident() - before < 0.5 * size


def test_fresh_process_answers():
    found = memory.measure("builtins:dict", {"a": 1, "b": [2.5]})
    assert found.answer == {"a": 1, "b": [2.5]}
    assert 0 < found.before <= found.peak < memory.peak_resident() + 1_000_000_000
    assert found.seconds >= 0


def test_fresh_process_tells_its_error():
    with pytest.raises(RuntimeError, match=r"math:sqrt failed(.|\n)*TypeError"):
        memory.measure("math:sqrt", {"x": 1})


def test_slope_of_a_power_law():
    sizes = scaling.grid(100, 10_000, 5)
    assert sizes == (100, 316, 1_000, 3_162, 10_000)
    assert scaling.slope(sizes, [3e-6 * n**1.5 for n in sizes]) == pytest.approx(1.5)
    with pytest.raises(ValueError, match="two different sizes"):
        scaling.slope([10, 10], [1.0, 2.0])


def test_scaling_times_every_size(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(harness, "perf_counter", lambda: clock.now)
    monkeypatch.setattr(harness, "settle", lambda: None)

    def quadratic(n):
        clock.now += n * n

    found = scaling.scaling(quadratic, lambda n: n, [1, 10, 100])
    assert found.seconds == (1.0, 100.0, 10_000.0)
    assert found.slope == pytest.approx(2.0)
