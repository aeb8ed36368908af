"""Scores of answers, record by record and under both rules: score_transduction, score_scitrek."""


rule score_transduction:
    """One model's scores over all its tiers: a row a record, and a row a document."""
    input:
        documents=lambda wildcards: expand(results("documents", "{horizon}.jsonl.zst"), horizon=horizons(wildcards)),
        answers=lambda wildcards: expand(
            results("answers", "{{model}}", "transduction", "{horizon}.jsonl"),
            horizon=horizons(wildcards),
        ),
    output:
        records=results("scores", "{model}", "transduction.parquet"),
        documents=results("scores", "{model}", "transduction_documents.parquet"),
    log:
        results("logs", "score_transduction", "{model}.log"),
    benchmark:
        results("benchmarks", "score_transduction", "{model}.tsv")
    container:
        image("kit")
    params:
        config=config_file,
        source=source_digest("transduction"),
    message:
        "Scoring the answers of {wildcards.model}"
    shell:
        "longtrek scores transduction {wildcards.model:q} --config {params.config:q} > {log:q} 2>&1"


if CONFIG.scitrek:

    rule score_scitrek:
        """One model's scores over all its tiers of SciTrek: a row a question, context and prompt."""
        input:
            questions=rules.write_questions.output.questions,
            tables=METADATA,
            answers=lambda wildcards: expand(
                results("answers", "{{model}}", "scitrek", "{tier}.jsonl"),
                tier=[setting.tier for setting in CONFIG.scitrek.settings_of(MODELS[wildcards.model])],
            ),
        output:
            results("scores", "{model}", "scitrek.parquet"),
        log:
            results("logs", "score_scitrek", "{model}.log"),
        container:
            image("kit")
        params:
            config=config_file,
            source=source_digest("scitrek"),
        message:
            "Scoring SciTrek's answers of {wildcards.model}"
        shell:
            "longtrek scores scitrek {wildcards.model:q} --config {params.config:q} > {log:q} 2>&1"
