"""The folders of ``ingot.torch`` build on each other in one order."""

import ast
from pathlib import Path

import ingot.torch

DOOR = Path(ingot.torch.__file__).parent
# Each uses only those before it; modules of the door itself, and of `lazy`, use all, and no room uses them.
ROOMS = ("base", "text", "python_state", "optimizers", "numbers", "tracing", "judge", "running")


def _used(file: Path) -> set[str]:
    """The first names below ``ingot.torch`` of the modules that a file imports, wherever in it."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{file}:{node.lineno}: import by the module's whole name"
            names |= {f"{node.module}.{name.name}" for name in node.names}
        elif isinstance(node, ast.Import):
            names |= {name.name for name in node.names}
    return {name.split(".")[2] for name in names if name.startswith("ingot.torch.")}


def test_a_room_uses_only_rooms_before_it() -> None:
    above = {
        f"{file.relative_to(DOOR)} uses {used}"
        for room, before in zip(ROOMS, map(set, (ROOMS[: i + 1] for i in range(len(ROOMS)))), strict=True)
        for file in (DOOR / room).rglob("*.py")
        for used in _used(file) - before
    }
    assert not above


def test_every_folder_is_a_room_that_says_what_is_in_it() -> None:
    folders = {folder.name for folder in DOOR.iterdir() if (folder / "__init__.py").exists()}
    assert folders == {*ROOMS, "lazy"}
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    for folder in folders:
        assert f"| `{folder}/` | " in readme, f"README.md's table of rooms lacks {folder}"
