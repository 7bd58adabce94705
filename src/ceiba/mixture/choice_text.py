"""A choice of components in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ceiba.mixture.choice import MixtureChoice

_HEADS = (
    "components", "form", "log-likelihood", "parameters", "BIC", "AIC", "ICL", "CV", "spread", "",
)  # fmt: skip
_NUMBERS = ("log_likelihood", "n_parameters", "bic", "aic", "icl", "cv", "spread")


def describe(choice: MixtureChoice) -> str:
    """The table, the choice of each criterion, and where starts disagree."""
    lines = [_HEADS, *(_line(choice, row) for row in range(len(choice.table["bic"])))]
    widths = [max(len(line[i]) for line in lines) for i in range(len(_HEADS))]
    shown = [
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    return "\n".join([*shown, "", *_verdicts(choice)])


def _line(choice: MixtureChoice, row: int) -> tuple[str, ...]:
    table = choice.table
    cells = [str(table["n_components"][row]), str(table["covariance_type"][row])]
    for name in _NUMBERS:
        value = table[name][row]
        whole = name == "n_parameters"
        digits = 3 if name == "spread" else 6
        cells.append("" if np.isnan(value) else f"{value:d}" if whole else f"{value:.{digits}g}")
    marks = [] if table["converged"][row] else ["not converged"]
    if table["held"][row]:
        marks.append(f"{table['held'][row]} at the floor")
    if table["left"][row] < table["n_components"][row]:
        marks.append(f"{table['left'][row]} left")
    return (*cells, ", ".join(marks))


def _verdicts(choice: MixtureChoice) -> list[str]:
    lines = []
    for name, (k, form) in choice.best.items():
        mark = "  <- decides" if name == choice.criterion else ""
        lines.append(f"{name.upper()}: {k} component{'s' * (k > 1)}, {form}{mark}")
    return [*lines, dispute(choice)] if choice.disputed.any() else lines


def dispute(choice: MixtureChoice) -> str:
    """Which mixtures the start decides among, in a sentence; empty where it does not."""
    disputed = choice.disputed
    if not disputed.any():
        return ""
    sizes, forms = choice.table["n_components"][disputed], choice.table["covariance_type"][disputed]
    named = ", ".join(f"{k} {form}" for k, form in zip(sizes, forms, strict=True))
    return f"The start decides among: {named}. Try more starts (n_init)."
