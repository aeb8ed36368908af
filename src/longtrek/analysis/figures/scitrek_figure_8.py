"""Figure 8 of SciTrek: the prompt with database tables."""

from matplotlib.figure import Figure

from longtrek.analysis import prompt_sheet
from longtrek.analysis.scitrek_run import SciTrekRun

READS = ()
CAPTION = (
    "The prompt that asks a question of the database tables and wants the answer alone. As this kit sends it; "
    "the words are ours, the rules for the answer the paper's."
)
PROMPTS = ("direct_tables",)
NOTE = "It differs from Figure 6 only in the context."


def draw(run: SciTrekRun) -> Figure:
    """Draw the prompt files of this figure as the kit fills and sends them."""
    return prompt_sheet.draw(run, "Prompt with database tables as context", PROMPTS, NOTE)


def numbers(run: SciTrekRun) -> list[dict[str, object]]:
    """The prompts, line by line."""
    return prompt_sheet.numbers(run, PROMPTS)
