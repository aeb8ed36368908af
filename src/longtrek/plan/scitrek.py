"""SciTrek's part of a plan: prompts of every context and level, from the questions where they are made, else estimated.

Before a run there are neither articles nor questions. The estimate then takes the config's bounds on collections and
the paper's own numbers for the rest, named here one by one; it is an order of magnitude, and the plan says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from longtrek import schemas
from longtrek.answers.model import Model
from longtrek.config import Config, Scitrek, Setting
from longtrek.files import read_jsonl
from longtrek.plan.counting import GROUPED, SPLIT
from longtrek.plan.jobs import Job
from longtrek.scitrek.collections import LEVELS, SINGLE
from longtrek.scitrek.prompts import question_prompt
from longtrek.scitrek.questions.splits import SHARES
from longtrek.transduction.tokens import count

ARTICLES = {"semantic-scholar": 662, "plos": 122}
"""Articles of a corpus that is not made yet: the paper's (Section 3.1), the wheel's."""
ARTICLE_TOKENS = 22_600
"""Mean length of an article: 1,048,576 tokens by 46.3 articles (Table 5)."""
TEST_SET = {"64K": (112, 8), "128K": (728, 11), "512K": (667, 42), "1M": (614, 86)}
"""Table 5, by level: questions of the test set, and the gold answer's tokens (words × 1.35)."""
WRITTEN = {"model": 0.829, "grammar": 1.0}
"""Share of the queries that become a question (Section 3.3)."""
TABLE_TOKENS = 480
"""Tokens of an article's rows in the three tables: about 2K at 4.2 articles (Section 4)."""
QUESTION_TOKENS = 25
TEXT_FACTOR: Mapping[str, float] = {GROUPED: 1.0, SPLIT: 1.08}
"""Tokens of an article by its `cl100k_base` tokens: 16 articles have 1.08 by their digits (SmolLM2's own: 1.16)."""


@dataclass(frozen=True)
class Tier:
    """What one setting asks: questions, their contexts' lengths in `cl100k_base`, and the gold answers' mean tokens.

    `contexts` holds the length of each distinct context where collections are made; else `low` and `high` bound
    them, evenly spread. `fixed` is the prompt and the question without the context.
    """

    setting: Setting
    questions: int
    distinct: int
    low: float
    high: float
    contexts: tuple[int, ...]
    gold: float
    fixed: Mapping[str, int]

    @property
    def estimated(self) -> bool:
        """Whether the contexts are not made yet, or, as tables, only estimated."""
        return not self.contexts or self.setting.context == "tables"

    @property
    def mean(self) -> float:
        """Mean length of a context."""
        return sum(self.contexts) / len(self.contexts) if self.contexts else (self.low + self.high) / 2

    def within(self, limit: float) -> tuple[float, float]:
        """The share of contexts of at most `limit` tokens, and their mean length."""
        if self.contexts:
            kept = [one for one in self.contexts if one <= limit]
            return len(kept) / len(self.contexts), sum(kept) / max(1, len(kept))
        if limit >= self.high:
            return 1.0, self.mean
        if limit <= self.low:
            return 0.0, 0.0
        return (limit - self.low) / (self.high - self.low), (self.low + limit) / 2


def tiers(config: Config, scitrek: Scitrek) -> list[Tier]:
    """Every setting of a run, exact in what stands in the results and estimated in what does not."""
    fixed = {kind: {s.tier: _fixed(scitrek, kind, s) for s in scitrek.settings} for kind in ("direct", "reasoning")}
    if questions_made(config):
        return [_made(config, scitrek, s, {k: fixed[k][s.tier] for k in fixed}) for s in scitrek.settings]
    return [_assumed(scitrek, s, {k: fixed[k][s.tier] for k in fixed}) for s in scitrek.settings]


def questions_made(config: Config) -> bool:
    """Whether the run's questions stand in its results."""
    return (config.results / "questions" / "questions.parquet").is_file()


def _fixed(scitrek: Scitrek, kind: str, setting: Setting) -> int:
    return count(question_prompt(kind, setting.context, scitrek.prompts).text) + QUESTION_TOKENS


def _made(config: Config, scitrek: Scitrek, setting: Setting, fixed: Mapping[str, int]) -> Tier:
    from longtrek.scitrek.study import Study

    study = Study(scitrek, config.results)
    asked = study.selected(setting.level, setting.most, setting.longest)
    names = list(dict.fromkeys(row["collection"] for row in asked))
    answers = sum(count(row["answer"]) for row in asked) / max(1, len(asked))
    if scitrek.released:
        high = float(LEVELS.get(setting.level, LEVELS["1M"]))
        return Tier(setting, len(asked), len(names), *_lengths(setting, high), (), answers, fixed)
    rows = [study.collections[name] for name in names]
    if setting.context == "tables":
        lengths = tuple(TABLE_TOKENS * len(row["articles"]) for row in rows)
    else:
        lengths = tuple(row["tokens"] for row in rows)
    return Tier(setting, len(asked), len(names), 0, 0, lengths, answers, fixed)


