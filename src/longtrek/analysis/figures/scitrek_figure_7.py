"""Figure 7 of SciTrek: the prompts that ask for reasoning."""

from matplotlib.figure import Figure

from longtrek.analysis import prompt_sheet
from longtrek.analysis.scitrek_run import SciTrekRun

READS = ()
CAPTION = (
    "The prompts that ask for reasoning step by step and the answer in a box, given full-text articles or "
    "database tables. As this kit sends them; the words are ours, the rules for the answer the paper's."
)
PROMPTS = (
    "reasoning_full_text",
    "reasoning_tables",
)
NOTE = "For models that think; otherwise the same as Figures 6 and 8."


def draw(run: SciTrekRun) -> Figure:
    """Draw the prompt files of this figure as the kit fills and sends them."""
    return prompt_sheet.draw(run, "Prompts in the thinking mode", PROMPTS, NOTE)


def numbers(run: SciTrekRun) -> list[dict[str, object]]:
    """The prompts, line by line."""
    return prompt_sheet.numbers(run, PROMPTS)
