"""What the reader sees, one job for each figure and table of the papers: draw_figure, make_table."""

from longtrek.analysis.artifacts import FIGURE_SUFFIXES, FIGURES, TABLE_SUFFIXES, TABLES, reads

SHOWN = canonical_json([CONFIG.run, CONFIG.rule, {name: [entry(name), MODELS[name].label] for name in MODELS}])
PAPERS = ("transduction", "scitrek") if CONFIG.scitrek else ("transduction",)


def artifacts():
    """Every file of every figure and table of the run's papers."""
    figures = [name for name in FIGURES if name.startswith(PAPERS)]
    tables = [name for name in TABLES if name.startswith(PAPERS)]
    return [
        *expand(results("figures", "{figure}{suffix}"), figure=figures, suffix=FIGURE_SUFFIXES),
        *expand(results("tables", "{table}{suffix}"), table=tables, suffix=TABLE_SUFFIXES),
        *(rules.try_model_writer.output if CONFIG.scitrek and WRITER and CONFIG.scitrek.writer == "grammar" else []),
    ]


def scored(models, name):
    """One kind of scores, of all models that were asked."""
    return expand(results("scores", "{model}", f"{name}.parquet"), model=models)


def read_by(artifact):
    """What an artifact reads of the run, as its program says: nothing, scores, questions, collections."""
    kinds = {
        "documents": lambda: scored(CONFIG.transduction.models, "transduction_documents"),
        "records": lambda: scored(CONFIG.transduction.models, "transduction"),
        "scitrek": lambda: scored(CONFIG.scitrek.models, "scitrek"),
        "baseline": lambda: rules.execute_baseline.output.scores if BASELINE else [],
        "questions": lambda: rules.write_questions.output,
        "collections": lambda: METADATA,
        "annotations": lambda: [],
    }
    return [file for kind in reads(artifact) for file in flatten([kinds[kind]()])]


def shipped(artifact):
    """What an artifact reads of the kit: the paper's numbers, and the prompts that some show."""
    paper = artifact.split("_")[0]
    prompts = CONFIG.transduction.prompts if paper == "transduction" else CONFIG.scitrek.prompts
    return sorted(CONFIG.published.glob(f"{paper}_*.csv")) + sorted(prompts.glob("*.txt"))


def drawn_by(artifact):
    """The code that an artifact comes from: without a run it is computed from generators, templates and schemas."""
    if reads(artifact):
        return source_digest("analysis")
    # SciTrek's package draws with Long-Transduction's streams and counts with its tokens, not the other way round.
    return source_digest("analysis", "transduction", *(["scitrek"] if artifact.startswith("scitrek") else []))


wildcard_constraints:
    figure="|".join(FIGURES),
    table="|".join(TABLES),


rule draw_figure:
    """One figure of a paper, drawn from scores and the published values."""
    input:
        run=lambda wildcards: read_by(wildcards.figure),
        shipped=lambda wildcards: shipped(wildcards.figure),
    output:
        multiext(results("figures", "{figure}"), *FIGURE_SUFFIXES),
    log:
        results("logs", "draw_figure", "{figure}.log"),
    params:
        shown=SHOWN,
        source=lambda wildcards: drawn_by(wildcards.figure),
    message:
        "Drawing {wildcards.figure}"
    shell:
        "longtrek figure {wildcards.figure:q} --config {CONFIG_FILE:q} > {log:q} 2>&1"


rule make_table:
    """One table of a paper, ours beside the published."""
    input:
        run=lambda wildcards: read_by(wildcards.table),
        shipped=lambda wildcards: shipped(wildcards.table),
    output:
        multiext(results("tables", "{table}"), *TABLE_SUFFIXES),
    log:
        results("logs", "make_table", "{table}.log"),
    params:
        shown=SHOWN,
        source=lambda wildcards: drawn_by(wildcards.table),
    message:
        "Making {wildcards.table}"
    shell:
        "longtrek table {wildcards.table:q} --config {CONFIG_FILE:q} > {log:q} 2>&1"
