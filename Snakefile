"""Rebuild Long-Transduction and SciTrek from frozen seeds.

The stages, one file each: documents (Long-Transduction), articles, collections, questions (SciTrek), then answers,
scores and artifacts of both, the report, and the run's provenance. `rules/common.smk` reads the config.
Every rule is one command of `longtrek`; the same line works by hand, and `longtrek VERB --help` explains it.
"""

from snakemake.utils import min_version

min_version("9.27")


# A config stands alone: nothing of the default one shines through another.
if not workflow.configfiles:

    configfile: "config/config.yaml"


include: "rules/common.smk"
include: "rules/documents.smk"


if CONFIG.scitrek:

    include: "rules/articles.smk"
    include: "rules/collections.smk"
    include: "rules/questions.smk"


include: "rules/answers.smk"
include: "rules/scores.smk"
include: "rules/artifacts.smk"
include: "rules/report.smk"
include: "rules/provenance.smk"


rule all:
    """Every figure and table of the papers, every claim judged, the report, and what the run says of itself."""
    default_target: True
    input:
        artifacts(),
        rules.judge_claims.output,
        rules.write_report.output,
        rules.list_checksums.output,
