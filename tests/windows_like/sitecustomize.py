"""Take from Python on Linux what it lacks on Windows; imported by each process with this folder on
its PYTHONPATH.

There is no `fork`, no start method but "spawn", and no module of Unix, except for libraries, which
ask for the system that they are on. A descriptor that was opened without O_BINARY is in text mode:
each line feed that is written becomes two bytes.
"""

import builtins
import multiprocessing.context as context
import os
import sysconfig

#: Modules that do not exist on Windows.
MODULES = ("fcntl", "grp", "pwd", "resource", "termios")
#: Functions of `os` that do not exist on Windows, or that need `fork`.
FUNCTIONS = ("fork", "forkpty", "mkfifo", "register_at_fork")
#: The flag of Windows; Linux ignores this bit.
O_BINARY = 0x8000

_text = set()
_import, _open, _write, _close = builtins.__import__, os.open, os.write, os.close
_LIBRARIES = tuple(
    sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib")
)


def import_(name, globals=None, locals=None, fromlist=(), level=0):
    file, package = ((globals or {}).get(key) or "" for key in ("__file__", "__name__"))
    is_library = file.startswith(_LIBRARIES) and package.split(".")[0] != "elmbench"
    if name in MODULES and not is_library:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return _import(name, globals, locals, fromlist, level)


def open_(path, flags, mode=0o777, *, dir_fd=None):
    descriptor = _open(path, flags & ~O_BINARY, mode, dir_fd=dir_fd)
    if not flags & O_BINARY:
        _text.add(descriptor)
    return descriptor


def write(descriptor, content):
    content = bytes(content)
    if descriptor not in _text:
        return _write(descriptor, content)
    translated = content.replace(b"\n", b"\r\n")
    while translated:
        translated = translated[_write(descriptor, translated) :]
    return len(content)


def close(descriptor):
    _text.discard(descriptor)
    _close(descriptor)


for _name in FUNCTIONS:
    delattr(os, _name)
builtins.__import__ = import_
os.O_BINARY = O_BINARY
os.open, os.write, os.close = open_, write, close
for _name in ("fork", "forkserver"):
    del context._concrete_contexts[_name]
context._default_context._default_context = context._concrete_contexts["spawn"]
