"""What the results' files are, in words that machines and people know."""

FOLDERS = {
    "annotations": "People's answers to SciTrek's questions",
    "answers": "Every answer of the run, with its provenance, a file a model and tier",
    "articles": "SciTrek's articles: the snapshot, their Markdown, and the tables of articles and citations",
    "baseline": "What went wrong while questions were answered by executed SQL",
    "collections": "Collections of articles that are asked about together",
    "documents": "Long-Transduction's documents, one file a horizon",
    "figures": "The papers' figures, drawn from scores",
    "questions": "SciTrek's questions, and what became of every draft",
    "report": "The run as pages to read: artifacts, claims and every answer",
    "sbom": "What is installed in each environment: CycloneDX bills of materials",
    "scores": "Scores of every record and question, under both rules",
    "tables": "The papers' tables, made from scores",
    "workflow": "The workflow and the config as they were run",
}
"""The folders of a run's results."""

MEDIA_TYPES = {
    ".cdx.json": "application/vnd.cyclonedx+json",
    ".css": "text/css",
    ".csv": "text/csv",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".jsonl": "application/x-ndjson",
    ".md": "text/markdown",
    ".parquet": "application/vnd.apache.parquet",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".smk": "text/x-python",
    ".svg": "image/svg+xml",
    ".tex": "application/x-tex",
    ".txt": "text/plain",
    ".xml": "application/xml",
    ".yaml": "application/yaml",
    ".zst": "application/zstd",
}


def media_type(name: str) -> str:
    """The media type of a file by the end of its name; bytes of no known kind are just bytes."""
    if name == "Snakefile":
        return MEDIA_TYPES[".smk"]
    return next((kind for end, kind in MEDIA_TYPES.items() if name.endswith(end)), "application/octet-stream")
