"""The part of a Dask graph that computes one partition, as a worker runs it inside one task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ceiba.engine.dask.alignment import COLLECT_FUNCTIONS


@dataclass(frozen=True, slots=True)
class Block:
    """Tasks of one partition alone, and the persisted values that they start from.

    Parameters
    ----------
    outputs : tuple of keys
        Keys of the rows, the weights and the target, None for those that are not given; or one
        key, of a tuple of all three.
    tasks : tuple of (key, task)
        In an order in which they can be run.
    input_keys : tuple of keys
        Keys of the ``inputs`` of `run`.
    """

    outputs: tuple[Any, ...]
    tasks: tuple[tuple[Any, Any], ...]
    input_keys: tuple[Any, ...]

    def run(self, inputs: Sequence[Any]) -> tuple[Any, Any, Any]:
        """Return rows, weights and target from the values of the persisted inputs."""
        values = dict(zip(self.input_keys, inputs, strict=True))
        for key, task in self.tasks:
            values[key] = task(values)
        found: Any = [None if key is None else values[key] for key in self.outputs]
        rows, weight, target = found[0] if len(found) == 1 else found
        return rows, weight, target

    @property
    def only_selects(self) -> bool:
        """Whether rows, weights and target are parts of the inputs, so that they are no larger."""
        return all(_is_selection(task) for _, task in self.tasks)


def _is_selection(task: Any) -> bool:
    from dask._task_spec import Alias, _execute_subgraph

    function = getattr(task, "func", None)
    if function is _execute_subgraph:  # tasks that Dask has fused
        return all(map(_is_selection, task.args[0].values()))
    if function is None:
        return isinstance(task, Alias)
    return function in COLLECT_FUNCTIONS or getattr(function, "__name__", "") == "getitem"


def independent_blocks(
    graph: Mapping[Any, Any], outputs: Sequence[tuple[Any, ...]]
) -> list[tuple[Block, tuple[Any, ...]]] | None:
    """Return the block of each partition, and the futures of its inputs.

    Return None if two partitions share a task. A shared task, such as the mean of all rows,
    has to be run once for all partitions.
    """
    from dask._task_spec import convert_legacy_graph
    from distributed import Future

    futures = {key: value for key, value in graph.items() if isinstance(value, Future)}
    others = {key: value for key, value in graph.items() if key not in futures}
    tasks = convert_legacy_graph(others, all_keys=set(graph))
    blocks, seen = [], set[Any]()
    for keys in outputs:
        found = _upstream(keys, tasks, futures)
        if found is None or not seen.isdisjoint(found[0]):
            return None
        order, inputs = found
        seen.update(order)
        block = Block(keys, tuple((key, tasks[key]) for key in order), tuple(inputs))
        blocks.append((block, tuple(futures[key] for key in inputs)))
    return blocks


def _upstream(
    keys: tuple[Any, ...], tasks: Mapping[Any, Any], futures: Mapping[Any, Any]
) -> tuple[list[Any], list[Any]] | None:
    """Return the tasks before some keys, in order, and the futures; None if one is unknown."""
    order: dict[Any, None] = {}
    inputs: dict[Any, None] = {}
    pending = [key for key in reversed(keys) if key is not None]
    while pending:
        key = pending[-1]
        if key in futures:
            inputs[key] = None
        elif key not in tasks:
            return None
        else:
            before = [k for k in tasks[key].dependencies if k not in order and k not in inputs]
            if before:
                pending.extend(before)
                continue
            order[key] = None
        pending.pop()
    return list(order), list(inputs)
