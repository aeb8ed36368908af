"""How long the full grid of Long-Transduction takes: 1,440 documents generated, written and hashed.

Run by hand: `python benchmarks/documents.py [CORES]`. The promise is 10 seconds on 2 free cores; the seconds of all
processes together, divided by the cores, say what a busy machine would have needed if it were free.
"""

import os
import platform
import resource
import sys
import tempfile
import time
from pathlib import Path

from longtrek.transduction.build import build
from longtrek.transduction.frozen import root_seed
from longtrek.transduction.grid import grid
from longtrek.transduction.prompts import read_prompts


def processor() -> str:
    """The processor's name, where the system tells it."""
    path = Path("/proc/cpuinfo")
    names = [line.partition(":")[2].strip() for line in path.read_text().splitlines() if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def main() -> None:
    """Build every tier into a folder that is thrown away, and print seconds, cores and machine."""
    cores = int(sys.argv[1]) if len(sys.argv) > 1 else min(2, os.cpu_count() or 1)
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        plan = [grid().specs(horizon) for horizon in grid().horizons]
        tiers = list(build(Path(folder), plan, root_seed(), read_prompts(), cores))
        size = sum(file.stat().st_size for file in Path(folder).iterdir())
    seconds = time.perf_counter() - started
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    busy = sum(usage.ru_utime + usage.ru_stime for usage in used)
    memory = max(usage.ru_maxrss for usage in used) / 1024
    prompt_tokens = sum(tier.prompt_mean * tier.documents for tier in tiers)
    output_tokens = sum(tier.output_mean * tier.documents for tier in tiers)
    print(f"documents        {sum(tier.documents for tier in tiers):,}")
    print(f"tokens           {prompt_tokens / 1e6:.1f} M of prompts, {output_tokens / 1e6:.1f} M of required output")
    print(f"written          {size / 1e6:.1f} MB (zstd)")
    print(f"seconds          {seconds:.1f} on {cores} cores; load of the machine {os.getloadavg()[0]:.1f}")
    print(f"processor time   {busy:.1f} s, that is {busy / cores:.1f} s on {cores} free cores")
    print(f"peak memory      {memory:.0f} MiB, the largest process")
    print(f"machine          {processor()}, Python {platform.python_version()}")


if __name__ == "__main__":
    main()
