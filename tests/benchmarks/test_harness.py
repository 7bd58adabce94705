from __future__ import annotations

import json
import math
import os

import pytest

from benchmarks import __main__ as command
from benchmarks import harness, isolated, machine, memory, report, scaling, workloads
from benchmarks.workload import Check, Implementation, Workload

GROUP = "float64"


class Clock:
    """A clock that moves only when an implementation runs."""

    def __init__(self) -> None:
        self.now = 0.0
        self.calls: list[str] = []

    def implementation(self, label, value=1.0, *, seconds=(1.0,), **settings):
        """Return an implementation whose runs take these seconds in turn, warm-up included."""
        durations = iter(seconds * 20)

        def run(data):
            self.calls.append(label)
            self.now += next(durations)
            if isinstance(value, Exception):
                raise value
            return data * value

        return Implementation(label, run, settings.pop("group", GROUP), **settings)


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(harness, "perf_counter", lambda: clock.now)
    monkeypatch.setattr(harness, "settle", lambda: None)
    return clock


def toy(*implementations, **settings):
    return Workload(
        name="toy-sum",
        title="a toy",
        make_data=lambda seed, n_rows: {each.group: float(n_rows) for each in implementations},
        implementations=implementations,
        quality=lambda result, data: {"value": result / data},
        checks=(Check("value", 1e-9),),
        n_rows=10,
        quick_n_rows=2,
        **settings,
    )


# Timing


def test_implementations_alternate_and_the_order_rotates(clock):
    harness.run(toy(*(clock.implementation(label) for label in "abc")), rounds=4)
    assert "".join(clock.calls) == "abc" + "abc" + "bca" + "cab" + "abc"


def test_minima_medians_and_ratios(clock):
    peer = clock.implementation("peer", seconds=(9.0, 8.0, 6.0, 7.0))
    slow = clock.implementation("slow", seconds=(20.0,))
    ours = clock.implementation("ours", seconds=(9.0, 2.0, 4.0, 5.0), ours=True)
    comparison = harness.run(toy(ours, peer, slow), rounds=3)
    first, second, third = comparison.results
    assert (first.min_seconds, first.median_seconds) == (2.0, 4.0)
    assert (second.min_seconds, second.median_seconds) == (6.0, 7.0)
    assert [comparison.relative_time(each) for each in comparison.results] == [1.0, 3.0, 10.0]
    assert comparison.fastest_peer(GROUP) is second
    assert comparison.relative_time(third) == 10.0


def test_times_are_per_call(clock):
    work = toy(clock.implementation("a", seconds=(8.0,)), n_calls=4)
    assert harness.run(work, rounds=2).results[0].seconds == [2.0, 2.0]


def test_quick_uses_the_small_data(clock):
    seen = []
    recorder = Implementation("a", lambda data: seen.append(data) or data, GROUP)
    assert harness.run(toy(recorder), rounds=1, quick=True).n_rows == 2
    assert set(seen) == {2.0}


# Checks


@pytest.mark.parametrize(
    ("kind", "value", "passes"),
    [
        ("equal", 100.0, True),
        ("equal", 101.0, True),
        ("equal", 101.1, False),
        ("equal", 98.9, False),
        ("at most", 101.0, True),
        ("at most", 50.0, True),
        ("at most", 101.1, False),
        ("at least", 99.0, True),
        ("at least", 200.0, True),
        ("at least", 98.9, False),
        ("equal", math.nan, False),
        ("at most", math.nan, False),
        ("at least", math.nan, False),
        ("equal", None, False),
    ],
)
def test_check_compares_with_the_reference(kind, value, passes):
    failure = Check("score", {GROUP: 0.01}, kind).failure(GROUP, value, 100.0)
    assert (failure == "") is passes
    assert passes or "score" in failure


def test_tolerance_of_a_negative_reference_is_positive():
    check = Check("loglik", 0.01, "at least")
    assert check.failure(GROUP, -100.5, -100.0) == ""
    assert check.failure(GROUP, -101.5, -100.0) != ""


def test_status_of_each_result(clock):
    comparison = harness.run(
        toy(
            clock.implementation("ours", ours=True),
            clock.implementation("absent", module="no_such_module_at_all"),
            clock.implementation("broken", ValueError("bad input\nand details")),
            clock.implementation("first"),
            clock.implementation("second", 1.0 + 1e-12),
            clock.implementation("wrong", 1.5, seconds=(0.01,)),
        ),
        rounds=2,
    )
    assert {each.implementation.label: each.status for each in comparison.results} == {
        "ours": "equal",
        "absent": "not installed",
        "broken": "failed: ValueError: bad input",
        "first": "reference",
        "second": "equal",
        "wrong": "differs: value 1.5, reference 1 (tolerance 1e-09 relative)",
    }
    assert comparison.passed
    fastest = comparison.fastest_peer(GROUP)
    assert fastest is not None
    assert fastest.implementation.label == "first", "other work is not ranked"


