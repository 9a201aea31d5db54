"""Tables that tests share."""

import random

import pandas
import pytest


def answers(students: int = 300, seed: int = 1) -> dict[str, list]:
    """Answers of students at three schools to four 0/1 items and one with three categories."""
    draw = random.Random(seed)
    columns: dict[str, list] = {"pupil": [], "school": []}
    columns |= {f"i{item}": [] for item in range(1, 6)}
    for student in range(students):
        ability = draw.gauss(0, 1)
        columns["pupil"].append(f"p{student}")
        columns["school"].append(("north", "south", "west")[student % 3])
        for item in range(1, 5):
            columns[f"i{item}"].append(int(ability + draw.gauss(0, 1) > (item - 2.5) / 2))
        columns["i5"].append(int(ability + draw.gauss(0, 1) > -0.5) + int(ability + draw.gauss(0, 1) > 0.5))
    columns["i2"][7] = None
    return columns


@pytest.fixture
def columns() -> dict[str, list]:
    return answers()


@pytest.fixture
def frame(columns) -> pandas.DataFrame:
    return pandas.DataFrame(columns)
