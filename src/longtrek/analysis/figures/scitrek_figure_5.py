"""Figure 5 of SciTrek: the prompts that turn a question into SQL."""

from matplotlib.figure import Figure

from longtrek.analysis import prompt_sheet
from longtrek.analysis.scitrek_run import SciTrekRun

READS = ()
CAPTION = (
    "The prompt by which a model reads a question back into SQL for the round trip, and the one by which the "
    "SQL-execution baseline answers. As this kit sends them; the words are ours, the task the paper's."
)
PROMPTS = (
    "question_to_sql",
    "question_to_sql_baseline",
)
NOTE = (
    "The first reads questions back in the round trip, with the same schema as Figure 4; the second is the "
    "baseline's. JSON by constrained decoding."
)


def draw(run: SciTrekRun) -> Figure:
    """Draw the prompt files of this figure as the kit fills and sends them."""
    return prompt_sheet.draw(run, "Prompts that turn a question into an SQL query", PROMPTS, NOTE)


def numbers(run: SciTrekRun) -> list[dict[str, object]]:
    """The prompts, line by line."""
    return prompt_sheet.numbers(run, PROMPTS)
