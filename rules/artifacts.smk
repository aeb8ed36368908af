"""What the reader sees, one job for each figure and table of the papers: draw_figure, make_table."""

from longtrek.analysis.artifacts import (
    FIGURE_SUFFIXES,
    FIGURES,
    TABLE_SUFFIXES,
    TABLES,
    reads,
)

SHOWN = canonical_json(
    [CONFIG.run, CONFIG.rule, {name: model.label for name, model in MODELS.items()}]
)


def artifacts():
    """Every file of every figure and table."""
    return [
        *expand(
            results("figures", "{figure}{suffix}"),
            figure=FIGURES,
            suffix=FIGURE_SUFFIXES,
        ),
        *expand(
            results("tables", "{table}{suffix}"), table=TABLES, suffix=TABLE_SUFFIXES
        ),
    ]


def scores(artifact):
    """All models' scores that an artifact reads, one file a model: by document, by record, or none."""
    files = {
        "documents": "transduction_documents.parquet",
        "records": "transduction.parquet",
    }
    return expand(
        results("scores", "{model}", "{file}"),
        model=CONFIG.transduction.models,
        file=[files[kind] for kind in reads(artifact)],
    )


def drawn_by(artifact):
    """The code that an artifact comes from: without scores it is computed from the generator."""
    return source_digest("analysis") if reads(artifact) else source_digest("analysis", "transduction")


wildcard_constraints:
    figure="|".join(FIGURES),
    table="|".join(TABLES),


rule draw_figure:
    """One figure of a paper, drawn from scores and the published values."""
    input:
        scores=lambda wildcards: scores(wildcards.figure),
        published=sorted(CONFIG.published.glob("transduction_*.csv")),
    output:
        multiext(results("figures", "{figure}"), *FIGURE_SUFFIXES),
    log:
        results("logs", "draw_figure", "{figure}.log"),
    params:
        shown=SHOWN,
        source=lambda wildcards: source_digest("analysis"),
    message:
        "Drawing {wildcards.figure}"
    shell:
        "longtrek figure {wildcards.figure} --config {CONFIG_FILE} > {log} 2>&1"


rule make_table:
    """One table of a paper, ours beside the published."""
    input:
        scores=lambda wildcards: scores(wildcards.table),
        published=sorted(CONFIG.published.glob("transduction_*.csv")),
    output:
        multiext(results("tables", "{table}"), *TABLE_SUFFIXES),
    log:
        results("logs", "make_table", "{table}.log"),
    params:
        shown=SHOWN,
        source=lambda wildcards: source_digest("analysis"),
    message:
        "Making {wildcards.table}"
    shell:
        "longtrek table {wildcards.table} --config {CONFIG_FILE} > {log} 2>&1"
