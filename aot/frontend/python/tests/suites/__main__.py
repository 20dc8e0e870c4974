"""Runs a part of PyTorch's databases; exits with 1 where ingot differs, breaks, or refuses without saying why."""

from __future__ import annotations

import argparse
import fnmatch
import os
import random
import sys
import tempfile
import time
from pathlib import Path

from .databases import DOORS, Case, cases
from .report import Report
from .worker import Worker

SEED = 0  # of the order of cases: what a time limit leaves out is a random part


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m suites", description=__doc__)
    parser.add_argument("--door", choices=("all", *DOORS), default="all")
    parser.add_argument("--dtype", default="float32", help='an element type of torch, or "all"')
    parser.add_argument("--only", default="*", help="a pattern of names of ops, modules or optimizers")
    parser.add_argument("--part", default="1/1", help="of the shuffled cases: I/N is the I-th of N parts")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="after which no sample is begun")
    parser.add_argument(
        "--case-seconds", type=float, default=120, help="after which a case's other samples are left out"
    )
    parser.add_argument("--sample-seconds", type=float, default=120, help="after which a process is ended")
    parser.add_argument("--no-verify", action="store_true", help="judge the compiler without ingot's own comparison")
    parser.add_argument("--out", type=Path, help="a JSON file of the counts")
    parser.add_argument("--merge", type=Path, nargs="+", default=[], help="add up such files, and run nothing")
    return parser.parse_args()


def chosen(given: argparse.Namespace) -> list[Case]:
    """The cases of a part, in their order."""
    doors = DOORS if given.door == "all" else (given.door,)
    found = [case for door in doors for case in cases(door, given.dtype) if fnmatch.fnmatch(case.name, given.only)]
    random.Random(SEED).shuffle(found)
    part, parts = map(int, given.part.split("/"))
    return found[part - 1 :: parts]


def run(given: argparse.Namespace) -> Report:
    """Judges cases until all are done or the time is over."""
    report, deadline = Report(), time.monotonic() + given.seconds
    worker = Worker(not given.no_verify, given.sample_seconds)
    try:
        for case in chosen(given):
            if (now := time.monotonic()) < deadline:
                report.add(case, worker.verdicts(case, min(deadline, now + given.case_seconds)))
    finally:
        worker.close()
    return report


def main() -> int:
    """Returns the exit status."""
    given = options()
    report = Report()
    for file in given.merge:
        report.merge(file)
    if not given.merge:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["INGOT_CACHE"] = folder
            report = run(given)
    print(report)
    if given.out:
        report.write(given.out)
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
