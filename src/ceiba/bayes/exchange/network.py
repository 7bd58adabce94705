"""Discrete Bayesian networks: variables, arcs and conditional probability tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import index as as_index
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.bayes.exchange.checks import check_arcs, check_names, check_table
from ceiba.bayes.exchange.elimination import Factor, eliminate, log_sum
from ceiba.data.categories import list_labels

_MAX_SHOWN = 20  # variables in the representation


@dataclass(frozen=True, eq=False, repr=False, init=False)
class DiscreteNetwork:
    """A Bayesian network of discrete variables with its conditional probability tables.

    Parameters
    ----------
    variables : sequence of str
        Unique names.
    states : sequence of sequences of str
        The labels of each variable's states, unique within the variable; numbers are converted to
        text, as network files store it.
    parents : sequence of sequences of int
        The indices of each variable's parents. The arcs must not form a cycle.
    tables : sequence of array-like
        The conditional probability table of each variable, of shape ``(*parent_sizes, size)``: its
        last axis is the variable, the axes before are the parents in their order. Every
        distribution must sum to 1; a deviation up to 0.01, as rounded decimals have, is
        normalized.
    name : str
        The name of the network.

    Examples
    --------
    The probability of tuberculosis after a visit to Asia and a positive X-ray, by a part of the
    network of Lauritzen and Spiegelhalter (1988):

    >>> from ceiba.bayes import DiscreteNetwork
    >>> network = DiscreteNetwork(
    ...     variables=["asia", "tub", "xray"],
    ...     states=[["yes", "no"]] * 3,
    ...     parents=[[], [0], [1]],
    ...     tables=[[0.01, 0.99], [[0.05, 0.95], [0.01, 0.99]], [[0.98, 0.02], [0.05, 0.95]]],
    ...     name="clinic",
    ... )
    >>> network
    DiscreteNetwork 'clinic' of 3 variables and 2 arcs
      asia  2 states (yes, no)
      tub   2 states (yes, no)  given asia
      xray  2 states (yes, no)  given tub
    >>> network.posterior("tub", {"asia": "yes", "xray": "yes"}).round(4)
    array([0.5078, 0.4922])
    """

    variables: tuple[str, ...]
    states: tuple[tuple[str, ...], ...]
    parents: tuple[tuple[int, ...], ...]
    tables: tuple[Array, ...]
    name: str

    def __init__(
        self,
        variables: Sequence[str],
        states: Sequence[Sequence[Any]],
        parents: Sequence[Sequence[int]],
        tables: Sequence[Any],
        name: str = "",
    ) -> None:
        if not isinstance(name, str):
            raise ValueError(f"name must be a str, got {name!r}.")
        check_names(variables, "variables", "variable")
        for field, value in (("states", states), ("parents", parents), ("tables", tables)):
            if len(value) != len(variables):
                raise ValueError(
                    f"{field} must have an entry for each of the {len(variables)} variables, got "
                    f"{len(value)}."
                )
        if any(isinstance(labels, str) for labels in states):
            raise ValueError("states must be a sequence of labels for each variable, got a str.")
        texts = tuple(tuple(map(str, labels)) for labels in states)
        for variable, labels in zip(variables, texts, strict=True):
            check_names(labels, f"states of {variable!r}", "state")
        indices = tuple(
            _indices(variable, group) for variable, group in zip(variables, parents, strict=True)
        )
        check_arcs(variables, indices)
        families = [[(variables[i], texts[i]) for i in group] for group in indices]
        checked = tuple(
            check_table(variable, labels, family, _numbers(variable, table))
            for variable, labels, family, table in zip(
                variables, texts, families, tables, strict=True
            )
        )
        values = {"variables": tuple(variables), "states": texts, "parents": indices}
        for field, value in {**values, "tables": checked, "name": name}.items():
            object.__setattr__(self, field, value)

    @property
    def arcs(self) -> tuple[tuple[str, str], ...]:
        """Pairs of names, from a parent to its child, in the order of the children."""
        names = self.variables
        return tuple(
            (names[parent], name)
            for name, parents in zip(names, self.parents, strict=True)
            for parent in parents
        )

    def to_frame(self, variable: str) -> Any:
        """Return a conditional probability table as a pandas DataFrame.

        Parameters
        ----------
        variable : str
            The name of a variable.

        Returns
        -------
        DataFrame
            A row for each combination of the parents' states, which are the index, and a column
            for each state of the variable.

        Examples
        --------
        >>> from ceiba.bayes import DiscreteNetwork
        >>> network = DiscreteNetwork(
        ...     ["rain", "wet"], [["yes", "no"]] * 2, [[], [0]],
        ...     [[0.2, 0.8], [[0.9, 0.1], [0.3, 0.7]]],
        ... )
        >>> frame = network.to_frame("wet")
        >>> frame.loc["yes"].to_dict()
        {'yes': 0.9, 'no': 0.1}
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                'to_frame requires pandas: pip install "ceiba[files]", or use .tables'
            ) from error
        child = self._index(variable)
        table, parents = self.tables[child], self.parents[child]
        columns = pd.Index(self.states[child], name=variable)
        names = [self.variables[parent] for parent in parents]
        labels = [self.states[parent] for parent in parents]
        index: Any = None
        if len(parents) == 1:
            index = pd.Index(labels[0], name=names[0])
        elif parents:
            index = pd.MultiIndex.from_product(labels, names=names)
        return pd.DataFrame(table.reshape(-1, table.shape[-1]), index=index, columns=columns)

    def log_joint(self, codes: Any) -> Array:
        """Compute the logarithm of the joint probability of each row.

        Parameters
        ----------
        codes : array-like of int, shape (n_rows, n_variables)
            The index of each variable's state.

        Returns
        -------
        ndarray of float64, shape (n_rows,)
            -inf for a row of probability 0.

        Examples
        --------
        >>> from ceiba.bayes import DiscreteNetwork
        >>> network = DiscreteNetwork(
        ...     ["a", "b"], [["x", "y"]] * 2, [[], [0]], [[0.5, 0.5], [[1, 0], [0.5, 0.5]]]
        ... )
        >>> network.log_joint([[0, 0], [0, 1], [1, 1]]).round(4)
        array([-0.6931,    -inf, -1.3863])
        """
        array = np.asarray(codes)
        sizes = np.array([len(labels) for labels in self.states])
        if array.ndim != 2 or array.shape[1] != len(sizes) or array.dtype.kind not in "iu":
            raise ValueError(
                f"codes must be an array of ints of shape (n_rows, {len(sizes)}), got "
                f"{array.dtype} and shape {array.shape}."
            )
        invalid = (array < 0) | (array >= sizes)
        if invalid.any():
            row, column = map(int, np.argwhere(invalid)[0])
            raise ValueError(
                f"codes of {self.variables[column]!r} must be in [0, {sizes[column] - 1}], got "
                f"{array[row, column]} in row {row}."
            )
        total = np.zeros(len(array))
        for index, (table, parents) in enumerate(zip(self.tables, self.parents, strict=True)):
            family = tuple(array[:, variable] for variable in (*parents, index))
            total += _log(table[family])
        return total

    def posterior(
        self, variable: str | Sequence[str], evidence: Mapping[str, Any] | None = None
    ) -> Array:
        """Compute the exact distribution of one or several variables given evidence.

        Parameters
        ----------
        variable : str or sequence of str
            One name, or several for their joint distribution.
        evidence : mapping of str to label, optional
            The observed state of each observed variable.

        Returns
        -------
        ndarray of float64
            Probabilities of the states in their order, with one axis for each variable.

        Notes
        -----
        Variable elimination in the order of min-fill, after removal of the variables that have no
        effect. Memory grows exponentially with the treewidth of what remains; a table of more than
        2^27 cells raises ValueError.

        Examples
        --------
        >>> from ceiba.bayes import DiscreteNetwork
        >>> network = DiscreteNetwork(
        ...     ["rain", "wet"], [["yes", "no"]] * 2, [[], [0]],
        ...     [[0.2, 0.8], [[0.9, 0.1], [0.3, 0.7]]],
        ... )
        >>> network.posterior("wet")
        array([0.42, 0.58])
        >>> network.posterior("rain", {"wet": "yes"}).round(4)
        array([0.4286, 0.5714])
        """
        names = [variable] if isinstance(variable, str) else list(variable)
        targets = [self._index(name) for name in names]
        observed = {
            self._index(name): self._code(name, label) for name, label in (evidence or {}).items()
        }
        if not targets or len(set(targets)) < len(targets):
            raise ValueError(f"variable must be one name or several different ones, got {names!r}.")
        for name, target in zip(names, targets, strict=True):
            if target in observed:
                raise ValueError(f"{name!r} is both the variable and part of the evidence.")
        sizes = [len(labels) for labels in self.states]
        # A variable with one state is always observed.
        constant = {v: 0 for v, size in enumerate(sizes) if size == 1 and v not in targets}
        factors = [
            Factor((*self.parents[v], v), _log(self.tables[v])).reduce({**constant, **observed})
            for v in self._ancestors([*targets, *observed])
        ]
        joint = eliminate(factors, targets, sizes).log_values
        total = log_sum(joint)
        if np.isneginf(total):
            listed = ", ".join(f"{name}={label!r}" for name, label in (evidence or {}).items())
            raise ValueError(f"the evidence has probability 0: {listed}.")
        posterior: Array = np.exp(joint - total)
        return posterior

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DiscreteNetwork):
            return NotImplemented
        return self._key == other._key and all(map(np.array_equal, self.tables, other.tables))

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Any, ...]:
        return self.name, self.variables, self.states, self.parents

    def __repr__(self) -> str:
        named = f" {self.name!r}" if self.name else ""
        n_variables = len(self.variables)
        lines = [
            f"DiscreteNetwork{named} of {_count(n_variables, 'variable')} and "
            f"{_count(len(self.arcs), 'arc')}"
        ]
        shown = self.variables[:_MAX_SHOWN]
        width = max(map(len, shown))
        for name, labels, parents in zip(shown, self.states, self.parents, strict=False):
            listed = ", ".join([*labels[:5], *(["..."] if len(labels) > 5 else [])])
            given = ", ".join(self.variables[parent] for parent in parents)
            lines.append(
                f"  {name:{width}}  {_count(len(labels), 'state')} ({listed})"
                + (f"  given {given}" if given else "")
            )
        if n_variables > len(shown):
            lines.append(f"  ... and {n_variables - len(shown)} more")
        return "\n".join(lines)

    def _index(self, name: str) -> int:
        if name not in self.variables:
            raise ValueError(
                f"the network has no variable {name!r}: its variables are "
                f"{list_labels(self.variables)}."
            )
        return self.variables.index(name)

    def _code(self, name: str, label: Any) -> int:
        labels = self.states[self._index(name)]
        if str(label) not in labels:
            raise ValueError(f"{label!r} is not a state of {name!r} ({list_labels(labels)}).")
        return labels.index(str(label))

    def _ancestors(self, variables: Iterable[int]) -> list[int]:
        """Return the variables and all their ancestors, sorted."""
        found: set[int] = set()
        pending = list(variables)
        while pending:
            variable = pending.pop()
            if variable not in found:
                found.add(variable)
                pending.extend(self.parents[variable])
        return sorted(found)


def _indices(variable: str, parents: Iterable[Any]) -> tuple[int, ...]:
    try:
        return tuple(map(as_index, parents))
    except TypeError as error:
        raise ValueError(
            f"parents of {variable!r} must be indices of variables, got {parents!r}."
        ) from error


def _numbers(variable: str, table: Any) -> Array:
    try:
        return np.asarray(table, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the table of {variable!r} must be an array of numbers.") from error


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("s" if number != 1 else "")


def _log(values: Array) -> Array:
    with np.errstate(divide="ignore"):
        logs: Array = np.log(values)
    return logs
