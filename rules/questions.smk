"""SciTrek's questions, from SQL to English and back: write_questions, try_model_writer."""

WRITER = CONFIG.scitrek.model_writer
WRITING = canonical_json(
    [
        CONFIG.scitrek.seed,
        CONFIG.scitrek.per_collection,
        CONFIG.scitrek.copies,
        CONFIG.scitrek.split,
        CONFIG.scitrek.writer,
        WRITER and vars(WRITER),
    ]
)
# Who writes the questions that are asked: a model, or None for the grammar.
WRITING_MODEL = WRITER.model if CONFIG.scitrek.writer == "model" else None
SCITREK_PROMPTS = sorted(CONFIG.scitrek.prompts.glob("*.txt"))
METADATA = CONFIG.scitrek.released or [
    results("articles", "articles.parquet"),
    results("articles", "citations.parquet"),
    results("collections", "collections.parquet"),
]


rule write_questions:
    """The questions of all collections, their answers, and what became of every draft."""
    input:
        tables=METADATA,
        prompts=SCITREK_PROMPTS,
        weights=weights_of(WRITING_MODEL) if WRITING_MODEL else [],
    output:
        questions=results("questions", "questions.parquet"),
        drafts=results("questions", "drafts.jsonl"),
    log:
        results("logs", "write_questions.log"),
    benchmark:
        results("benchmarks", "write_questions.tsv")
    container:
        lambda wildcards: image_of(WRITING_MODEL) if WRITING_MODEL else IMAGES.kit
    threads: threads_of(WRITING_MODEL) if WRITING_MODEL else 1
    resources:
        gpu=gpus_of(WRITING_MODEL) if WRITING_MODEL else 0,
        mem_mb=memory_of(WRITING_MODEL) if WRITING_MODEL else 8000,
    params:
        config=config_file,
        writing=WRITING,
        model=entry(WRITING_MODEL) if WRITING_MODEL else "",
        source=source_digest("scitrek"),
    message:
        "Writing questions"
    shell:
        "longtrek questions --config {params.config:q} > {log:q} 2>&1"


rule try_model_writer:
    """A model writes the questions of a few collections beside the grammar: how often the round trip succeeds."""
    input:
        tables=METADATA,
        prompts=SCITREK_PROMPTS,
        weights=weights_of(WRITER.model) if WRITER else [],
    output:
        results("questions", "model_writer.jsonl"),
    log:
        results("logs", "try_model_writer.log"),
    benchmark:
        results("benchmarks", "try_model_writer.tsv")
    container:
        lambda wildcards: image_of(WRITER.model)
    threads: threads_of(WRITER.model) if WRITER else 1
    resources:
        gpu=gpus_of(WRITER.model) if WRITER else 0,
        mem_mb=memory_of(WRITER.model) if WRITER else 4000,
    params:
        config=config_file,
        writing=WRITING,
        model=entry(WRITER.model) if WRITER else "",
        source=source_digest("scitrek"),
    message:
        "Asking a model to write a few questions"
    shell:
        "longtrek questions --config {params.config:q} --writer model > {log:q} 2>&1"
