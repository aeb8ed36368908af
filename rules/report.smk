"""What the reader opens, made last: write_report."""


rule write_report:
    """Pages that open from disk: every figure, table, claim, model and answer of the run."""
    input:
        artifacts=artifacts(),
        claims=rules.judge_claims.output.claims,
        documents=expand(results("documents", "{horizon}.jsonl.zst"), horizon=CONFIG.transduction.ask.horizons),
        answers=answers_shown(),
        scores=scores_shown(),
        questions=questions_shown(),
        said=[CONFIG_FILE, *map(CONFIG.model_file, CONFIG.model_names)],
    output:
        results("report", "index.html"),
    log:
        results("logs", "write_report.log"),
    container:
        image("kit")
    params:
        config=config_file,
        source=source_digest("report", "analysis"),
    message:
        "Writing the report"
    shell:
        "longtrek report --config {params.config:q} > {log:q} 2>&1"
