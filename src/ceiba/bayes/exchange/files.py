"""Read and write network files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from ceiba.bayes.exchange.bif import format_bif, parse_bif
from ceiba.bayes.exchange.elvira import parse_elvira
from ceiba.bayes.exchange.network import DiscreteNetwork
from ceiba.bayes.exchange.xmlbif import format_xmlbif, parse_xmlbif
from ceiba.data.io.errors import ReadError
from ceiba.data.io.files import check_local, read_bytes, split_suffix, to_utf8

#: Largest size of a network file, decompressed.
MAX_BYTES = 256 << 20

_SUFFIXES = {
    ".bif": "bif",
    ".xml": "xmlbif",
    ".xmlbif": "xmlbif",
    ".bifxml": "xmlbif",
    ".elv": "elvira",
}
_PARSERS: dict[str, Callable[[bytes, Path], DiscreteNetwork]] = {
    "bif": parse_bif,
    "xmlbif": parse_xmlbif,
    "elvira": parse_elvira,
}
_WRITERS: dict[str, Callable[[DiscreteNetwork], bytes]] = {
    "bif": format_bif,
    "xmlbif": format_xmlbif,
}
_LOCAL_ONLY = "download it, and pass the path of the file"


def read_network(
    path: str | os.PathLike[str], *, format: str | None = None, encoding: str = "utf-8"
) -> DiscreteNetwork:
    """Read a discrete Bayesian network from a BIF, XMLBIF or Elvira file.

    Parameters
    ----------
    path : path
        ``.bif`` is BIF (0.15), ``.xml``, ``.xmlbif`` and ``.bifxml`` are XMLBIF (0.3), ``.elv`` is
        Elvira. The file may be compressed as in `ceiba.read`, ``"asia.bif.gz"`` for example.
    format : {"bif", "xmlbif", "elvira"}, optional
        The format, if the suffix is another one.
    encoding : str
        BIF and Elvira. UTF-8 by default; an XML file declares its encoding.

    Returns
    -------
    DiscreteNetwork
        Variables and states are in the order of the file.

    Raises
    ------
    ReadError
        If the file is invalid; the message names file and line.

    Notes
    -----
    Properties, positions and comments are ignored. Files of more than 256 MiB, and tables with more
    than 2^26 cells together, are rejected. Elvira's continuous, decision and utility nodes and
    relations other than tables and trees of probabilities are not supported.

    References
    ----------
    F. G. Cozman (1998), The Interchange Format for Bayesian Networks.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from ceiba.bayes import read_network
    >>> path = pathlib.Path(tempfile.mkdtemp(), "rain.bif")
    >>> _ = path.write_text('''network rain { }
    ... variable rain { type discrete [ 2 ] { yes, no }; }
    ... variable wet { type discrete [ 2 ] { yes, no }; }
    ... probability ( rain ) { table 0.2, 0.8; }
    ... probability ( wet | rain ) { (yes) 0.9, 0.1; (no) 0.3, 0.7; }
    ... ''')
    >>> read_network(path)
    DiscreteNetwork 'rain' of 2 variables and 1 arc
      rain  2 states (yes, no)
      wet   2 states (yes, no)  given rain
    """
    check_local(path, _LOCAL_ONLY)
    path = Path(path)
    chosen = None if format is None else _check_format(format, _PARSERS)
    suffix, compression = split_suffix(path)
    if chosen is None and (suffix or compression != ".zip"):
        _format_of(path, suffix, _PARSERS)  # before a large file is read
    if not compression and path.stat().st_size > MAX_BYTES:
        raise ReadError.at(path, f"a network file must have up to {MAX_BYTES:,} bytes.")
    raw, suffix = read_bytes(path, MAX_BYTES)
    chosen = chosen or _format_of(path, suffix, _PARSERS)
    if chosen == "xmlbif":
        if encoding != "utf-8":
            raise ValueError("'encoding' has no effect with XMLBIF files, which declare it.")
        return _PARSERS[chosen](raw, path)
    return _PARSERS[chosen](to_utf8(raw, encoding, path), path)


def write_network(
    network: DiscreteNetwork, path: str | os.PathLike[str], *, format: str | None = None
) -> None:
    """Write a discrete Bayesian network to a BIF or XMLBIF file.

    Parameters
    ----------
    network : DiscreteNetwork
        The network.
    path : path
        ``.bif`` is BIF (0.15), ``.xml``, ``.xmlbif`` and ``.bifxml`` are XMLBIF (0.3).
    format : {"bif", "xmlbif"}, optional
        The format, if the suffix is another one.

    Raises
    ------
    ValueError
        If the format has no spelling for a name, such as one with a quote in BIF. Nothing is
        written then.

    Notes
    -----
    Probabilities are written with all their digits: `read_network` returns an equal network.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from ceiba.bayes import DiscreteNetwork, read_network, write_network
    >>> network = DiscreteNetwork(
    ...     ["rain", "wet"], [["yes", "no"]] * 2, [[], [0]],
    ...     [[0.2, 0.8], [[0.9, 0.1], [0.3, 0.7]]],
    ... )
    >>> path = pathlib.Path(tempfile.mkdtemp(), "rain.xml")
    >>> write_network(network, path)
    >>> read_network(path) == network
    True
    """
    if not isinstance(network, DiscreteNetwork):
        raise ValueError(f"network must be a DiscreteNetwork, got {type(network).__name__}.")
    check_local(path, "pass the path of a local file")
    path = Path(path)
    if format is None:
        chosen = _format_of(path, path.suffix.lower(), _WRITERS, ValueError)
    else:
        chosen = _check_format(format, _WRITERS)
    path.write_bytes(_WRITERS[chosen](network))


def _check_format(format: str, known: Iterable[str]) -> str:
    names = list(known)
    if format not in names:
        raise ValueError(f"format must be one of {', '.join(map(repr, names))}, got {format!r}.")
    return format


def _format_of(
    path: Path, suffix: str, known: Iterable[str], error: type[ValueError] = ReadError
) -> str:
    found = _SUFFIXES.get(suffix)
    names = list(known)
    if found is None or found not in names:
        listed = ", ".join(key for key, value in _SUFFIXES.items() if value in names)
        raise error(
            f"{path}: the suffix must be one of {listed}, got {suffix!r}. Else pass the format."
        )
    return found
