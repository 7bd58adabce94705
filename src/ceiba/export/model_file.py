"""Model files: a zip of JSON and npy, versioned, that can be mapped from disk and is never pickle.

``model.json`` says the format's version, the class, the hyper-parameters and the fitted state;
every array of it is an entry of its own, stored uncompressed and aligned. The fitted state is what
scikit-learn calls so, the attributes whose names end in ``_``, and those that a class names in
``_state_names``. A class may check what was read in ``_check_state``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import getattr_static
from pathlib import Path
from secrets import token_hex
from typing import Any, BinaryIO

from sklearn.utils.validation import check_is_fitted

import ceiba
from ceiba.base.parameters import validate
from ceiba.export.archive import LARGEST_TEXT, Archive, write
from ceiba.export.defect import DefectError, ModelFileError
from ceiba.export.registry import estimator_class
from ceiba.export.values import Decoder, Encoder

VERSION = 1

_FORMAT = "ceiba model"
_TEXT = "model.json"


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file that `load` reads, now or in a later version.

    The file is written beside its place and then moved there: another process sees the old file
    or the new one, and a failure leaves the old one as it was. Equal models give equal bytes.

    Parameters
    ----------
    model : estimator
        One of Ceiba's own, fitted.
    path : str or path-like
        Where to; a file that is there is replaced.

    Raises
    ------
    ModelFileError
        If the model holds what a file cannot keep: a function or a RandomState as parameter, an
        estimator that is not Ceiba's.

    Examples
    --------
    >>> import numpy as np, tempfile, ceiba
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> model = ceiba.KMeans(2).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ceiba.save(model, folder + "/groups.ceiba")
    ...     again = ceiba.load(folder + "/groups.ceiba")
    >>> bool((again.predict(X) == model.predict(X)).all())
    True
    """
    name = type(model).__name__
    if type(model) is not estimator_class(name):
        raise ModelFileError(f"A {name} is not one of Ceiba's own models and cannot be saved.")
    check_is_fitted(model)
    try:
        encoder = Encoder(lambda value, place: _encode_model(encoder, value, place))
        record: dict[str, Any] = {"format": _FORMAT, "version": VERSION}
        record["ceiba"] = ceiba.__version__
        record["model"] = _encode_model(encoder, model, "model")
        text = json.dumps(record, allow_nan=False)
        if len(text) > LARGEST_TEXT:
            raise DefectError(_TEXT, "the model holds too much text")
    except DefectError as defect:
        raise ModelFileError(f"This {name} cannot be saved: {defect}.") from defect
    with _replacing(Path(os.path.realpath(path))) as file:
        write(file, {_TEXT: text.encode("ascii"), **encoder.arrays})


def load(path: str | os.PathLike[str], *, mmap: bool = False) -> Any:
    """Read a model that `save` wrote.

    No code of the file is run and no class but Ceiba's own is made: a file from a stranger can at
    worst be refused. Everything is checked first: checksums, types, shapes, parameters.

    Parameters
    ----------
    path : str or path-like
        The file.
    mmap : bool, default=False
        Leave the arrays on disk and map them, read-only: processes that load the same file then
        share its memory. The file must stay as it is while the model is used. (It is read through
        once, for the checksums.)

    Returns
    -------
    model : estimator

    Raises
    ------
    ModelFileError
        If the file is damaged, is no model file or comes from a newer Ceiba.

    Examples
    --------
    See `save`.
    """
    with open(path, "rb") as file:
        try:
            return _read(Archive(file), mmap)
        except DefectError as defect:
            raise ModelFileError(f"{os.fspath(path)}: {defect}.") from defect


def _encode_model(encoder: Encoder, model: Any, place: str) -> Any:
    cls = type(model)
    if cls is not estimator_class(cls.__name__):
        return None
    parameters = model.get_params(deep=False)
    names = sorted(name for name in vars(model) if _is_state(cls, name))
    _check(model, bool(names), place)  # what could not be loaded is not saved
    return {
        "class": cls.__name__,
        "parameters": {
            name: encoder.encode(value, f"{place}/{name}") for name, value in parameters.items()
        },
        "state": {name: encoder.encode(vars(model)[name], f"{place}/{name}") for name in names},
    }


