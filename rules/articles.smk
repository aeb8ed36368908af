"""SciTrek's articles, from a frozen corpus to tables: fetch_articles, convert_articles, tabulate_articles."""

CORPUS = os.path.relpath(CONFIG.scitrek.corpus)
BESIDE_CORPUS = set(CONFIG.scitrek.corpus.parent.glob(f"{CONFIG.scitrek.corpus.stem}.*")) - {CONFIG.scitrek.corpus}


rule fetch_articles:
    """A snapshot with a hash for every file; one that is there already is checked and nothing is fetched."""
    input:
        corpus=CORPUS,
        beside_corpus=sorted(BESIDE_CORPUS),
    output:
        results("articles", "snapshot", "snapshot.json"),
    log:
        results("logs", "fetch_articles.log"),
    localrule: True  # a cluster's nodes may have no way to the network
    container:
        image("kit")
    params:
        subset=CONFIG.scitrek.subset,
        folder=subpath(output[0], parent=True),
    message:
        "Fetching the articles of {input.corpus}"
    shell:
        "longtrek articles --corpus {input.corpus:q} --subset {params.subset} --out {params.folder:q} 2> {log:q}"


rule convert_articles:
    """PDFs and JATS XML to Markdown; one that fails is listed with its reason, and the rest goes on."""
    input:
        corpus=CORPUS,
        beside_corpus=sorted(BESIDE_CORPUS),
        snapshot=rules.fetch_articles.output[0],
    output:
        results("articles", "converted", "conversion.jsonl"),
    log:
        results("logs", "convert_articles.log"),
    benchmark:
        results("benchmarks", "convert_articles.tsv")
    container:
        image("converter")
    threads: ALL_CORES
    params:
        snapshot=subpath(input.snapshot, parent=True),
        folder=subpath(output[0], parent=True),
        source=source_digest("corpus"),
    message:
        "Converting articles to Markdown"
    shell:
        "longtrek convert --corpus {input.corpus:q} --snapshot {params.snapshot:q} --out {params.folder:q} 2> {log:q}"


rule tabulate_articles:
    """Articles and citations as tables, metadata corrected and held against the text."""
    input:
        corpus=CORPUS,
        beside_corpus=sorted(BESIDE_CORPUS),
        snapshot=rules.fetch_articles.output[0],
        conversion=rules.convert_articles.output[0],
    output:
        articles=results("articles", "articles.parquet"),
        citations=results("articles", "citations.parquet"),
        disagreements=results("articles", "disagreements.jsonl"),
        corrections=results("articles", "corrections.jsonl"),
        dropped=results("articles", "dropped.jsonl"),
    log:
        results("logs", "tabulate_articles.log"),
    container:
        image("kit")
    params:
        snapshot=subpath(input.snapshot, parent=True),
        converted=subpath(input.conversion, parent=True),
        folder=subpath(output.articles, parent=True),
        lengths=lengths(),
        source=source_digest("corpus"),
    message:
        "Making the tables of articles and citations"
    shell:
        "longtrek tabulate --corpus {input.corpus:q} --snapshot {params.snapshot:q} --converted {params.converted:q}"
        " --out {params.folder:q} {params.lengths} 2> {log:q}"
