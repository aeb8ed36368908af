"""Figure 3 of SciTrek: the four prompts that extract metadata."""

from matplotlib.figure import Figure

from longtrek.analysis import prompt_sheet
from longtrek.analysis.scitrek_run import SciTrekRun

READS = ()
CAPTION = (
    "The four prompts that extract a title, authors, a number of references and a citation from a chunk of an "
    "article, for the SQL-execution baseline. As this kit sends them; the words are ours, the tasks the "
    "paper's."
)
PROMPTS = (
    "extract_title",
    "extract_authors",
    "count_references",
    "detect_citation",
)
NOTE = "Each is sent with a chunk of 16K tokens at most; the reply must fit a JSON schema (constrained decoding)."


def draw(run: SciTrekRun) -> Figure:
    """Draw the prompt files of this figure as the kit fills and sends them."""
    return prompt_sheet.draw(
        run, "Prompts that extract titles, authors and references from an article's text", PROMPTS, NOTE
    )


def numbers(run: SciTrekRun) -> list[dict[str, object]]:
    """The prompts, line by line."""
    return prompt_sheet.numbers(run, PROMPTS)
