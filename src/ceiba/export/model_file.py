"""Save and load models as a zip of JSON and npy entries, without pickle.

``model.json`` has the version of the format, the class, the hyper-parameters and the fitted state;
every array is an entry of its own, uncompressed and aligned for memory-mapping. The fitted state
consists of the attributes whose names end in ``_`` and of those listed in ``_state_names`` of the
class. A class may check the loaded state in ``_check_state``.
"""

from __future__ import annotations

import json
import os
import stat
from inspect import getattr_static
from typing import Any

from sklearn.utils.validation import check_is_fitted

import ceiba
from ceiba.base import validate
from ceiba.base.archive import MAX_TEXT_BYTES, Archive, DefectError, write
from ceiba.base.value_types import format_value
from ceiba.base.values import Decoder, Encoder
from ceiba.data.io.files import check_file_path, check_local, open_replacement

VERSION = 2

_FORMAT = "ceiba model"
_TEXT = "model.json"


class ModelFileError(ValueError):
    """A file is not a valid model file, or a model cannot be stored in one."""


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file for `load`.

    The file is written under a temporary name and then moved: another process sees the old file
    or the new one, and a failure leaves the old one unchanged. Equal models give equal bytes.

    Parameters
    ----------
    model : estimator
        A fitted estimator of Ceiba.
    path : str or path-like
        An existing file is replaced.

    Raises
    ------
    ModelFileError
        If the model has a part that a file cannot store: a callable or a RandomState as
        parameter, an estimator of another library.

    Examples
    --------
    >>> import numpy as np, tempfile, ceiba
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> model = ceiba.KMeans(2).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ceiba.save(model, folder + "/groups.ceiba")
    ...     loaded = ceiba.load(folder + "/groups.ceiba")
    >>> bool((loaded.predict(X) == model.predict(X)).all())
    True
    """
    name = type(model).__name__
    if type(model) is not _estimator_class(name):
        raise ModelFileError(f"model must be an estimator of Ceiba, got {name}.")
    check_is_fitted(model)
    check_file_path(path)
    try:
        encoder = Encoder(lambda value, where: _encode_model(encoder, value, where))
        record: dict[str, Any] = {"format": _FORMAT, "version": VERSION}
        record["ceiba"] = ceiba.__version__
        record["model"] = _encode_model(encoder, model, "model")
        text = json.dumps(record, allow_nan=False)
        if len(text) > MAX_TEXT_BYTES:
            raise DefectError(_TEXT, f"must have at most {MAX_TEXT_BYTES} bytes", len(text))
    except DefectError as defect:
        raise ModelFileError(f"This {name} cannot be saved: {defect}.") from defect
    with open_replacement(path) as file:
        write(file, {_TEXT: text.encode("ascii"), **encoder.arrays})


def load(path: str | os.PathLike[str], *, mmap: bool = False) -> Any:
    """Read a model that `save` wrote.

    No code in the file is executed and only Ceiba's own classes are instantiated, so that an
    untrusted file is safe to load. Checksums, types, shapes and parameters are checked.

    Parameters
    ----------
    path : str or path-like
        The file.
    mmap : bool, default=False
        Map the arrays from disk, read-only: processes that load the same file then share its
        memory. The file must not change while the model is used. (It is read once, for the
        checksums.)

    Returns
    -------
    model : estimator

    Raises
    ------
    ModelFileError
        If the file is damaged, is not a model file or has another version of the format, or if
        the path is a device or a pipe.

    Examples
    --------
    See `save`.
    """
    check_local(path, "download the file first")
    _check_regular(path)
    with open(path, "rb") as file:
        try:
            return _read_model(Archive(file), mmap)
        except DefectError as defect:
            raise ModelFileError(f"{os.fspath(path)}: {defect}.") from defect


def _check_regular(path: str | os.PathLike[str]) -> None:
    """Raise for devices and pipes: they may have no end, and opening one may block for ever."""
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # open raises for a directory
        raise ModelFileError(
            f"path must be a regular file, got {os.fspath(path)!r}, a device, pipe or socket: copy "
            "its content to a file first."
        )


def _estimator_class(name: object) -> Any:
    """Return the estimator of a name; None for names that a model file may not have."""
    return getattr(ceiba, name) if isinstance(name, str) and name in ceiba.ESTIMATORS else None


def _encode_model(encoder: Encoder, model: Any, where: str) -> Any:
    cls = type(model)
    if cls is not _estimator_class(cls.__name__):
        return None
    parameters = model.get_params(deep=False)
    names = sorted(name for name in vars(model) if _is_state(cls, name))
    _check_model(model, bool(names), where)  # a model that could not be loaded is not saved
    return {
        "class": cls.__name__,
        "parameters": {
            name: encoder.encode(value, f"{where}/{name}") for name, value in parameters.items()
        },
        "state": {name: encoder.encode(vars(model)[name], f"{where}/{name}") for name in names},
    }


def _is_state(cls: Any, name: str) -> bool:
    is_public = name.isascii() and name.isidentifier() and not name.startswith("_")
    return name in getattr(cls, "_state_names", ()) or (is_public and name.endswith("_"))


def _read_model(archive: Archive, mmap: bool) -> Any:
    record = archive.json(_TEXT)
    if record.get("format") != _FORMAT:
        reason = f"not a Ceiba model file: format must be {_FORMAT!r}"
        raise DefectError(_TEXT, reason, record.get("format"))
    version = record.get("version")
    if type(version) is not int or version < 1:
        raise DefectError(_TEXT, "the format version must be an int >= 1", version)
    if version != VERSION:
        newer = version > VERSION
        remedy = "install a newer Ceiba" if newer else "fit and save the model again"
        raise DefectError(
            _TEXT,
            f"format {version} is {'newer' if newer else 'older'} than format {VERSION}, which "
            f"Ceiba {ceiba.__version__} reads; {remedy}",
        )
    used = {_TEXT}

    def read_array(name: str) -> Any:
        used.add(name)
        return archive.array(name, mmap)

    decoder = Decoder(read_array, lambda value, where: _decode_model(decoder, value, where))
    model = _decode_model(decoder, record.get("model"), "model")
    for name in sorted(set(archive.entries) - used):
        raise DefectError(name, "the model does not use this entry")
    if not record["model"]["state"]:
        raise DefectError("model", "there is no fitted state")
    return model


def _decode_model(decoder: Decoder, record: Any, where: str) -> Any:
    if not isinstance(record, dict) or set(record) != {"class", "parameters", "state"}:
        raise DefectError(where, "a model must have class, parameters and state", record)
    cls = _estimator_class(record["class"])
    if cls is None:
        raise DefectError(where, f"unknown class {format_value(record['class'])}")
    parameters = _decode_all(decoder, record["parameters"], where)
    for name in parameters:
        if name not in cls._get_param_names():
            raise DefectError(where, f"{cls.__name__} has no parameter {name!r}")
    model = cls(**parameters)
    state = _decode_all(decoder, record["state"], where)
    for name, value in state.items():
        # Properties and methods of the class are not state.
        computed = hasattr(getattr_static(cls, name, None), "__get__")
        if computed or not _is_state(cls, name):
            raise DefectError(where, f"{cls.__name__} has no fitted attribute {name!r}")
        setattr(model, name, value)
    _check_model(model, bool(state), where)
    return model


def _decode_all(decoder: Decoder, record: Any, where: str) -> dict[str, Any]:
    if not isinstance(record, dict):
        raise DefectError(where, "parameters and state must be dictionaries", record)
    return {name: decoder.decode(value, f"{where}/{name}") for name, value in record.items()}


def _check_model(model: Any, fitted: bool, where: str) -> None:
    """Check the parameters and, if the model is fitted, its attributes."""
    check_state = getattr(model, "_check_state", None)
    try:
        validate(model)
        if fitted and check_state is not None:
            check_state()
    except Exception as error:
        # The values come from an untrusted file: any exception means that it is damaged.
        raise DefectError(where, f"invalid model: {str(error).rstrip('.')}") from error
