"""Print a comparison as a table of ratios and write it as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.harness import Comparison, Result
from benchmarks.machine import describe

_UNITS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))
RESULTS = Path(__file__).parent / "results"


def table(comparison: Comparison) -> str:
    """Return one block per group; ours is 1.00, ``*`` marks the fastest peer."""
    workload = comparison.workload
    lines = [
        f"{workload.name}: {workload.title}",
        f"{comparison.n_rows:,} rows, {comparison.n_rounds} rounds, times per call",
    ]
    for group, results in comparison.groups().items():
        rows = [header(group, comparison), *(cells(each, comparison) for each in results)]
        lines += ["", *align(rows)]
    return "\n".join(lines)


def header(group: str, comparison: Comparison) -> list[str]:
    """Return the column headings of one group."""
    base = "time / ours" if comparison.ours(group) else "time / fastest"
    return [group, "min", "median", base, *metric_names(comparison), "quality"]


def metric_names(comparison: Comparison) -> list[str]:
    """Return the names of the metrics in the order of their first appearance."""
    return list(dict.fromkeys(name for each in comparison.results for name in each.metrics))


def cells(result: Result, comparison: Comparison) -> list[str]:
    """Return one line of the table."""
    group = result.implementation.group
    fastest = comparison.fastest_peer(group)
    label = f"  {result.implementation.label}{' *' if result is fastest else ''}"
    names = metric_names(comparison)
    if not result.ran:
        return [label, *[""] * (3 + len(names)), result.status]
    base = comparison.ours(group) or fastest
    ratio = f"{result.min_seconds / base.min_seconds:.2f}" if base else ""
    times = [format_duration(each) for each in (result.min_seconds, result.median_seconds)]
    metrics = [f"{result.metrics[n]:.9g}" if n in result.metrics else "" for n in names]
    return [label, *times, ratio, *metrics, result.status]


def align(rows: list[list[str]]) -> list[str]:
    """Pad the columns to their widest cell: the first to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    last = len(widths) - 1

    def pad(index: int, cell: str) -> str:
        if index == last:
            return cell
        return cell.ljust(widths[index]) if index == 0 else cell.rjust(widths[index])

    return ["  ".join(pad(i, cell) for i, cell in enumerate(row)).rstrip() for row in rows]


def format_duration(seconds: float) -> str:
    """Format seconds with three digits, in s, ms or µs."""
    # 0.9995 rounds to 1.00 of the larger unit.
    unit, size = next((u, s) for u, s in _UNITS if seconds >= 0.9995 * s or u == "µs")
    value = seconds / size
    decimals = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{decimals}f} {unit}"


def to_json(comparison: Comparison) -> dict[str, Any]:
    """Return all measurements, each round included."""
    groups = {}
    for group, results in comparison.groups().items():
        fastest = comparison.fastest_peer(group)
        groups[group] = {
            "fastest_peer": fastest.implementation.label if fastest else None,
            "results": [result_to_json(each, comparison) for each in results],
        }
    return {
        "workload": comparison.workload.name,
        "title": comparison.workload.title,
        "n_rows": comparison.n_rows,
        "n_rounds": comparison.n_rounds,
        "passed": comparison.passed,
        "groups": groups,
    }


def result_to_json(result: Result, comparison: Comparison) -> dict[str, Any]:
    """Return the measurements of one implementation."""
    content: dict[str, Any] = {
        "label": result.implementation.label,
        "ours": result.implementation.ours,
        "status": result.status,
    }
    if result.ran:
        content |= {
            "min": result.min_seconds,
            "median": result.median_seconds,
            "relative_time": comparison.relative_time(result),
            "metrics": result.metrics,
            "seconds": result.seconds,
        }
    return content


def write(name: str, content: dict[str, Any], folder: Path | None = None) -> Path:
    """Write ``NAME.json`` with the description of the machine and the measurements."""
    folder = RESULTS if folder is None else folder
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    text = json.dumps({"machine": describe(), **content}, indent=2, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")
    return path
