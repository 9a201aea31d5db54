"""What private studies may expect, before anything is spent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _native
from ._compare import _whole
from ._frames import frame
from ._options import text

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._types import Planning


class Plan:
    """Expected standard errors at each ε, and remarks."""

    def __init__(self, table: Any, remarks: list[str]) -> None:
        #: A row per ε. ``se_a``, ``se_b``, ``se_s``: expected standard errors of slopes, difficulties and site effects as
        #: reported; ``alone_se_…``: from the noisy sums alone.
        self.table = table
        self.remarks = remarks

    def __repr__(self) -> str:
        return "\n".join([_whole(self.table), *self.remarks])


def plan(*, kind: str | None = None, **options: Unpack[Planning]) -> Plan:
    """Expected standard errors of a private study. No data are read, no budget is spent.

    Options: ``sites``, ``students`` (one number, or one for each site), ``items``, ``model``, ``categories``, ``epsilon`` (one or
    several), ``delta``, ``effects``, ``site_sd``, ``colluders``, ``missing_answers``, ``mixture``,
    ``mechanism`` (``optimal``, ``score2``), ``booklets`` (lists of the numbers of items, from 1).

    >>> import fedirt
    >>> expected = fedirt.privacy.plan(sites=20, students=100, items=30, epsilon=[1, 8]).table
    >>> bool(expected["se_b"][0] > expected["se_b"][1])
    True
    """
    lists, remarks = _native.plan(text({name: value for name, value in options.items() if value is not None}))
    return Plan(frame(lists, kind), remarks)
