"""Let a program write only below the given paths: `python landlock.py PATH… -- PROGRAM ARG…`.

Run as a script, by the child itself, so that nothing is done between fork and exec of the parent. Uses the
kernel's Landlock through ctypes: three system calls that no library of ours wraps.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
import sys

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_NO_NEW_PRIVS = 38
_PATH_BENEATH = 1
_VERSION_FLAG = 1

#: rights to write, remove and make things, by the version of Landlock that knows them
_WRITE_V1 = sum(1 << bit for bit in (1, 4, 5, 6, 7, 8, 9, 10, 11, 12))
_REFER_V2 = 1 << 13
_TRUNCATE_V3 = 1 << 14
#: and to control a device through one that can be read
_IOCTL_DEV_V5 = 1 << 15
#: to make a device, which root could then write to as if it were in /dev: nowhere
_MAKE_DEVICES = 1 << 6 | 1 << 11
#: those of them that a file can have
_OF_FILES = 1 << 1 | _TRUNCATE_V3 | _IOCTL_DEV_V5


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def abi() -> int:
    """The version of Landlock that the kernel speaks; 0 if it has none."""
    version: int = _libc().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION_FLAG)
    return max(0, version)


def restrict(paths: list[str]) -> None:
    """Forbid this process and its children for ever to write anywhere but to these files and below these folders.

    Raises:
        OSError: The kernel refused, and then nothing may be run.
    """
    version = abi()
    rights = _WRITE_V1
    for since, right in ((2, _REFER_V2), (3, _TRUNCATE_V3), (5, _IOCTL_DEV_V5)):
        rights |= right if version >= since else 0
    libc = _libc()
    wanted = struct.pack("=Q", rights)
    ruleset = _checked(libc.syscall(_CREATE_RULESET, wanted, ctypes.c_size_t(len(wanted)), 0))
    for path in paths:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        is_folder = stat.S_ISDIR(os.fstat(fd).st_mode)
        granted = rights & ~_MAKE_DEVICES if is_folder else rights & _OF_FILES
        rule = struct.pack("=Qi", granted, fd)
        _checked(libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0))
        os.close(fd)
    _checked(libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0))
    _checked(libc.syscall(_RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def _checked(value: int) -> int:
    if value < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return value


def main() -> None:
    """Restrict, then become the program."""
    cut = sys.argv.index("--")
    restrict(sys.argv[1:cut])
    program = sys.argv[cut + 1 :]
    try:
        os.execvp(program[0], program)  # noqa: S606
    except OSError as error:
        sys.exit(f"{program[0]}: {error.strerror}")


if __name__ == "__main__":
    main()
