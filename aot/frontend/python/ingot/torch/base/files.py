"""Whose code is in which files: PyTorch's, Python's, an installed library's, this package's, or the user's."""

from __future__ import annotations

import os
import sysconfig

import mpmath
import sympy
import torch

import ingot

TORCH = os.path.dirname(torch.__file__) + os.sep
OWN_FILES = os.path.dirname(ingot.__file__) + os.sep
STANDARD_LIBRARY = sysconfig.get_path("stdlib") + os.sep
INSTALLED = f"-packages{os.sep}"  # in the names of folders of libraries, wherever they are
# What begins the file names of code that Python and libraries make; other code without a file is typed by the user.
GENERATED = (
    *("<frozen ", "<eval_with_key>", "<__array_function__", "<attrs generated", "<@beartype", "<decorator-gen"),
    *("<lambdifygenerated", "<makefun-gen", "<stringsource>"),
)
FRAMEWORK_FILES = (
    TORCH,
    *(os.path.dirname(package.__file__) + os.sep for package in (sympy, mpmath)),  # numbers that are not known
    OWN_FILES,
    *GENERATED,
)
LIBRARY_FILES = (*FRAMEWORK_FILES, *(sysconfig.get_path(kind) + os.sep for kind in ("stdlib", "purelib", "platlib")))


def is_users(file: str) -> bool:
    """Whether code of a file belongs neither to Python nor to a library that is installed: also what is typed."""
    return not file.startswith(LIBRARY_FILES) and INSTALLED not in file
