"""The grid: which documents there are, what each is called, and how long it may be."""

import functools
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import yaml

from longtrek.errors import LongtrekError
from longtrek.files import canonical_json

GRID_FILE = Path(__file__).with_name("grid.yaml")


@dataclass(frozen=True)
class DocumentSpec:
    """One cell of the grid and a sample number: with the root seed, all that a document depends on.

    `horizon` is nominal tokens, input and output together (section 2).
    """

    family: str
    format: str
    difficulty: float
    horizon: int
    sample: int

    @property
    def cell(self) -> str:
        """The document's name without its sample, e.g. `table-resolve-0.125-4096`."""
        return f"{self.family}-{self.format}-{self.difficulty:g}-{self.horizon}"

    @property
    def id(self) -> str:
        """The document's name, e.g. `arithmetic-ordered-2-4096-0`."""
        return f"{self.cell}-{self.sample}"

    @property
    def budget(self) -> int:
        """The most `cl100k_base` tokens of the whole prompt: half the horizon."""
        return self.horizon // 2

    @property
    def cap(self) -> int:
        """The most output tokens: 1.5 times the input budget (appendix D)."""
        return 3 * self.budget // 2

    @property
    def shared(self) -> tuple[str | int, ...]:
        """What the document has in common with those that hold the same records.

        The three formats of a numbered family share their records; the four difficulties of a table format
        share their grid. Documents with equal values are built together, and draw from the same streams.
        """
        if self.family == "table":
            return (self.family, self.format, self.horizon, self.sample)
        return (self.family, f"{self.difficulty:g}", self.horizon, self.sample)


@dataclass(frozen=True)
class Grid:
    """The grid's axes as `grid.yaml` gives them; `families` is family → format → difficulties, easiest first.

    `sha256` is of the axes, not of the file's comments.
    """

    horizons: tuple[int, ...]
    samples: int
    families: dict[str, dict[str, tuple[float, ...]]]
    sha256: str

    def specs(self, horizon: int, samples: int | None = None) -> list[DocumentSpec]:
        """List one tier's documents in the order of its file: those that hold the same records stand together.

        Args:
            horizon: nominal tokens; any positive number, not only the grid's.
            samples: documents a cell (the grid's 5 where None).
        """
        found: list[DocumentSpec] = []
        for family, formats in self.families.items():
            cells = [
                DocumentSpec(family, name, difficulty, horizon, sample)
                for sample in range(self.samples if samples is None else samples)
                for name, difficulties in formats.items()
                for difficulty in difficulties
            ]
            by_shared: dict[tuple[str | int, ...], list[DocumentSpec]] = {}
            for spec in cells:
                by_shared.setdefault(spec.shared, []).append(spec)
            found += [spec for group in by_shared.values() for spec in group]
        return found

    def check(self, spec: DocumentSpec) -> DocumentSpec:
        """Return the spec if the grid has its family, format and difficulty and its numbers make sense.

        Raises:
            LongtrekError: naming the field, what was found and what is allowed.
        """
        _one_of("family", spec.family, self.families)
        formats = self.families[spec.family]
        _one_of(f"format of {spec.family}", spec.format, formats)
        if spec.difficulty not in formats[spec.format]:
            allowed = ", ".join(f"{value:g}" for value in formats[spec.format])
            raise LongtrekError(
                f"difficulty of {spec.family} {spec.format}: found {spec.difficulty:g}; expected one of {allowed}"
            )
        if spec.horizon < 2:
            raise LongtrekError(f"horizon: found {spec.horizon}; expected a positive number of tokens, such as 4096")
        if spec.sample < 0:
            raise LongtrekError(f"sample: found {spec.sample}; expected 0 or more")
        return spec


def _one_of(field: str, value: str, allowed: Iterable[str]) -> None:
    names = list(allowed)
    if value not in names:
        raise LongtrekError(f"{field}: found {value!r}; expected one of {', '.join(names)}")


@functools.cache
def grid() -> Grid:
    """The paper's grid, read from the package's `grid.yaml`."""
    data = yaml.safe_load(GRID_FILE.read_bytes())
    families = {
        family: {name: tuple(difficulties) for name, difficulties in formats.items()}
        for family, formats in data["families"].items()
    }
    return Grid(
        tuple(data["horizons"]), data["samples"], families, hashlib.sha256(canonical_json(data).encode()).hexdigest()
    )


def groups(specs: Sequence[DocumentSpec]) -> list[list[DocumentSpec]]:
    """Cut a tier's documents, in file order, into those that hold the same records."""
    cut: list[list[DocumentSpec]] = []
    for spec in specs:
        if cut and cut[-1][0].shared == spec.shared:
            cut[-1].append(spec)
        else:
            cut.append([spec])
    return cut


def difficulty_of(text: str) -> float:
    """Read a difficulty as people write it: `2`, `0.125` or `1/8`.

    Raises:
        LongtrekError: the text is no number.
    """
    try:
        return float(Fraction(text.strip()))
    except (ValueError, ArithmeticError):
        raise LongtrekError(f"difficulty: found {text!r}; expected a number, such as 2, 0.125 or 1/8") from None


def json_number(value: float) -> int | float:
    """A whole number as an int, so that a difficulty has one spelling in JSON: 2, 0.2, 0.125, 1."""
    return int(value) if float(value).is_integer() else value
