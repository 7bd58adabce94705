"""An outcome as a table of ratios and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.harness import Outcome, Row
from benchmarks.machine import facts

_UNITS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))
RESULTS = Path(__file__).parent / "results"


def table(outcome: Outcome) -> str:
    """One block a group; ours is 1.00, ``*`` marks the fastest peer."""
    workload = outcome.workload
    lines = [
        f"{workload.name}: {workload.title}",
        f"{outcome.size:,} rows, {outcome.rounds} rounds, times a call",
    ]
    for group, rows in outcome.groups().items():
        lines += ["", *aligned([header(group, outcome), *(cells(r, outcome) for r in rows)])]
    return "\n".join(lines)


def header(group: str, outcome: Outcome) -> list[str]:
    """Column heads of one group."""
    base = "ours = 1.00" if outcome.ours(group) else "fastest peer = 1.00"
    return [group, "least", "median", base, *numbers(outcome), "quality"]


def numbers(outcome: Outcome) -> list[str]:
    """Names of the quality numbers, in the order in which they first appear."""
    return list(dict.fromkeys(name for row in outcome.rows for name in row.quality))


def cells(row: Row, outcome: Outcome) -> list[str]:
    """One line of the table."""
    fastest = outcome.fastest_peer(row.contestant.group)
    label = f"  {row.contestant.label}{' *' if row is fastest else ''}"
    names = numbers(outcome)
    if not row.ran:
        return [label, *[""] * (3 + len(names)), row.verdict]
    base = outcome.ours(row.contestant.group) or fastest
    ratio = f"{row.least / base.least:.2f}" if base else ""
    quality = [f"{row.quality[n]:.9g}" if n in row.quality else "" for n in names]
    return [label, duration(row.least), duration(row.median), ratio, *quality, row.verdict]


def aligned(lines: list[list[str]]) -> list[str]:
    """Columns padded to their widest cell: text left, figures right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    last = len(widths) - 1

    def pad(place: int, cell: str) -> str:
        if place == last:
            return cell
        return cell.ljust(widths[place]) if place == 0 else cell.rjust(widths[place])

    return ["  ".join(pad(i, cell) for i, cell in enumerate(line)).rstrip() for line in lines]


def duration(seconds: float) -> str:
    """Seconds with the unit that reads best, three figures."""
    # 0.9995 rounds to 1.00 of the larger unit.
    unit, size = next((u, s) for u, s in _UNITS if seconds >= 0.9995 * s or u == "µs")
    value = seconds / size
    decimals = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{decimals}f} {unit}"


def as_json(outcome: Outcome) -> dict[str, Any]:
    """Everything measured, each round included."""
    groups = {}
    for group, rows in outcome.groups().items():
        fastest = outcome.fastest_peer(group)
        groups[group] = {
            "fastest_peer": fastest.contestant.label if fastest else None,
            "rows": [row_json(row, outcome) for row in rows],
        }
    return {
        "workload": outcome.workload.name,
        "title": outcome.workload.title,
        "rows": outcome.size,
        "rounds": outcome.rounds,
        "good": outcome.good,
        "groups": groups,
    }


def row_json(row: Row, outcome: Outcome) -> dict[str, Any]:
    """One contestant."""
    told: dict[str, Any] = {
        "label": row.contestant.label,
        "ours": row.contestant.ours,
        "verdict": row.verdict,
    }
    if row.ran:
        told |= {
            "least": row.least,
            "median": row.median,
            "ours_times_faster": outcome.times_faster(row),
            "quality": row.quality,
            "seconds": row.seconds,
        }
    return told


def write(name: str, measured: dict[str, Any], folder: Path | None = None) -> Path:
    """Write ``NAME.json`` with the machine's facts beside what was measured."""
    folder = RESULTS if folder is None else folder
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    text = json.dumps({"machine": facts(), **measured}, indent=2, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")
    return path
