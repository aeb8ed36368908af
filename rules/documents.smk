"""Long-Transduction's documents, generated from seeds: generate_documents."""


rule generate_documents:
    """All tiers of the grid, compared with the frozen hashes."""
    input:
        grid=Path(run_config.__file__).parent / "transduction" / "grid.yaml",
        prompts=sorted(CONFIG.transduction.prompts.glob("*.txt")),
        frozen=CONFIG.transduction.frozen or [],
        released=CONFIG.transduction.released or [],
    output:
        documents=expand(
            results("documents", "{horizon}.jsonl.zst"),
            horizon=CONFIG.transduction.horizons,
        ),
        summary=results("documents", "summary.csv"),
    log:
        results("logs", "generate_documents.log"),
    benchmark:
        results("benchmarks", "generate_documents.tsv")
    container:
        image("kit")
    threads: ALL_CORES
    params:
        config=config_file,
        grid=canonical_json([CONFIG.transduction.seed, CONFIG.transduction.samples]),
        source=source_digest("transduction"),
    message:
        "Generating the documents of {CONFIG.transduction.horizons} tokens"
    shell:
        "longtrek documents --config {params.config:q} --cores {threads} > {log:q} 2>&1"
