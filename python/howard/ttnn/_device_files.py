# SPDX-License-Identifier: Apache-2.0
"""Shows a script the files of the box's cards, /dev/tenstorrent/0 and so on: tests of TTML are skipped
where there is none."""

import os

from ._session import session

_FOLDER = "/dev/tenstorrent"


def _cards():
    return [str(number) for number in range(session.cards())]


def _name_in(path):
    """Returns "" for the folder, the name of a card's file, and None for anything else."""
    try:
        text = os.path.normpath(os.fsdecode(path))
    except TypeError:  # a descriptor, or none
        return None
    if text == _FOLDER:
        return ""
    folder, name = os.path.split(text)
    return name if folder == _FOLDER and name in _cards() else None


class _Entry:
    def __init__(self, name):
        self.name, self.path = name, f"{_FOLDER}/{name}"

    def is_dir(self, *, follow_symlinks=True):
        return False

    is_file = is_dir  # Each is a device.

    def is_symlink(self):
        return False

    def stat(self, *, follow_symlinks=True):
        return os.stat(self.path)


class _Entries:
    """Is what os.scandir() returns."""

    def __init__(self):
        self._entries = iter([_Entry(name) for name in _cards()])

    def __iter__(self):
        return self._entries

    def __next__(self):
        return next(self._entries)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._entries = iter(())


def install():
    """Makes the functions of `os` that look for files find them; nothing is written anywhere, and a
    machine that has the folder keeps its own."""
    if os.path.exists(_FOLDER):
        return
    listdir, scandir, stat, lstat = os.listdir, os.scandir, os.stat, os.lstat

    def own_stat(path, **named):
        name = _name_in(path)
        if name is None:
            return stat(path, **named)
        return stat("/dev/null" if name else "/dev")

    os.listdir = lambda path=".": _cards() if _name_in(path) == "" else listdir(path)
    os.scandir = lambda path=".": _Entries() if _name_in(path) == "" else scandir(path)
    os.stat = own_stat
    os.lstat = lambda path, **named: own_stat(path) if _name_in(path) is not None else lstat(
        path, **named)
