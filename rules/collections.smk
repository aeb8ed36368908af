"""SciTrek's collections, grown from the corpus: grow_collections."""


rule grow_collections:
    """Articles that are asked about together, at each level, at random and along citations."""
    input:
        articles=rules.tabulate_articles.output.articles,
        citations=rules.tabulate_articles.output.citations,
    output:
        results("collections", "collections.parquet"),
    log:
        results("logs", "grow_collections.log"),
    container:
        image("kit")
    params:
        growth=growth(),
        source=source_digest("scitrek/collections.py"),
    message:
        "Growing collections"
    shell:
        "longtrek collections --articles {input.articles:q} --citations {input.citations:q} --out {output:q}"
        " {params.growth} 2> {log:q}"
