"""Figure 6 of SciTrek: the prompt with full-text articles."""

from matplotlib.figure import Figure

from longtrek.analysis import prompt_sheet
from longtrek.analysis.scitrek_run import SciTrekRun

READS = ()
CAPTION = (
    "The prompt that asks a question of full-text articles and wants the answer alone. As this kit sends it; "
    "the words are ours, the rules for the answer the paper's."
)
PROMPTS = ("direct_full_text",)
NOTE = "Articles come first and the question last, so that the questions of a collection share a prefix."


def draw(run: SciTrekRun) -> Figure:
    """Draw the prompt files of this figure as the kit fills and sends them."""
    return prompt_sheet.draw(run, "Prompt with full-text articles as context", PROMPTS, NOTE)


def numbers(run: SciTrekRun) -> list[dict[str, object]]:
    """The prompts, line by line."""
    return prompt_sheet.numbers(run, PROMPTS)
