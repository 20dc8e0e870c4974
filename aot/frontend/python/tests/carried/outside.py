"""What is seen of the machine and of Python itself: files, random bytes, scanners, versions, frames."""

from __future__ import annotations

import inspect
import os
import random
import re
import sys
import tempfile

from trainings import Training, linear, usual_step

from carried.case import table
from carried.hidden import late

CASES, case = table()
COUNTED: list[int] = []


@case("other random bytes of the operating system")
def draws_from_the_operating_system() -> Training:
    return late(lambda: 4 if os.urandom(1)[0] > 127 else 0)  # here


@case("other random bytes of the operating system")
def draws_from_what_the_operating_system_draws() -> Training:
    system = random.SystemRandom()
    return late(lambda: 4 if system.random() > 0.5 else 0)  # here


@case(r"writes '.*calls', which a program would not do again")
def counts_in_a_file_that_it_opens() -> Training:
    path = os.path.join(tempfile.mkdtemp(), "calls")

    def count() -> float:
        with open(path, "a") as file:  # here
            return file.write(".") + file.tell()

    return late(count)


@case("a scanner of `re`, and Python does not show how far it is")
def counts_by_a_scanner() -> Training:
    scanner = re.compile("a").scanner("aaa")
    return late(lambda: 0 if scanner.search() else 9)


@case("a scanner of `re`")
def counts_by_what_it_finds() -> Training:
    found = re.finditer("a", "aaa")
    return late(lambda: 0 if next(found, None) else 9)


@case("_version` counts what is written to it")
def counts_by_versions() -> Training:
    model, optimizer = linear()
    return Training(
        model,
        optimizer,
        lambda x: usual_step(model, optimizer, x * 2 if model.weight._version > 3 else x),  # here
    )


@case("looks at the frames of those that call it")
def counts_where_it_is_called() -> Training:
    return late(lambda: len(sys._getframe(1).f_globals["COUNTED"]))  # here


@case("looks at the frames of those that call it")
def counts_by_the_current_frame() -> Training:
    return late(lambda: len(inspect.currentframe().f_back.f_globals["COUNTED"]))  # here
