# SPDX-License-Identifier: MIT
"""Runs the examples, with their pictures if matplotlib is installed."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

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
    if importlib.util.find_spec("matplotlib"):
        command += ["--plot", str(tmp_path / "picture.png")]
    output = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout
    assert EXPECTED[name] in output


def test_readme():
    text = (FOLDER.parent / "README.md").read_text()
    program = re.search(r"```python\n(.*?)```", text, re.S)[1]
    output = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=60
    ).stdout
    assert output == re.search(r"```text\n(.*?)```", text, re.S)[1]
