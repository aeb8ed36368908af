"""SciTrek's collections, grown from the corpus: grow_collections."""


def growth():
    """The options of `longtrek collections`, as the config says."""
    grown = CONFIG.scitrek.collections
    options = [f"--seed {CONFIG.scitrek.seed} --fill {grown['fill']} --{'single' if grown['single'] else 'no-single'}"]
    options += [f"--level {level}" for level in grown["levels"]]
    options += [f"--strategy {strategy}" for strategy in grown["strategies"]]
    options += [f"--most {strategy}={most}" for strategy, most in grown["most"].items()]
    return " ".join(options)


rule grow_collections:
    """Articles that are asked about together, at each level, at random and along citations."""
    input:
        articles=rules.tabulate_articles.output.articles,
        citations=rules.tabulate_articles.output.citations,
    output:
        results("collections", "collections.parquet"),
    log:
        results("logs", "grow_collections.log"),
    params:
        growth=growth(),
        source=source_digest("scitrek/collections.py"),
    message:
        "Growing collections"
    shell:
        "longtrek collections --articles {input.articles:q} --citations {input.citations:q} --out {output:q}"
        " {params.growth} 2> {log:q}"
