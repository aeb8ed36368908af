"""Rebuild Long-Transduction and SciTrek from frozen seeds.

The stages, one file each: documents, answers, scores, artifacts. `rules/common.smk` reads the config.
Every rule is one command of `longtrek`; the same line works by hand, and `longtrek VERB --help` explains it.
"""

from snakemake.utils import min_version

min_version("9.27")


if not workflow.configfiles:  # a config stands alone: nothing of this one shines through another

    configfile: "config/config.yaml"


include: "rules/common.smk"
include: "rules/documents.smk"
include: "rules/answers.smk"
include: "rules/scores.smk"
include: "rules/artifacts.smk"


rule all:
    """Every figure and table of the papers."""
    default_target: True
    input:
        artifacts(),
