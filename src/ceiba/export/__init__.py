"""Model files, and models for other libraries and languages."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ceiba.export.errors import NotExpressibleError
from ceiba.export.model_file import ModelFileError, load, save

if TYPE_CHECKING:
    from ceiba.export.code import to_code
    from ceiba.export.onnx import to_onnx
    from ceiba.export.sklearn import to_sklearn

__all__ = [
    "ModelFileError",
    "NotExpressibleError",
    "load",
    "save",
    "to_code",
    "to_onnx",
    "to_sklearn",
]

# Imported on first use: these packages import many others, which model files do not need.
_PACKAGES = {
    "to_code": "ceiba.export.code",
    "to_onnx": "ceiba.export.onnx",
    "to_sklearn": "ceiba.export.sklearn",
}

if not TYPE_CHECKING:  # a type checker would take every unknown name for Any

    def __getattr__(name: str) -> Any:
        if name not in _PACKAGES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_PACKAGES[name]), name)
