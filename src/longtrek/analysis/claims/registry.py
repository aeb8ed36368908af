"""Every computation of a claim by name: `longtrek claims` finds there what `config/claims.csv` names."""

import importlib
from collections.abc import Callable, Mapping
from functools import cache

from longtrek.analysis.claims.evidence import Evidence
from longtrek.analysis.claims.table import Asked
from longtrek.analysis.claims.verdicts import Found

Computation = Callable[[Evidence, Asked], Found]
"""Evidence and a claim in, a number with its bounds out; pure."""

MODULES = (
    "transduction_built",
    "transduction_printed",
    "transduction_scores",
    "scitrek_built",
    "scitrek_printed",
    "scitrek_trained",
    "scitrek_failures",
    "scitrek_scores",
    "scitrek_questions",
)
"""The modules with computations, by paper and by what they compute from."""
_FOUND: dict[str, Computation] = {}


def computes(function: Computation) -> Computation:
    """Register a computation under its function's name."""
    name = function.__name__
    assert name not in _FOUND, f"two computations are called {name}"
    _FOUND[name] = function
    return function


@cache
def computations() -> Mapping[str, Computation]:
    """All computations by name."""
    for module in MODULES:
        importlib.import_module(f"{__package__}.{module}")
    return dict(sorted(_FOUND.items()))
