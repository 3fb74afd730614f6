# SPDX-License-Identifier: MIT
"""Runs the examples, with their pictures if matplotlib is installed."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parent.parent / "examples"
EXPECTED = {
    "basis": "refused: gpuopt_basis_update: the pivot at position 0 is too small\nupdates made: 0",
    "elimination": "its cost by the tables: 1466 OPTIMAL",
    "knapsack": "OPTIMAL: profit 140978, weight 108978 of 108978, 32 items",
    "propagation": "after pop, the bounds are as before: True",
    "simplex": "highest index: 10 pivots, OPTIMAL, 1.346847, EXACT",
}


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.py")))
def test_example(name, tmp_path):
    program = FOLDER / f"{name}.py"
    assert len(program.read_text().splitlines()) < 80
    command = [sys.executable, str(program)]
    picture = tmp_path / "picture.png"
    plots = importlib.util.find_spec("matplotlib") is not None
    if plots:
        command += ["--plot", str(picture)]
    output = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout
    assert EXPECTED[name] in output
    if plots:
        assert_drawn(picture)


def assert_drawn(picture):
    """The picture has labels and lines: several colours, on a white background."""
    from matplotlib import pyplot

    pixels = (pyplot.imread(picture)[:, :, :3] * 255).astype(int)
    assert min(pixels.shape[:2]) >= 300
    colours, count = np.unique(pixels.reshape(-1, 3), axis=0, return_counts=True)
    assert len(colours) > 20 and np.array_equal(colours[np.argmax(count)], [255, 255, 255])
    assert 0.02 < np.any(pixels != 255, axis=2).mean() < 0.5


def test_readme():
    text = (FOLDER.parent / "README.md").read_text()
    program = re.search(r"```python\n(.*?)```", text, re.S)[1]
    output = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=60
    ).stdout
    assert output == re.search(r"```text\n(.*?)```", text, re.S)[1]
