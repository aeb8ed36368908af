"""What the reader sees, one job for each figure and table of the papers: draw_figure, make_table."""

from longtrek.analysis.artifacts import FIGURES, TABLES


SHOWN = canonical_json([CONFIG.run, CONFIG.rule, {name: model.label for name, model in MODELS.items()}])


def artifacts():
    """Every file of every figure and table."""
    return [
        *expand(results("figures", "{figure}.{kind}"), figure=FIGURES, kind=["pdf", "svg", "png"]),
        *expand(results("tables", "{table}.{kind}"), table=TABLES, kind=["csv", "md", "tex"]),
    ]


def scores(kind):
    """All models' scores of Long-Transduction, one file a model."""
    return expand(results("scores", "{model}", "{kind}.parquet"), model=CONFIG.transduction.models, kind=kind)


wildcard_constraints:
    figure="|".join(FIGURES),
    table="|".join(TABLES),


rule draw_figure:
    """One figure of a paper, drawn from scores and the published values."""
    input:
        records=scores("transduction"),
        documents=scores("transduction_documents"),
        published=sorted(CONFIG.published.glob("*.csv")),
    output:
        multiext(results("figures", "{figure}"), ".pdf", ".svg", ".png"),
    params:
        shown=SHOWN,
        source=lambda wildcards: source_digest("analysis"),
    log:
        results("logs", "draw_figure", "{figure}.log"),
    message:
        "Drawing {wildcards.figure}"
    shell:
        "longtrek figure {wildcards.figure} --config {CONFIG_FILE} > {log} 2>&1"


rule make_table:
    """One table of a paper, ours beside the published."""
    input:
        documents=scores("transduction_documents"),
        published=sorted(CONFIG.published.glob("*.csv")),
    output:
        multiext(results("tables", "{table}"), ".csv", ".md", ".tex"),
    params:
        shown=SHOWN,
        source=lambda wildcards: source_digest("analysis"),
    log:
        results("logs", "make_table", "{table}.log"),
    message:
        "Making {wildcards.table}"
    shell:
        "longtrek table {wildcards.table} --config {CONFIG_FILE} > {log} 2>&1"
