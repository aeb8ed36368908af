"""Rows of the authors' released dataset, without and with the texts that are asked."""

ROW = {
    "articles": ["p1", "p2"],
    "sample_level": "multi_dfs_1024",
    "sql_type": "multi_ran_organizing",
    "focus": "title_entire",
    "sql": "SELECT article_title FROM articles ORDER BY reference_count ASC;",
    "template": "SELECT article_title FROM articles ORDER BY reference_count ASC;",
    "question": "Which titles, fewest references first?",
    "answer": "On Sets, On Games",
    "label": "test",
}
WITH_PROMPTS = ROW | {
    "prompt_full": {
        "question": ROW["question"],
        "answer": ROW["answer"],
        "context": "# On Sets\nwith <question> inside",
        "instruction_direct": "Read: <articles>\nQ: <question>",
        "instruction_reasoning": "Think. <articles> <question>",
    },
    "prompt_meta": {
        "question": ROW["question"],
        "answer": ROW["answer"],
        "table_articles_text": "T1",
        "table_article_author_text": "T2",
        "table_citing_cited_text": "T3",
        "instruction_direct": "<table-articles>|<table-article_author>|<table-citing_cited>|<question>",
        "instruction_reasoning": "<question>",
    },
}
