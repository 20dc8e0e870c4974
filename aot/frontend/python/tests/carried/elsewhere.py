"""A module for functions to count in."""

from typing import Any

calls = 0
kept: Any = None
