"""Rebuilds the Long-Transduction and SciTrek papers on long-context language models from frozen seeds."""

__version__ = "0.1.0"
