"""Table 4 of SciTrek: templates by skill."""

from collections import Counter

from longtrek.analysis import published
from longtrek.analysis.scitrek_cells import theirs
from longtrek.analysis.scitrek_run import SciTrekRun
from longtrek.analysis.scitrek_words import SKILLS
from longtrek.analysis.typeset import Table
from longtrek.scitrek.questions.templates import templates

READS = ()
CAPTION = "SQL templates by the skill that they test, counted from this kit's templates, with the first of each skill."


def make(run: SciTrekRun) -> Table:
    """Templates counted by skill, beside the published counts."""
    values = {value.setting["skill"]: value for value in published.read("scitrek_table_4", run.published)}
    counts = Counter(template.skill for template in templates())
    first = {template.skill: template.sql for template in reversed(templates())}
    rows = [(name, str(counts[skill]), theirs(values.get(skill), 0), first[skill]) for skill, name in SKILLS.items()]
    printed = sum(value.value or 0 for value in values.values())
    rows.append(("All", str(counts.total()), f"{printed:.0f}", "–"))
    notes = (
        "The paper prints no total; the published one is the sum of its rows. Braces are filled with a collection's "
        "own values.",
        f"Counted from the templates; no model's answers enter. Run: {run.kind}.",
    )
    header = ("Skill", "Count", "Count, published", "Example Query Template")
    return Table("scitrek_table_4", CAPTION, header, tuple(rows), notes, "lrrp")
