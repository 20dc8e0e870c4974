"""A folder that only this user may write: what is read of it, native code above all, no other user has put there."""

from __future__ import annotations

import errno
import os
import pwd
import secrets
import shutil
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

NEW = "new-"  # begins the names of entries that are being written: new-PID-RANDOM
ABANDONED_S = 3600.0  # after which such an entry is a leftover, whoever writes it
OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH


class NotPrivateError(PermissionError):
    """Another user owns a file or folder, or may write it."""


class Entry(NamedTuple):
    """A folder of files within a private folder."""

    name: str
    files: list[str]
    used_s: float  # when it was last used, in seconds since 1970
    byte_count: int

    @property
    def is_new(self) -> bool:
        """Whether it is being written, or was when its process ended."""
        return self.name.startswith(NEW)

    @property
    def is_abandoned(self) -> bool:
        """Whether the process that was writing it is gone."""
        process = self.name.removeprefix(NEW).partition("-")[0]
        is_gone = process.isdecimal() and not os.path.exists(f"/proc/{process}")
        return self.is_new and (is_gone or time.time() - self.used_s > ABANDONED_S)


class PrivateFolder:
    """Entries by name, each a folder of files.

    The folder is made where there is none. It is held by its descriptor, and all below it is opened relative to that:
    whoever renames folders above it changes nothing. Links within it are not followed.

    Raises OSError where it cannot be made or opened, NotPrivateError where others may write it.
    """

    def __init__(self, path: Path) -> None:
        _make(path)
        if (owner := os.lstat(path).st_uid) not in {0, os.geteuid()}:  # of the link, if it is one
            raise NotPrivateError(errno.EPERM, f"it belongs to {_user(owner)}, and what is in it runs as code")
        self._folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            _check(self._folder, f"`chmod go-w {path}`")
        except OSError:
            os.close(self._folder)
            raise

    def __enter__(self) -> PrivateFolder:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._folder)

    @contextmanager
    def opened(self, entry: str, file: str) -> Iterator[int]:
        """The descriptor of a file to be read; raises OSError, NotPrivateError where others may write it."""
        with _open(entry, os.O_DIRECTORY, self._folder) as folder, _open(file, os.O_NONBLOCK, folder) as descriptor:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(errno.EINVAL, "is no regular file")
            yield descriptor

    def read(self, entry: str, file: str) -> bytes:
        """Reads a file whole. Raises the errors of `opened`."""
        with self.opened(entry, file) as descriptor, open(descriptor, "rb", closefd=False) as opened:
            return opened.read()

    def touch(self, entry: str) -> None:
        """Notes that an entry is used."""
        with suppress(OSError):  # the folder may be read-only
            os.utime(entry, dir_fd=self._folder, follow_symlinks=False)

    def add(self, entry: str, files: Mapping[str, bytes]) -> None:
        """Puts an entry in its place whole, unless another process was faster; raises OSError where that fails."""
        new = f"{NEW}{os.getpid()}-{secrets.token_hex(4)}"
        os.mkdir(new, 0o700, dir_fd=self._folder)
        try:
            with _open(new, os.O_DIRECTORY, self._folder) as folder:
                for name, content in files.items():
                    _write(name, content, folder)
            os.rename(new, entry, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        except OSError as error:
            self.remove(new)
            if error.errno not in {errno.EEXIST, errno.ENOTEMPTY}:
                raise

    def remove(self, entry: str) -> None:
        """Removes an entry, or what stands in its place, as far as that may be written."""
        try:
            os.unlink(entry, dir_fd=self._folder)
        except OSError:  # it is a folder
            shutil.rmtree(entry, ignore_errors=True, dir_fd=self._folder)

    def entries(self) -> Iterator[Entry]:
        """All folders in it, but those that another process removes meanwhile."""
        for name in os.listdir(self._folder):
            with suppress(OSError), _open(name, os.O_DIRECTORY, self._folder) as folder:
                files = os.listdir(folder)
                byte_count = sum(os.stat(file, dir_fd=folder, follow_symlinks=False).st_size for file in files)
                yield Entry(name, files, os.fstat(folder).st_mtime, byte_count)


def _make(path: Path) -> None:
    """Makes a folder and those above it that are missing, for this user alone."""
    if not path.is_dir():
        _make(path.parent)
        with suppress(FileExistsError):  # another process was faster, or it is no folder
            os.mkdir(path, 0o700)


@contextmanager
def _open(name: str, flags: int, folder: int) -> Iterator[int]:
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | flags, dir_fd=folder)
    try:
        _check(descriptor, "remove it")
        yield descriptor
    finally:
        os.close(descriptor)


def _check(descriptor: int, fix: str) -> None:
    """Raises NotPrivateError where others than this user have written what is open, or may."""
    status = os.fstat(descriptor)
    if status.st_uid != os.geteuid():
        raise NotPrivateError(errno.EPERM, f"it belongs to {_user(status.st_uid)}, and what is in it runs as code")
    if status.st_mode & OTHERS_MAY_WRITE:
        raise NotPrivateError(errno.EPERM, f"others may write it, and what is in it runs as code: {fix}")


def _write(name: str, content: bytes, folder: int) -> None:
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=folder)
    with open(descriptor, "wb") as file:
        file.write(content)


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"the user {number}"
