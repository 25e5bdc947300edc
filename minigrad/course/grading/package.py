"""What a submission can import: built once, small, and without a single answer in it.

The engine and the library are copied where the lesson lets students use them; where the student writes that
very piece, `minigrad` can be imported and used, and gives nothing. `minigrad.course` and `minigrad.viz` are
stubs whose functions return None, and so are the packages that only draw. Data that lessons load is copied; no
solution, oracle, probe or lesson file is.
"""

from __future__ import annotations

import ast
import contextlib
import errno
import os
import shutil
import stat
import tempfile
from pathlib import Path

import numpy

PREFIX = "minigrad-sandbox-"  # of its folder among the temporary files; then the process id
PACKAGE = Path(__file__).resolve().parents[2]
OPEN_ROOMS = ("wire.py", "worker.py", "slips.py")  # of `course/student`: the worker, without answers
OPEN_WALLS = ("confine.py", "zygote.py", "cells.py")  # of `course/grading`
DATA = ("digits.npz", "names.txt", "passes.csv")  # of `course/data`: what lessons load

_QUIET = '''"""Nothing is drawn, checked or shown in class grading, and the engine is not there where a student writes it."""


class Nothing:
    """Takes part in everything and is worth nothing, so that a cell goes on to what the student wrote in it."""

    def __init__(self, *args, **kwargs):
        pass

    def __call__(self, *args, **kwargs):
        return None

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _SHAPED.get(name) or Nothing()

    def _nothing(self, *args, **kwargs):
        return Nothing()

    __getitem__ = __enter__ = _nothing
    __add__ = __sub__ = __mul__ = __truediv__ = __matmul__ = __pow__ = __neg__ = _nothing
    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rmatmul__ = __rpow__ = _nothing
    __lt__ = __le__ = __gt__ = __ge__ = _nothing
    __array_ufunc__ = None  # numpy leaves an operation to the methods above

    def __setitem__(self, place, value):
        pass

    def __exit__(self, *error):
        return False

    def __iter__(self):
        return iter(())

    def __len__(self):
        return 0

    def __format__(self, how):
        return "nothing"

    def __mro_entries__(self, bases):
        return ()

    __hash__ = object.__hash__


def subplots(nrows=1, ncols=1, *, squeeze=True, **options):
    import numpy

    grid = numpy.empty((nrows, ncols), dtype=object)
    for place in numpy.ndindex(nrows, ncols):
        grid[place] = Nothing()
    return Nothing(), grid if not squeeze else grid.squeeze() if grid.size > 1 else grid[0, 0]


# What drawing hands back can be taken apart as usual.
_SHAPED = {
    "subplots": subplots,
    "plot": lambda *args, **kwargs: [Nothing()],
    "hist": lambda *args, **kwargs: (Nothing(), Nothing(), Nothing()),
}


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return _SHAPED.get(name) or Nothing()
'''
# What is drawn can be drawn on, and what an engine gives can be computed with.
_USED_ON = _QUIET.replace("return None", "return Nothing()")

_ROOMS = ("", "nn", "nn/functional", "optim", "autograd", "autograd/functional", "utils", "utils/data")

# The worker first: a module that answers to any name would also answer to the names of its own parts.
_COURSE = (
    "from minigrad.course.student.worker import keep, predict\n\n"
    + _QUIET
    + '''

def observe(*args, **kwargs):
    """A decorator in notebooks; here it leaves the function alone."""
    return args[0] if len(args) == 1 and callable(args[0]) else (lambda function: function)
'''
)

# A progress bar hands on what it is given.
_TQDM = (
    _QUIET
    + """

class tqdm(Nothing):
    def __init__(self, things=(), *args, **kwargs):
        self.things = things

    def __iter__(self):
        return iter(self.things)

    def __len__(self):
        return len(self.things)

    def __enter__(self):
        return self


def trange(*args, **kwargs):
    return tqdm(range(*args))
"""
)

_STANDINS = {
    **{f"matplotlib/{name}.py": _USED_ON
       for name in ("__init__", "pyplot", "animation", "cm", "colors", "patches", "ticker")},
    **{f"{name}.py": _QUIET
       for name in ("IPython/__init__", "IPython/display", "ipywidgets/__init__", "anywidget/__init__")},
    **{f"tqdm/{name}.py": _TQDM for name in ("__init__", "auto", "notebook")},
}  # fmt: skip