def _assumed(scitrek: Scitrek, setting: Setting, fixed: Mapping[str, int]) -> Tier:
    high = float(LEVELS[setting.level]) if setting.level in LEVELS else _longest(scitrek)
    if setting.longest is not None:
        high = min(high, setting.longest)
    questions = questions_of(scitrek, setting.level)
    if setting.most is not None:
        questions = min(questions, setting.most)
    distinct = min(questions, round(collections_of(scitrek).get(setting.level, questions)))
    gold = float(TEST_SET.get(setting.level, TEST_SET["64K"])[1])
    return Tier(setting, questions, distinct, *_lengths(setting, high), (), gold, fixed)


def _lengths(setting: Setting, high: float) -> tuple[float, float]:
    """The shortest and the longest context: a collection ends where the next article would not fit any more."""
    if setting.context == "tables":
        articles = max(1.0, high / ARTICLE_TOKENS)
        return TABLE_TOKENS * articles * 0.8, TABLE_TOKENS * articles * 1.2
    return max(high - ARTICLE_TOKENS, high / 2), high


def _longest(scitrek: Scitrek) -> float:
    kept = scitrek.tokens or schemas.read(scitrek.corpus, "corpus")["tokens"]
    return float(kept["most"])


def articles_of(scitrek: Scitrek) -> int:
    """How many articles the run's corpus has, or is assumed to have."""
    corpus = schemas.read(scitrek.corpus, "corpus")
    chosen = corpus["subsets"].get(scitrek.subset, {})
    if "ids" in chosen:
        return len(chosen["ids"])
    if "articles" in corpus:
        return sum(1 for _ in read_jsonl(scitrek.corpus.parent / corpus["articles"]))
    return ARTICLES.get(corpus["source"], ARTICLES["semantic-scholar"])


def collections_of(scitrek: Scitrek) -> dict[str, float]:
    """How many collections of each level are expected: the config's bounds, shared out as the paper's test set is."""
    articles, grown = articles_of(scitrek), scitrek.collections
    levels, most = grown["levels"], grown["most"]
    bounds = _bounds(grown["strategies"], most)
    made = sum(min(bound, articles * len(levels)) for bound in bounds)
    shares = {level: TEST_SET[level][0] for level in levels}
    found = {level: made * shares[level] / sum(shares.values()) for level in levels}
    if grown["single"]:
        found[SINGLE] = float(min(articles, most.get(SINGLE, articles)))
    return found


def _bounds(strategies: Sequence[str], most: Mapping[str, int]) -> list[float]:
    """At most so many collections of each strategy; `graph` bounds dfs and bfs together."""
    bounds = [float(most.get(name, float("inf"))) for name in strategies if name == "random" or name in most]
    graph = [name for name in strategies if name in ("dfs", "bfs") and name not in most]
    return [*bounds, float(most.get("graph", float("inf")))] if graph else bounds


def questions_of(scitrek: Scitrek, level: str) -> int:
    """How many questions of a level are expected in the splits that are asked."""
    share = {"train": 1 - sum(SHARES.values()), "left_out": 0.0, **SHARES}
    asked = sum(share[name] for name in scitrek.splits)
    expected = collections_of(scitrek)
    wanted = sum(expected.values()) if level == "any" else expected.get(level, 0.0)
    return round(wanted * scitrek.per_collection * WRITTEN[scitrek.writer] * min(1.0, asked))


@dataclass(frozen=True)
class Fit:
    """How a setting's contexts fare with a model's window: the longest that fits, in `cl100k_base`, and their share."""

    tier: Tier
    limit: float
    share: float


def fit(model: Model, counter: str, scitrek: Scitrek, tier: Tier) -> Fit:
    """The longest context that leaves a right answer its room, as the preflight judges."""
    if model.window is None or scitrek.window == "truncate":
        return Fit(tier, float("inf"), 1.0)
    needed = min(tier.gold, cap_of(model, scitrek.max_tokens))
    factor = TEXT_FACTOR.get(counter, 1.0)
    limit = (model.window - needed) / factor - tier.fixed[model.prompt]
    return Fit(tier, limit, tier.within(limit)[0])


def job(model: Model, counter: str, scitrek: Scitrek, tier: Tier) -> Job:
    """The job that asks a model one setting."""
    factor = TEXT_FACTOR.get(counter, 1.0)
    found = fit(model, counter, scitrek, tier)
    mean = tier.within(found.limit)[1]
    room = (model.window or float("inf")) / factor
    context = min(mean, room) * factor
    prompts = round(tier.questions * found.share) * scitrek.samples
    fixed = tier.fixed[model.prompt] * factor
    tokens_in = round(prompts * (context + fixed))
    read = tokens_in
    if model.prefix_caching:
        read = round(tier.distinct * found.share * context + prompts * fixed)
    cap = cap_of(model, scitrek.max_tokens)
    answer = min(cap, (model.rates.answer if model.rates and model.rates.answer else tier.gold))
    return Job(
        model=model.name,
        study="scitrek",
        work=tier.setting.tier,
        prompts=prompts,
        not_asked=tier.questions * scitrek.samples - prompts,
        tokens_in=tokens_in,
        read=min(read, tokens_in),
        tokens_out=round(prompts * answer),
        tokens_most=prompts * cap,
        request=round(context + fixed + cap),
        estimated=tier.estimated,
    )


def cap_of(model: Model, study: int) -> int:
    """The output cap of a request: the study's, or less where the entry says so."""
    return min(study, model.sampling.max_tokens or study)
