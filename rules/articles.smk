"""SciTrek's articles, from a frozen corpus to tables: fetch_articles, convert_articles, tabulate_articles."""

CORPUS = os.path.relpath(CONFIG.scitrek.corpus)
CORPUS_FILES = sorted(CONFIG.scitrek.corpus.parent.glob(f"{CONFIG.scitrek.corpus.stem}.*"))


rule fetch_articles:
    """A snapshot with a hash for every file; one that is there already is checked and nothing is fetched."""
    input:
        corpus=CORPUS_FILES,
    output:
        results("articles", "snapshot", "snapshot.json"),
    log:
        results("logs", "fetch_articles.log"),
    params:
        subset=CONFIG.scitrek.subset,
        folder=subpath(output[0], parent=True),
    message:
        "Fetching the articles of {CORPUS}"
    shell:
        "longtrek articles --corpus {CORPUS:q} --subset {params.subset} --out {params.folder:q} 2> {log:q}"


rule convert_articles:
    """PDFs and JATS XML to Markdown; one that fails is listed with its reason, and the rest goes on."""
    input:
        corpus=CORPUS_FILES,
        snapshot=rules.fetch_articles.output[0],
    output:
        results("articles", "converted", "conversion.jsonl"),
    log:
        results("logs", "convert_articles.log"),
    benchmark:
        results("benchmarks", "convert_articles.tsv")
    threads: ALL_CORES
    params:
        snapshot=subpath(input.snapshot, parent=True),
        folder=subpath(output[0], parent=True),
        source=source_digest("corpus"),
    message:
        "Converting articles to Markdown"
    shell:
        "longtrek convert --corpus {CORPUS:q} --snapshot {params.snapshot:q} --out {params.folder:q} 2> {log:q}"


def lengths():
    """The options that say which articles are kept, where the config says another thing than the corpus file."""
    kept = CONFIG.scitrek.tokens
    return f"--fewest {kept['fewest']} --most {kept['most']}" if kept else ""


rule tabulate_articles:
    """Articles and citations as tables, metadata corrected and held against the text."""
    input:
        corpus=CORPUS_FILES,
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
    params:
        snapshot=subpath(input.snapshot, parent=True),
        converted=subpath(input.conversion, parent=True),
        folder=subpath(output.articles, parent=True),
        lengths=lengths(),
        source=source_digest("corpus"),
    message:
        "Making the tables of articles and citations"
    shell:
        "longtrek corpus --corpus {CORPUS:q} --snapshot {params.snapshot:q} --converted {params.converted:q}"
        " --out {params.folder:q} {params.lengths} 2> {log:q}"
