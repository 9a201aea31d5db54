"""The names of options, for type checkers and editors: nothing here is needed when a program runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypedDict

from ._tables import Table


class Reading(TypedDict, total=False):
    """How tables are read."""

    site: str | None
    id: str | None
    weight: str | None
    group: str | None
    items: str | Iterable[str] | None
    ignore: str | Iterable[str] | None
    missing: int | str | Iterable[int | str] | None
    missing_answers: str | None
    long: Mapping[str, str] | None
    codebook: Table | None
    key: Table | Mapping[str, str] | None
    map: Table | Mapping[str, str] | None


class Scoring(Reading, total=False):
    """How students are scored."""

    method: str
    draws: int | None
    seed: int | None
    prior: str | None
    scale: dict[str, float] | None
    site_effect: float | None


class FitOptions(Reading, total=False):
    """How a calibration is carried out."""

    model: str | None
    item_models: Mapping[str, str] | None
    fixed_items: Table | None
    effects: str | None
    population: str | None
    mode: str | None
    publish_effects: bool | None
    algorithm: str | None
    nodes: int | None
    range: float | None
    quadrature: str | None
    tolerance: float | None
    max_rounds: int | None
    local_epochs: int | None
    client_fraction: float | None
    learning_rate: float | None
    seed: int | None
    diagnostics: bool | Iterable[str] | None
    reference_group: str | None
    free: Mapping[str, str | Iterable[str]] | None
    dif_tests: bool | None
    purify: bool | None
    compare_sites: bool | None
    bundles: Iterable[str | Iterable[str]] | None
    site_weights: str | None
    collapse: int | None
    latent_sd: float | None
    starts: int | None
    threads: int | None


class Simulating(TypedDict, total=False):
    """What is simulated."""

    sites: int
    students: int
    students_by_site: Iterable[int] | None
    items: int
    model: str | None
    categories: int | None
    site_effects: Iterable[float] | None
    site_sd: float | None
    missing_rate: float | None
    booklets: int | None
    latent_sd: float | None
    seed: int


class Planning(TypedDict, total=False):
    """A private study that is planned."""

    sites: int
    students: int | Iterable[int]
    items: int
    model: str | None
    categories: int | None
    epsilon: float | Iterable[float] | None
    delta: float | None
    effects: str | None
    site_sd: float | None
    colluders: int | None
    missing_answers: str | None
    mechanism: str | None
    difficulty_sd: float | None
    mixture: bool | None
    booklets: Iterable[Iterable[int]] | None
