"""Figure 4 of SciTrek: the prompt that turns SQL into a question."""

from matplotlib.figure import Figure

from longtrek.analysis import prompt_sheet
from longtrek.analysis.scitrek_run import SciTrekRun

READS = ()
CAPTION = (
    "The prompt by which a model writes a question from an SQL query. As this kit sends it; the words are "
    "ours, the task the paper's."
)
PROMPTS = ("sql_to_question",)
NOTE = "The reply must fit a JSON schema with one field (constrained decoding). The grammar writer needs no prompt."


def draw(run: SciTrekRun) -> Figure:
    """Draw the prompt files of this figure as the kit fills and sends them."""
    return prompt_sheet.draw(run, "Prompt that turns an SQL query into a question", PROMPTS, NOTE)


def numbers(run: SciTrekRun) -> list[dict[str, object]]:
    """The prompts, line by line."""
    return prompt_sheet.numbers(run, PROMPTS)