def build(site: Path, without: frozenset[str] = frozenset()) -> Path:
    """Write the sandbox's site directory into the empty folder `site`, without these parts; any user may read it."""
    target = site / "minigrad"
    if "engine" not in without:
        emptied = {file: what for part in without for file, what in EMPTIED[part].items()}
        for source in sorted(PACKAGE.rglob("*.py")):
            relative = source.relative_to(PACKAGE)
            if relative.parts[0] not in ("course", "viz"):
                text = source.read_text(encoding="utf-8")
                if relative.as_posix() in emptied:
                    text = Emptied(*emptied[relative.as_posix()]).text(text)
                _write(target / relative, text)
    else:
        for name in _ROOMS:
            _write(target / name / "__init__.py", _USED_ON)
    _write(target / "viz" / "__init__.py", _QUIET)
    _write(target / "viz" / "plots.py", _QUIET)
    _write(target / "course" / "__init__.py", _COURSE)
    for folder, names in (("course/student", OPEN_ROOMS), ("course/grading", OPEN_WALLS)):
        _write(target / folder / "__init__.py", "")
        for name in names:
            _write(target / folder / name, (PACKAGE / folder / name).read_text(encoding="utf-8"))
    (target / "course" / "data").mkdir()
    for name in DATA:
        shutil.copyfile(PACKAGE / "course" / "data" / name, target / "course" / "data" / name)
    for name, text in _STANDINS.items():
        _write(site / name, text)
    (site / "numpy").symlink_to(Path(numpy.__file__).resolve().parent, target_is_directory=True)
    for path in (site, *site.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() else 0o644)
    return site


# For each part: in its files, the functions that give nan, and the names whose values make a rule give nan. A part is taken
# away where it is computed, and so under every name that it has.
EMPTIED: dict[str, dict[str, tuple[frozenset[str], frozenset[str]]]] = {
    "optimizers": {"optim/optimizers.py": (frozenset({"step", "_update"}), frozenset())},
    "cross-entropy": {
        "nn/functional.py": (frozenset({"cross_entropy", "_soft", "nll_loss", "_nll"}), frozenset()),
        "kernels.py": (frozenset({"nll_loss"}), frozenset()),
    },
    "gradcheck": {
        "autograd/checks.py": (frozenset({"gradcheck", "gradgradcheck", "check_graph", "check", "numerical", "analytical"}),
                               frozenset()),
    },
    "derivatives": {"derivatives.py": (frozenset(), frozenset({"x", "y", "z", "u", "out"}))},
}  # fmt: skip


class Emptied(ast.NodeTransformer):
    """Takes the contents out of some functions of a file: everything imports as before, and what comes back is nan."""

    def __init__(self, functions: frozenset[str], values: frozenset[str]) -> None:
        self.functions, self.values = functions, values

    def text(self, source: str) -> str:
        """The file without them."""
        return ast.unparse(self.visit(ast.parse(source)))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if node.name in self.functions:
            first = node.args.args[0].arg
            nan = f"{first} * float('nan')" if first != "self" else "None"
            node.body = ast.parse(f"def f():\n    return {nan}").body[0].body  # type: ignore[attr-defined]
            return node
        return self.generic_visit(node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        names = [argument.arg for argument in node.args.args]
        if names[:1] == ["g"] and self.values & set(names):
            return ast.parse("lambda g: g * float('nan')", mode="eval").body
        return self.generic_visit(node)


def no_room(error: OSError) -> str:
    """What to do about an error of the folder for temporary files."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"no space is left in {tempfile.gettempdir()}: make room there, or name another folder in TMPDIR"
    return str(error)


def tidy_up() -> None:
    """Remove what grading processes that were killed have left in the folder for temporary files."""
    if not Path("/proc/self").exists():
        return  # no telling who is still alive
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}[0-9]*-*"):
        number = folder.name.removeprefix(PREFIX).split("-")[0]
        # Another grader may be removing its own while we look.
        with contextlib.suppress(FileNotFoundError):
            ours = stat.S_ISDIR(folder.lstat().st_mode) and folder.lstat().st_uid == os.getuid()
            if ours and number.isdigit() and not Path(f"/proc/{number}").exists():
                shutil.rmtree(folder, ignore_errors=True)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