def test_groups_have_their_own_reference(clock):
    comparison = harness.run(
        toy(
            clock.implementation("ours", 2.0, ours=True, group="float32"),
            clock.implementation("peer", 2.0, group="float32"),
            clock.implementation("peer", 1.0),
        ),
        rounds=1,
    )
    statuses = [each.status for each in comparison.results]
    assert statuses == ["equal", "reference", "reference"]


@pytest.mark.parametrize(
    ("value", "module", "passed"),
    [
        (1.0, "sklearn", True),
        (1.1, "sklearn", False),
        (math.nan, "sklearn", False),
        (RuntimeError("no kernel"), "sklearn", False),
        (1.0, "no_such_module_at_all", True),
    ],
)
def test_only_the_quality_of_ours_decides(clock, value, module, passed):
    ours = clock.implementation("ours", value, ours=True, module=module, seconds=(1000.0,))
    comparison = harness.run(toy(ours, clock.implementation("peer")), rounds=1)
    assert comparison.passed is passed


def test_ours_without_peers_is_unchecked(clock):
    comparison = harness.run(toy(clock.implementation("ours", ours=True)), rounds=1)
    assert comparison.results[0].status == "unchecked"
    assert comparison.fastest_peer(GROUP) is None
    assert "1.00" in report.table(comparison)


# Report


def test_table(clock):
    comparison = harness.run(
        toy(
            clock.implementation("ours", ours=True, seconds=(0.002,)),
            clock.implementation("slow", seconds=(0.5,)),
            clock.implementation("quick", seconds=(0.005,)),
            clock.implementation("absent", module="no_such_module_at_all"),
        ),
        rounds=5,
    )
    lines = report.table(comparison).splitlines()
    assert lines[:3] == ["toy-sum: a toy", "10 rows, 5 rounds, times per call", ""]
    assert [line.split() for line in lines[3:]] == [
        [GROUP, "min", "median", "time", "/", "ours", "value", "quality"],
        ["ours", "2.00", "ms", "2.00", "ms", "1.00", "1", "equal"],
        ["slow", "500", "ms", "500", "ms", "250.00", "1", "reference"],
        ["quick", "*", "5.00", "ms", "5.00", "ms", "2.50", "1", "equal"],
        ["absent", "not", "installed"],
    ]
    assert len({line.index("ms") for line in lines[4:7]}) == 1, "figures are aligned"


def test_ratios_without_ours_refer_to_the_fastest_peer(clock):
    pair = [clock.implementation(label, seconds=(s,)) for label, s in (("a", 3.0), ("b", 2.0))]
    text = report.table(harness.run(toy(*pair), rounds=1))
    assert "time / fastest" in text
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
def test_durations_have_three_figures(seconds, text):
    assert report.format_duration(seconds) == text


# Command


@pytest.fixture
def run_command(monkeypatch, tmp_path):
    """Run the command on toy workloads, with results in a folder of the test."""

    def run(*arguments, of):
        monkeypatch.setattr(workloads, "load_all", lambda: {each.name: each for each in of})
        monkeypatch.setattr(report, "RESULTS", tmp_path)
        return command.main(arguments)

    return run


def test_command_writes_json_without_names_or_paths(clock, run_command, tmp_path, capsys):
    ours = clock.implementation("ours", ours=True, seconds=(2.0,))
    work = toy(ours, clock.implementation("peer", seconds=(5.0,)))
    assert run_command("toy", "--seed", "7", of=[work]) == 0
    text = (tmp_path / "toy-sum.json").read_text(encoding="utf-8")
    content = json.loads(text)
    assert set(content["machine"]) == {"cpu", "cores", "threads", "system", "python", "versions"}
    assert str(memory.ROOT) not in text
    assert content["machine"]["versions"]["scikit-learn"]
    assert [content[key] for key in ("seed", "n_rounds", "n_rows", "passed")] == [7, 5, 10, True]
    group = content["groups"][GROUP]
    assert group["fastest_peer"] == "peer"
    assert group["results"][1]["relative_time"] == 2.5
    assert group["results"][1]["seconds"] == [5.0] * 5
    assert "toy-sum.json" in capsys.readouterr().out


@pytest.mark.parametrize(("value", "exit_code"), [(1.0, 0), (2.0, 1), (ValueError("no"), 1)])
def test_exit_code_depends_on_quality_alone(clock, run_command, value, exit_code):
    ours = clock.implementation("ours", value, ours=True, seconds=(1e6,))
    assert run_command("--quick", of=[toy(ours, clock.implementation("peer"))]) == exit_code
    assert run_command("--quick", of=[toy(clock.implementation("peer"))]) == 0


