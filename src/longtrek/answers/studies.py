"""From a study's data to requests: which documents a run asks, and what each request knows."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longtrek.answers.request import Completion, Request
from longtrek.errors import LongtrekError


@dataclass(frozen=True)
class Selection:
    """Which documents of a tier are asked: of each family the difficulties by rank, 1 the easiest, and samples."""

    difficulty_ranks: Mapping[str, Sequence[int]]
    samples: Sequence[int]

    def holds(self, document: Mapping[str, Any]) -> bool:
        """Whether a document is asked.

        Raises:
            LongtrekError: it is of no cell of the grid.
        """
        from longtrek.transduction.grid import grid

        family, form, difficulty = document["family"], document["format"], document.get("difficulty")
        try:
            rank = grid().families[family][form].index(difficulty) + 1
        except (KeyError, ValueError):
            cell = f"{family} {form} {difficulty}"
            raise LongtrekError(
                f"document {document['id']}: {cell:.80} is none of the grid's cells; make the documents again with "
                "`longtrek documents`"
            ) from None
        return rank in self.difficulty_ranks[family] and document["sample"] in self.samples


def transduction_requests(path: Path, selection: Selection, early_stop: bool) -> list[Request]:
    """Requests for the selected documents of one tier, in the file's order (Long-Transduction, section 3).

    The four difficulties of one permuted table share their grid, and so their prompt's beginning: they share a
    `prefix`. With `early_stop` a stream ends once no further token can change a score.

    Raises:
        LongtrekError: no document is selected.
    """
    from longtrek.transduction.pairing import read_documents

    requests = [
        transduction_request(document, early_stop) for document in read_documents(path) if selection.holds(document)
    ]
    if not requests:
        raise LongtrekError(f"{path}: no document is selected by {selection}; check transduction.ask in the config")
    return requests


def transduction_request(document: dict[str, Any], early_stop: bool) -> Request:
    """The request of one document; see `transduction_requests`."""
    shared = document["format"].startswith("permute_")
    grid = f"{document['format']}-{document['horizon']}-{document['sample']}"
    return Request(
        id=document["id"],
        messages=[{"role": "user", "content": document["prompt"]}],
        max_tokens=document["cap"],
        prefix=grid if shared else "",
        expected=document["expected"],
        completion=functools.partial(_completion, document) if early_stop else None,
    )


def _completion(document: dict[str, Any]) -> Completion:
    from longtrek.transduction.completion import completion_of

    rule: Completion = completion_of(document)
    return rule
