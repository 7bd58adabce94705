"""The network that a file describes, as its parts are read; errors name the line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path

import numpy as np

from ceiba._typing import Array
from ceiba.bayes.exchange.checks import MAX_PARENTS, check_table
from ceiba.bayes.exchange.network import DiscreteNetwork
from ceiba.data.categories import list_labels
from ceiba.data.io.errors import ReadError

#: Largest number of cells of all tables of a file: 512 MiB of memory.
MAX_CELLS = 1 << 26


@dataclass(eq=False)
class NetworkBuilder:
    """Variables and tables that have been read so far.

    A table is added in two steps: `define` checks its variables and returns its shape, `set_table`
    stores its values. So no file makes a table that is larger than the limit.
    """

    path: Path
    name: str = ""
    states: dict[str, tuple[str, ...]] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    parents: dict[str, tuple[str, ...]] = field(default_factory=dict)
    tables: dict[str, Array] = field(default_factory=dict)
    n_cells: int = 0

    def error(self, problem: str, line: int | None) -> ReadError:
        """Make the error of a line."""
        return ReadError.at(self.path, problem, line=line)

    def add_variable(self, name: str, states: Sequence[str], line: int) -> None:
        """Declare a variable."""
        if not name:
            raise self.error("the name of a variable is empty.", line)
        if name in self.states:
            raise self.error(f"two variables have the name {name!r}: rename one of them.", line)
        if not states:
            raise self.error(f"variable {name!r} has no states.", line)
        seen = set()
        for state in states:
            if not state:
                raise self.error(f"a state of {name!r} is empty.", line)
            if state in seen:
                raise self.error(f"state {state!r} of {name!r} is declared twice.", line)
            seen.add(state)
        self.states[name] = tuple(states)
        self.lines[name] = line

    def define(self, child: str, parents: Sequence[str], line: int) -> tuple[int, ...]:
        """Check the variables of a table; return its shape, ``(*parent_sizes, size)``."""
        for name in (*parents, child):
            if name not in self.states:
                raise self.error(
                    f"{name!r} is not a declared variable (the variables are "
                    f"{list_labels(list(self.states)) or 'none'}).",
                    line,
                )
        if child in self.parents:
            raise self.error(f"the probabilities of {child!r} are defined twice.", line)
        if len({*parents, child}) < len(parents) + 1:
            raise self.error(f"the probabilities of {child!r} name a variable twice.", line)
        if len(parents) > MAX_PARENTS:
            raise self.error(
                f"{child!r} must have up to {MAX_PARENTS} parents, got {len(parents)}.", line
            )
        shape = tuple(len(self.states[name]) for name in (*parents, child))
        self.n_cells += prod(shape)
        if self.n_cells > MAX_CELLS:
            raise self.error(
                f"the tables up to {child!r} have {self.n_cells:,} cells, more than {MAX_CELLS:,}.",
                line,
            )
        self.parents[child] = tuple(parents)
        self.lines[child] = line
        return shape

    def set_table(self, child: str, table: Array) -> None:
        """Store the table of a defined variable; NaN is a probability that the file omits."""
        parents = [(name, self.states[name]) for name in self.parents[child]]
        absent = np.isnan(table)
        if absent.any():
            index = np.argwhere(absent)[0]
            given = [
                f"{name}={labels[i]!r}" for (name, labels), i in zip(parents, index, strict=False)
            ]
            listed = f" given {', '.join(given)}" if given else ""
            raise self.error(
                f"the probabilities of {child!r}{listed} are not defined.", self.lines[child]
            )
        try:
            self.tables[child] = check_table(child, self.states[child], parents, table)
        except ValueError as error:
            raise self.error(str(error), self.lines[child]) from None

    def network(self) -> DiscreteNetwork:
        """Return the network, once all parts have been read."""
        if not self.states:
            raise self.error("the file declares no variables.", None)
        for name in self.states:
            if name not in self.tables:
                raise self.error(f"variable {name!r} has no probabilities.", self.lines[name])
        names = tuple(self.states)
        index = {name: position for position, name in enumerate(names)}
        try:
            return DiscreteNetwork(
                names,
                tuple(self.states.values()),
                tuple(tuple(index[parent] for parent in self.parents[name]) for name in names),
                tuple(self.tables[name] for name in names),
                self.name,
            )
        except ValueError as error:
            raise self.error(str(error), None) from None


def check_count(
    builder: NetworkBuilder, n_values: int, expected: int, subject: str, line: int
) -> None:
    """Raise ReadError if a list of probabilities has the wrong length."""
    if n_values != expected:
        raise builder.error(f"{subject} must have {expected} values, got {n_values}.", line)
