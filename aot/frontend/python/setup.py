"""The package as it lies; with the compiler and the engine inside, from the build tree that INGOT_BUILD names."""

import os
import platform
import re
import shutil
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

SOURCES = Path(__file__).resolve().parents[3]
BUILD = os.environ.get("INGOT_BUILD")
# Folders of the build tree -> of the package, and which of their files.
NATIVE = {"engine/python": (".", "*.abi3.so"), "apps/ingot/portable": ("bin", "*")}


class WithNative(build_py):
    """Copies what was compiled beside the modules."""

    def run(self) -> None:
        super().run()
        for source, (place, pattern) in NATIVE.items() if BUILD else ():
            folder = Path(self.build_lib) / "ingot" / place
            folder.mkdir(parents=True, exist_ok=True)
            files = [file for file in Path(BUILD, source).glob(pattern) if file.is_file()]
            if not files:
                raise FileNotFoundError(f"{BUILD}/{source} has no {pattern}: build ingot_python and ingot_portable")
            for file in files:
                shutil.copy2(file, folder)


class Native(Distribution):
    """A distribution for one platform."""

    def has_ext_modules(self) -> bool:
        return True


def version() -> str:
    """The project's version."""
    return re.search(r"project\(ingot VERSION ([\d.]+)", (SOURCES / "CMakeLists.txt").read_text()).group(1)


# What is built here runs with this system's libc, and all that are newer.
TAGS = {
    "py_limited_api": "cp311",
    "plat_name": f"manylinux_{platform.libc_ver()[1].replace('.', '_')}_{platform.machine()}",
}
OF_WHEEL = {
    "distclass": Native,
    "options": {"bdist_wheel": TAGS},
    "entry_points": {"console_scripts": ["ingot = ingot.tool:main"]},
}

setup(version=version(), cmdclass={"build_py": WithNative}, **(OF_WHEEL if BUILD else {}))
