"""What a function reads outside of Python's objects while it is traced is said, with the line."""

from __future__ import annotations

import datetime
import time
import warnings
from datetime import datetime as Moment
from pathlib import Path

import pytest
import torch
from trainings import Step, linear, usual_step

import ingot.torch


def of_the_clock(x: torch.Tensor) -> torch.Tensor:
    return x * 2 if time.time() < 0 else x


def of_a_date(x: torch.Tensor) -> torch.Tensor:
    return x * 2 if datetime.datetime.now().year < 2000 else x


def of_a_class(x: torch.Tensor) -> torch.Tensor:
    return x * 2 if Moment.today() < Moment(2000, 1, 1) else x


def of_an_import(x: torch.Tensor) -> torch.Tensor:
    from datetime import date

    return x * 2 if date.today().year < 2000 else x


def in_a_closure() -> Step:
    day = datetime.date

    def of_a_variable(x: torch.Tensor) -> torch.Tensor:
        return x * 2 if day.today().year < 2000 else x

    return of_a_variable


def of_a_file(x: torch.Tensor) -> torch.Tensor:
    return x * 2 if Path(__file__).read_bytes() == b"" else x


def of_a_file_by_keywords(x: torch.Tensor) -> torch.Tensor:
    with open(mode="rb", file=__file__) as file:
        return x * 2 if file.read() == b"" else x


def of_a_folder(x: torch.Tensor) -> torch.Tensor:
    return x * 2 if not [*Path(__file__).parent.iterdir()] else x


def whether_there_is_a_file(x: torch.Tensor) -> torch.Tensor:
    return x * 2 if Path(__file__).with_suffix(".stop").exists() else x


def of_a_given_date(x: torch.Tensor) -> torch.Tensor:
    return x * 2 if datetime.date(2000, 1, 1).year < 2000 else x


def traced(rows: Step) -> None:
    model, optimizer = linear()
    program = ingot.torch.Program(model, optimizer)
    program.add("train_step", lambda x: usual_step(model, optimizer, rows(x)), (torch.randn(6, 3),))


READING = [of_the_clock, of_a_date, of_a_class, of_an_import, in_a_closure(), of_a_file]
READING += [of_a_file_by_keywords, of_a_folder, whether_there_is_a_file]


@pytest.mark.parametrize("rows", READING, ids=lambda rows: rows.__name__)
def test_what_is_read_is_said(rows: Step) -> None:
    with pytest.warns(UserWarning, match=r"test_outside.py:\d+: (reads|asks about) .* while the function is traced"):
        traced(rows)


def test_what_is_given_is_not_said() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        traced(of_a_given_date)