def _is_state(cls: Any, name: str) -> bool:
    if name in getattr(cls, "_state_names", ()):
        return True
    plain = name.isascii() and name.isidentifier()
    return plain and name.endswith("_") and not name.startswith("_")


@contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    """A new file that takes the place of ``path`` once it is whole."""
    beside = path.with_name(f".{path.name}.{token_hex(8)}.part")
    try:
        with open(beside, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _read(archive: Archive, mmap: bool) -> Any:
    record = _parse(archive.text(_TEXT))
    if record.get("format") != _FORMAT:
        raise DefectError(_TEXT, "this is not a Ceiba model file")
    version = record.get("version")
    if type(version) is not int or version < 1:
        raise DefectError(_TEXT, f"the format version {version!r} is none")
    if version > VERSION:
        raise DefectError(
            _TEXT,
            f"its format {version} is newer than the {VERSION} that this Ceiba "
            f"({ceiba.__version__}) reads; install a newer Ceiba",
        )
    used = {_TEXT}

    def read_array(name: str) -> Any:
        used.add(name)
        return archive.array(name, mmap)

    decoder = Decoder(read_array, lambda value, place: _decode_model(decoder, value, place))
    model = _decode_model(decoder, record.get("model"), "model")
    for name in sorted(set(archive.entries) - used):
        raise DefectError(name, "nothing in the model uses it")
    if not record["model"]["state"]:
        raise DefectError("model", "it has no fitted state")
    return model


def _parse(text: str) -> dict[str, Any]:
    try:
        record = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except RecursionError as error:
        raise DefectError(_TEXT, "it is nested too deeply") from error
    except ValueError as error:
        raise DefectError(_TEXT, f"it is not sound JSON: {error}") from error
    if not isinstance(record, dict):
        raise DefectError(_TEXT, "this is not a Ceiba model file")
    return record


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key is there twice")
    return result


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _decode_model(decoder: Decoder, record: Any, place: str) -> Any:
    if not isinstance(record, dict) or set(record) != {"class", "parameters", "state"}:
        raise DefectError(place, "a model needs a class, parameters and a state")
    cls = estimator_class(record["class"])
    if cls is None:
        raise DefectError(place, f"the class {record['class']!r} is not one that this Ceiba knows")
    parameters = _decode_all(decoder, record["parameters"], place)
    for name in parameters:
        if name not in cls._get_param_names():
            raise DefectError(place, f"a {cls.__name__} has no parameter {name!r}")
    model = cls(**parameters)
    _restore(model, _decode_all(decoder, record["state"], place), place)
    return model


def _restore(model: Any, state: dict[str, Any], place: str) -> None:
    cls = type(model)
    for name, value in state.items():
        # What the class computes (a property) or does (a method) is no state.
        computed = hasattr(getattr_static(cls, name, None), "__get__")
        if computed or not _is_state(cls, name):
            raise DefectError(place, f"a {cls.__name__} has no fitted attribute {name!r}")
        setattr(model, name, value)
    _check(model, bool(state), place)


def _decode_all(decoder: Decoder, record: Any, place: str) -> dict[str, Any]:
    if not isinstance(record, dict):
        raise DefectError(place, "its parameters or its state are no dictionary")
    return {name: decoder.decode(value, f"{place}/{name}") for name, value in record.items()}


def _check(model: Any, fitted: bool, place: str) -> None:
    """Parameters in their ranges and, of a fitted model, indices and shapes that fit together."""
    try:
        validate(model)
    except ValueError as error:
        raise DefectError(place, str(error).rstrip(".")) from error
    if not fitted or not hasattr(model, "_check_state"):
        return
    try:
        model._check_state()
    except Exception as error:
        # It walks over what a stranger may have written: any failure is the file's.
        reason = str(error).rstrip(".")
        raise DefectError(place, f"its state does not fit together: {reason}") from error