def test_quick_results_do_not_replace_full_ones(clock, run_command, tmp_path):
    run_command("--quick", of=[toy(clock.implementation("peer"))])
    assert [path.name for path in tmp_path.iterdir()] == ["toy-sum-quick.json"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rounds", "4"], "--rounds must be at least 5"),
        (["--rounds", "0"], "must be at least 1, got 0"),
        (["toy-su"], "toy-sum"),
        (["--rounds", "9", "--memory"], "--rounds has no effect with --list, --memory"),
        (["--list", "--memory"], "not allowed with argument --list"),
        (["--memory", "--instructions", "peer"], "not allowed with argument --memory"),
    ],
)
def test_invalid_arguments_are_rejected(clock, run_command, arguments, message, capsys):
    with pytest.raises(SystemExit) as stopped:
        run_command(*arguments, of=[toy(clock.implementation("peer"))])
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_list_runs_nothing(clock, run_command, capsys):
    assert run_command("--list", of=[toy(clock.implementation("peer"))]) == 0
    assert "toy-sum" in capsys.readouterr().out
    assert clock.calls == []


def test_instructions_require_valgrind(clock, run_command, monkeypatch, capsys):
    monkeypatch.setattr(isolated, "has_valgrind", lambda: False)
    assert run_command("--instructions", "peer", of=[toy(clock.implementation("peer"))]) == 0
    assert "not installed" in capsys.readouterr().out


def test_figures_continue_after_a_failure(clock, run_command, monkeypatch, capsys):
    def count(workload, implementation, seed, quick):
        if implementation.ours:
            raise RuntimeError("Traceback\nImportError: no kernel")
        return 1_200

    monkeypatch.setattr(isolated, "has_valgrind", lambda: True)
    monkeypatch.setattr(isolated, "count_instructions", count)
    pair = (clock.implementation("ours", ours=True), clock.implementation("peer"))
    work = toy(*pair, n_calls=2)
    assert run_command("--instructions", "e", of=[work]) == 0, "ours was not selected"
    assert run_command("--instructions", "", of=[work]) == 1
    out = capsys.readouterr().out
    assert "600 instructions" in out
    assert "failed: ImportError: no kernel" in out


def test_callgrind_total_is_parsed():
    assert isolated.parse_total("version: 1\nsummary: 0\ntotals: 3210485\n") == 3_210_485
    with pytest.raises(ValueError, match="no total"):
        isolated.parse_total("version: 1\n")


def test_a_family_consists_of_whole_words():
    assert workloads.matches("kmeans-blobs", "kmeans")
    assert workloads.matches("kmeans-blobs", "kmeans-blobs")
    assert not workloads.matches("kmeans-blobs", "kmeans-b")


def test_modules_in_subfolders_are_found():
    families = {name.partition("-")[0] for name in workloads.load_all()}
    assert families == {
        "adaboost",
        "bagging",
        "bayes",
        "boosting",
        "dask",
        "experiments",
        "forest",
        "kmeans",
        "mixture",
        "neighbors",
        "read",
        "shap",
        "tree",
    }


# Threads and memory


@pytest.mark.parametrize(("value", "count"), [("3", 3), ("5,2", 5), ("", None), ("x", None)])
def test_threads_follow_the_environment(monkeypatch, value, count):
    monkeypatch.setenv("OMP_NUM_THREADS", value)
    assert machine.n_threads() == (count or machine.n_cores())
    assert machine.set_threads() == (count or machine.n_cores())
    values = {os.environ[name] for name in machine.THREAD_VARIABLES}
    assert values == {str(machine.n_threads())}


def test_given_threads_take_precedence():
    machine.set_threads(7)
    assert machine.n_threads() == 7


def test_peak_is_measured_and_reset():
    size = 200_000_000
    before = memory.reset_peak()
    block = b"\x01" * size
    assert memory.peak_bytes() - before >= 0.9 * size
    del block
    if not memory._CLEAR.exists():
        pytest.skip("this system cannot reset a peak")
    memory.reset_peak()
    assert memory.peak_bytes() - before < 0.5 * size


def test_fresh_process_returns_the_result():
    measured = memory.measure("builtins:dict", {"a": 1, "b": [2.5]})
    assert measured.result == {"a": 1, "b": [2.5]}
    assert 0 < measured.before <= measured.peak < memory.peak_bytes() + 1_000_000_000
    assert measured.seconds >= 0


def test_error_of_a_fresh_process_is_raised():
    with pytest.raises(RuntimeError, match=r"math:sqrt failed(.|\n)*TypeError"):
        memory.measure("math:sqrt", {"x": 1})


# Scaling


def test_slope_of_a_power_law():
    sizes = scaling.grid(100, 10_000, 5)
    assert sizes == (100, 316, 1_000, 3_162, 10_000)
    assert scaling.fit_slope(sizes, [3e-6 * n**1.5 for n in sizes]) == pytest.approx(1.5)
    with pytest.raises(ValueError, match="two different sizes"):
        scaling.fit_slope([10, 10], [1.0, 2.0])


def test_scaling_times_every_size(clock):
    def quadratic(n):
        clock.now += n * n

    measured = scaling.measure_scaling(quadratic, lambda n: n, [1, 10, 100])
    assert measured.seconds == (1.0, 100.0, 10_000.0)
    assert measured.slope == pytest.approx(2.0)
