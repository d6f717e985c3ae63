"""From ``FILE:NAME`` to the agent or workflow of that name in that file."""

from __future__ import annotations

import contextlib
import difflib
import importlib
import sys
import traceback
from collections.abc import Generator
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType, TracebackType
from typing import Any, Final, cast

from interlock.cli.ending import WrongCall
from interlock.runtime import Agent
from interlock.workflows import Workflow, WorkflowBuilder

__all__ = ["Runnable", "load"]

Runnable = Agent | Workflow[Any, Any]
"""What the command line can run and draw."""

_OWN_NAME: Final = "__interlock_file__"
"""The module's name: one that neither the library, nor the standard one, nor a neighbour of the file can have."""


def load(target: str) -> Runnable:
    """Load a file and find what is meant in it.

    The file is run as a module of its own, with its folder importable; a file of a package (its folder has an
    ``__init__.py``) as that package's module. Its bytecode is neither read nor written.

    Args:
        target: ``FILE:NAME``. The last colon counts, so the path may hold one.

    Raises:
        WrongCall: No such file or name, the file does not load, or the name is neither an agent nor a workflow.
    """
    file, name = _parted(target)
    path = _existing(file, name)
    if not name:
        raise WrongCall(f"say what is meant in {file}: FILE:NAME. {_known(_module(path))}")
    module = _module(path)
    try:
        value: object = getattr(module, name)
    except AttributeError:
        near = difflib.get_close_matches(name, _names(module), n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise WrongCall(f"there is no {name!r} in {file}{hint} {_known(module)}") from None
    if isinstance(value, Agent | Workflow):
        return cast("Runnable", value)
    raise WrongCall(f"{name!r} in {file} {_what_it_is(value)}. {_known(module)}")


def _parted(target: str) -> tuple[str, str]:
    """File and name; an empty name where none was given."""
    if Path(target).is_file():
        return target, ""
    file, colon, name = target.rpartition(":")
    if not colon or "/" in name or "\\" in name:  # C:\agents.py has no name
        return target, ""
    if name and not name.isidentifier():
        raise WrongCall(f"{name!r} is no name of a Python object: pass FILE:NAME, as in agents.py:support")
    return file, name


def _existing(file: str, name: str) -> Path:
    path = Path(file)
    if path.is_file():
        return path.resolve()
    if path.is_dir():
        raise WrongCall(f"{file} is a folder: name a Python file in it, as in {path / 'agents.py'}:{name or 'NAME'}")
    for meant in (Path(f"{file}.py"), Path(*f"{file}.py".removesuffix(".py").split(".")).with_suffix(".py")):
        if meant.is_file():
            raise WrongCall(f"there is no file {file!r}; did you mean {meant}:{name or 'NAME'}?")
    raise WrongCall(f"there is no file {file!r} in {Path.cwd()}: pass FILE:NAME, as in agents.py:support")


class _Uncached(SourceFileLoader):
    """Compiles the file each time: bytecode that is as old as a quick edit would be taken for the edited file."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def _module(path: Path) -> ModuleType:
    """The file, run as a module.

    Raises:
        WrongCall: It did not load.
    """
    root, name = _package_of(path)
    try:
        with _no_bytecode():
            if name is not None:
                _make_importable(path.parent, root)
                return _at(path, importlib.import_module(name))
            _make_importable(path.parent)
            spec = spec_from_file_location(_OWN_NAME, path, loader=_Uncached(_OWN_NAME, str(path)))
            assert spec is not None  # there is a loader
            assert spec.loader is not None
            module = module_from_spec(spec)
            sys.modules[_OWN_NAME] = module  # dataclasses and pydantic look their module up
            spec.loader.exec_module(module)
            return module
    except WrongCall:
        raise
    except SystemExit as error:
        raise WrongCall(
            f"{path} ended the program while it was loaded (exit {error.code}): "
            'put what runs as a script behind `if __name__ == "__main__":`'
        ) from None
    except Exception as error:
        raise WrongCall(_load_failure(path, error)) from None


def _package_of(path: Path) -> tuple[Path, str | None]:
    """The folder that holds the outermost package of a file, and the file's module name in it; None outside one."""
    parts = [] if path.stem == "__init__" else [path.stem]
    folder = path.parent
    while (folder / "__init__.py").is_file() and folder.name.isidentifier():
        parts.insert(0, folder.name)
        folder = folder.parent
    in_package = folder != path.parent and path.suffix == ".py" and path.stem.isidentifier()
    return folder, ".".join(parts) if in_package else None


def _at(path: Path, module: ModuleType) -> ModuleType:
    """The module, if it is the file's."""
    if module.__file__ is None or Path(module.__file__).resolve() != path:
        raise WrongCall(f"{path} is {module.__name__!r}, but Python knows another of that name: rename the package")
    return module


def _make_importable(*folders: Path) -> None:
    for folder in folders:
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))


@contextlib.contextmanager
def _no_bytecode() -> Generator[None]:
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        yield
    finally:
        sys.dont_write_bytecode = before


def _load_failure(path: Path, error: Exception) -> str:
    """The error with the way to it, from the file on; and what may help."""
    told = "".join(traceback.format_exception(type(error), error, _from_file(path, error.__traceback__)))
    hint = "correct the file and call again"
    if isinstance(error, ModuleNotFoundError):
        hint = f"install {error.name!r} for the Python that runs this command ({sys.executable}), or correct the name"
    elif isinstance(error, SyntaxError) and error.filename is not None:
        hint = f"correct line {error.lineno} of {error.filename}"
    return f"{path} could not be loaded; {hint}:\n{told.rstrip()}"


def _from_file(path: Path, tb: TracebackType | None) -> TracebackType | None:
    """The traceback without what led to the file; None where the file's code never ran."""
    while tb is not None and tb.tb_frame.f_code.co_filename != str(path):
        tb = tb.tb_next
    return tb


def _names(module: ModuleType) -> list[str]:
    return [name for name, value in vars(module).items() if isinstance(value, Agent | Workflow) and name[0] != "_"]


def _known(module: ModuleType) -> str:
    names = _names(module)
    if not names:
        return "It holds no agent and no workflow: give one a name at the top level of the file"
    return f"Agents and workflows in it: {', '.join(names)}"


def _what_it_is(value: object) -> str:
    if isinstance(value, WorkflowBuilder):
        return "is a workflow that is not finished: end it with .commit()"
    if isinstance(value, type):
        return f"is the class {value.__name__}: make an object of it and give that a name"
    if callable(value) and hasattr(value, "__code__"):
        return "is a function: call it in the file and give what it returns a name"
    return f"is a {type(value).__name__}, neither an Agent nor a Workflow"
