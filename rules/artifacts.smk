"""What the reader sees, a job for each figure, table and the claims: draw_figure, make_table, judge_claims."""

from longtrek.analysis.artifacts import caption


wildcard_constraints:
    figure="|".join(FIGURES),
    table="|".join(TABLES),


rule draw_figure:
    """One figure of a paper, drawn from scores and the published values."""
    input:
        run=lambda wildcards: read_by(wildcards.figure),
        shipped=lambda wildcards: shipped(wildcards.figure),
    output:
        report(
            results("figures", "{figure}.svg"),
            caption="../report/artifact.rst",
            category=lambda wildcards: run_config.TITLES[wildcards.figure.split("_")[0]],
            subcategory="Figures",
            labels=lambda wildcards: {"figure": wildcards.figure.rsplit("_", 1)[1]},
        ),
        multiext(results("figures", "{figure}"), *(suffix for suffix in FIGURE_SUFFIXES if suffix != ".svg")),
    log:
        results("logs", "draw_figure", "{figure}.log"),
    container:
        image("kit")
    params:
        config=config_file,
        caption=lambda wildcards: caption(wildcards.figure),
        shown=lambda wildcards: shown_by(wildcards[0]),
        source=lambda wildcards: drawn_by(wildcards.figure),
    message:
        "Drawing {wildcards.figure}"
    shell:
        "longtrek figure {wildcards.figure:q} --config {params.config:q} > {log:q} 2>&1"


rule make_table:
    """One table of a paper, ours beside the published."""
    input:
        run=lambda wildcards: read_by(wildcards.table),
        shipped=lambda wildcards: shipped(wildcards.table),
    output:
        report(
            results("tables", "{table}.html"),
            caption="../report/artifact.rst",
            category=lambda wildcards: run_config.TITLES[wildcards.table.split("_")[0]],
            subcategory="Tables",
            labels=lambda wildcards: {"table": wildcards.table.rsplit("_", 1)[1]},
        ),
        multiext(results("tables", "{table}"), *(suffix for suffix in TABLE_SUFFIXES if suffix != ".html")),
    log:
        results("logs", "make_table", "{table}.log"),
    container:
        image("kit")
    params:
        config=config_file,
        caption=lambda wildcards: caption(wildcards.table),
        shown=lambda wildcards: shown_by(wildcards[0]),
        source=lambda wildcards: drawn_by(wildcards.table),
    message:
        "Making {wildcards.table}"
    shell:
        "longtrek table {wildcards.table:q} --config {params.config:q} > {log:q} 2>&1"


rule judge_claims:
    """Every claim of both papers, computed where the run has what it takes, and judged."""
    input:
        documents=rules.generate_documents.output.summary,
        run=lambda wildcards: claimed_from() if CONFIG.run == "full" else [],
        shipped=claimed_by_papers(),
    output:
        claims=results("claims.csv"),
        page=results("claims.md"),
    log:
        results("logs", "judge_claims.log"),
    container:
        image("kit")
    params:
        config=config_file,
        judged=lambda wildcards: what_is_judged(),
        source=source_digest("analysis", "transduction", "scitrek"),
    message:
        "Judging the papers' claims"
    shell:
        "longtrek claims --config {params.config:q} > {log:q} 2>&1"
