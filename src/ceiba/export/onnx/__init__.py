"""Convert fitted models to ONNX."""

from ceiba.export.onnx.convert import to_onnx

__all__ = ["to_onnx"]
