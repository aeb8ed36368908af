"""Corpus: where scientific articles come from, and how they become Markdown and metadata."""
