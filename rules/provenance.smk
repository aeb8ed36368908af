"""What the finished run says of itself, last of all: describe_environments, write_crate, list_checksums."""

from longtrek.provenance.listing import CHECKSUMS, CRATE
from longtrek.provenance.recipe import FOLDER as RECIPE, recipe
from longtrek.provenance.sbom import ENVIRONMENTS


rule describe_environments:
    """A bill of materials of each environment, from its lock."""
    input:
        [Path(workflow.basedir) / environment.lock for environment in ENVIRONMENTS],
    output:
        expand(
            results("sbom", "{environment}.cdx.json"),
            environment=[environment.name for environment in ENVIRONMENTS],
        ),
    log:
        results("logs", "describe_environments.log"),
    container:
        image("kit")
    params:
        folder=subpath(output[0], parent=True),
        source=source_digest("provenance/sbom.py", "provenance/locks.py"),
    message:
        "Describing the environments"
    shell:
        "longtrek sbom --out {params.folder:q} > {log:q} 2>&1"


rule write_crate:
    """The run as a Workflow Run RO-Crate, with copies of the workflow and the config that were run."""
    input:
        artifacts=artifacts(),
        claims=rules.judge_claims.output,
        report=rules.write_report.output,
        answers=answers_shown(),
        environments=rules.describe_environments.output,
        recipe=list(recipe(CONFIG).values()),
    output:
        crate=results(CRATE),
        recipe=directory(results(RECIPE)),
    log:
        results("logs", "write_crate.log"),
    container:
        image("kit")
    params:
        config=config_file,
        source=source_digest("provenance"),
    message:
        "Describing the run"
    shell:
        "longtrek crate --config {params.config:q} > {log:q} 2>&1"


rule list_checksums:
    """The SHA-256 of every file that a reader relies on; `longtrek verify` checks them anywhere."""
    input:
        rules.write_crate.output.crate,
    output:
        results(CHECKSUMS),
    log:
        results("logs", "list_checksums.log"),
    container:
        image("kit")
    params:
        folder=subpath(output[0], parent=True),
        source=source_digest("provenance/listing.py"),
    message:
        "Listing checksums"
    shell:
        "longtrek checksums --results {params.folder:q} > {log:q} 2>&1"
