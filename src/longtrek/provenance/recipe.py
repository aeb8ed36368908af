"""What a run was made from: the files of workflow and config, and where their copies stand in the results."""

import shutil
from pathlib import Path

from longtrek.config import Config
from longtrek.files import atomic
from longtrek.paths import shipped

FOLDER = "workflow"
CONFIG = f"{FOLDER}/config"
FROZEN = f"{CONFIG}/frozen"
WORKFLOW = f"{FOLDER}/Snakefile"


def recipe(config: Config) -> dict[str, Path]:
    """The files that say what was run, by their place in the results, as the kit lays them out.

    Snakefile and rules; the config, the entries of its models, its images, prompts, published values and corpus, the
    claims, and the frozen hashes. Released datasets are inputs that stay where they are.
    """
    groups = {
        CONFIG: (shipped("config/claims.csv"), shipped("config/claims.yaml"), *filter(None, [config.images])),
        f"{FOLDER}/rules": shipped("rules").glob("*.smk"),
        f"{CONFIG}/models": (config.model_file(name) for name in config.model_names),
        f"{CONFIG}/published": config.published.glob("*"),
        f"{CONFIG}/prompts/transduction": config.transduction.prompts.glob("*.txt"),
        FROZEN: (path for path in [config.transduction.frozen] if path),
    }
    if config.scitrek is not None:
        corpus = config.scitrek.corpus
        groups[f"{CONFIG}/prompts/scitrek"] = config.scitrek.prompts.glob("*.txt")
        groups[f"{CONFIG}/corpora"] = corpus.parent.glob(f"{corpus.stem}.*")
    found = {f"{place}/{path.name}": path for place, files in groups.items() for path in files if path.is_file()}
    found |= {WORKFLOW: shipped("Snakefile"), f"{CONFIG}/{config.path.name}": config.path}
    return dict(sorted(found.items()))


def copy(config: Config) -> list[str]:
    """Copy what the run was made from into its results, in place of an earlier copy, and give the places."""
    places = recipe(config)
    shutil.rmtree(config.results / FOLDER, ignore_errors=True)
    for place, source in places.items():
        with atomic(config.results / place) as stream:
            stream.write(source.read_bytes())
    return list(places)
