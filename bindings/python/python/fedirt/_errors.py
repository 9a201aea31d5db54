"""Errors with fields: what is wrong, where, and what would help."""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong."""

    message: str
    #: The file or table.
    file: str | None = None
    #: The line of a file or the row of a table, counted from 1: row 1 is ``df.iloc[0]``.
    line: int | None = None
    #: The column, or the item.
    column: str | None = None
    #: The option.
    option: str | None = None
    #: The value that is at fault, as text.
    value: str | None = None
    #: What would help.
    remedy: str | None = None


class FedirtError(Exception):
    """An error of fedirt, with all ``problems`` that were found."""

    def __init__(self, message: str, problems: tuple[Problem, ...] = ()) -> None:
        super().__init__(message)
        self.problems = problems

    def __reduce__(self) -> tuple[type[FedirtError], tuple[str, tuple[Problem, ...]]]:
        return type(self), (str(self), self.problems)


class DataError(FedirtError, ValueError):
    """Something about the answers is wrong, or only the caller can know what they mean.

    >>> import fedirt
    >>> try:
    ...     fedirt.fit({"i1": [0, 1, "x"], "i2": [1, 0, 1]})
    ... except fedirt.DataError as error:
    ...     problem = error.problems[0]
    >>> problem.line, problem.column, problem.value
    (3, 'i1', 'x')
    """


class OptionError(FedirtError, ValueError):
    """An option is wrong, or belongs to something else than what is asked for."""


class CalibrationError(FedirtError, RuntimeError):
    """The calibration cannot be carried out, or its result does not have what is asked for."""


class InternalError(FedirtError, RuntimeError):
    """A fault of fedirt itself."""


class Note(UserWarning):
    """Something worth knowing about answers or scores."""


class NotConverged(UserWarning):
    """The calibration stopped before its maximum was found."""


KINDS: dict[str, type[FedirtError]] = {
    "data": DataError,
    "option": OptionError,
    "calibration": CalibrationError,
    "stopped": CalibrationError,
    "internal": InternalError,
}


def exception(text: str) -> FedirtError:
    """The exception of a failure, which is an object of JSON."""
    failure = json.loads(text)
    problems = tuple(Problem(**found) for found in failure["problems"])
    return KINDS[failure["kind"]](failure["message"], problems)
