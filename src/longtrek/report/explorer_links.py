"""From a claim to the answers that it rests on, as a selection of the explorer."""

from collections.abc import Mapping, Sequence

from longtrek.analysis.claims.printed import read_all
from longtrek.analysis.claims.table import read
from longtrek.config import Config
from longtrek.report.claims import Claim
from longtrek.report.study import Answers

RESTS_ON_ANSWERS = "scores"
"""The kind of claim that is computed from scored answers."""
FILTERS = {
    "transduction": ("model", "family", "format", "difficulty", "horizon"),
    "scitrek": ("model", "context", "level", "skill", "topic", "subject", "prompt"),
}
"""What a claim may say of its answers that the explorer can filter by."""


def explorer_links(claims: Sequence[Claim], config: Config, studies: Sequence[Answers]) -> dict[str, Mapping[str, str]]:
    """For each judged claim that rests on answers of the run, the filters that select them, by the claim's id.

    What a claim says but the run has not (another model, another horizon) leaves it without a link where it is a
    model, and is left out of the filters otherwise.
    """
    by_paper = {study.paper: study for study in studies if study.rows.count}
    resting = [claim for claim in claims if claim.verdict != "not run" and claim.kind == RESTS_ON_ANSWERS]
    judged = {claim.id: by_paper[claim.paper] for claim in resting if claim.paper in by_paper}
    if not judged:
        return {}
    found: dict[str, Mapping[str, str]] = {}
    for asked in read(read_all(config.published)):
        study = judged.get(asked.claim.id)
        if study is None:
            continue
        said = {name: asked.get(name) for name in FILTERS[study.paper]}
        there = {name: value for name, value in said.items() if value in study.values(name)}
        if not said["model"] or "model" in there:
            found[asked.claim.id] = {"paper": study.paper, **there}
    return found
