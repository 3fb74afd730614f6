#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Usage: run.sh [[EXAMPLE] MODEL [OPTION...]]
#
# Builds the examples and runs them:
#   run.sh                       on small models of our own, and on generated ones large enough to see the speed
#   run.sh MODEL [OPTION...]     the example that the model is for; options are passed on
#   run.sh EXAMPLE ...           that example; "run.sh solve_lp --help" lists its options
# Missing Debian packages are installed, as root. CUDA code is built where there is a GPU to run it.
set -u
# Prints the comment above.
help() { awk 'NR > 3 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "${BASH_SOURCE[0]}"; }
here=$(dirname "${BASH_SOURCE[0]}")
root=$(cd "$here/.." && pwd)
# shellcheck source=../third_party/setup.sh
. "$root/third_party/setup.sh"

# The opening comment of each example shows how to build it without Bazel, and has these lines for this script:
#   Reads: PATTERN...     names of the models that it is for. To the name of an MPS file, +integer or +continuous is
#                         appended, for whether it has integer columns.
#   Also reads: PATTERN...  likewise, of models that it is given only by its own name.
#   Needs: HEADER         left out where the compiler does not find this.
#   Try: ARGUMENT...      a run to show: on each backend, unless one is named; "--threads all" means all cores.
mapfile -t examples < <(cd "$root/examples" && grep -l '^int main(' -- *.c | sed 's/\.c$//')

# declared WHAT EXAMPLE: the lines of that name in its opening comment.
declared() { sed -n "s/^ \* $1: *//p" "$root/examples/$2.c"; }

# What the examples read, by their comments.
what_they_read() {
    local example
    for example in "${examples[@]}"; do
        declared Reads "$example" | sed "s/^/    $example: /; s/+[a-z]*//g"
        declared "Also reads" "$example" | sed "s/^/    $example, if it is named: /"
    done
}

case ${1:-} in
-h | --help)
    help
    echo "Models: files, or generated ones by name:"
    what_they_read
    exit
    ;;
esac

unpacked() { case $1 in *.xz) xz -dc -- "$1" ;; *) gzip -cdf -- "$1" ;; esac }
has_integers() { unpacked "$1" 2>/dev/null | grep -qE "'INTORG'|^[[:space:]]+(BV|LI|UI)[[:space:]]"; }

# The example for a model file or generator.
example_of() {
    local name=$1 example pattern patterns
    case $name in
    *.mps | *.mps.gz | *.mps.xz) if has_integers "$name"; then name+=+integer; else name+=+continuous; fi ;;
    esac
    for example in "${examples[@]}"; do
        read -r -d '' -a patterns < <(declared Reads "$example")
        for pattern in "${patterns[@]}"; do
            # shellcheck disable=SC2053 # a pattern
            if [[ $name == $pattern ]]; then
                echo "$example"
                return
            fi
        done
    done
    {
        echo "$1: no example reads this. They read:"
        what_they_read
    } >&2
    return 2
}

# Before anything is built, so that a mistake is reported at once.
case " ${examples[*]} " in
*" ${1:-} "*) example=$1 && shift ;;
*) if [ -n "${1:-}" ]; then example=$(example_of "$1") || exit; fi ;;
esac

choose_cuda
if [ -n "$cuda_missing" ]; then
    echo "Building the examples for the CPU: $cuda_missing." >&2
else
    echo "Building the examples for the CPU and the GPU. The CUDA code takes minutes, once." >&2
fi
need "${example_packages[@]}"
can_include() { echo "#include <$1>" | cc -E - >/dev/null 2>&1; }
for k in "${!examples[@]}"; do
    header=$(declared Needs "${examples[k]}")
    if [ -n "$header" ] && ! can_include "$header"; then
        echo "Leaving out ${examples[k]}: there is no $header." >&2
        unset "examples[k]"
    fi
done
progress=(--show_progress_rate_limit=1)
[ -t 2 ] || progress+=(--curses=no)
(cd "$root" && bazel build "${cuda[@]}" "${progress[@]}" "${examples[@]/#///examples:}") >&2 || exit 3
programs=$root/bazel-bin/examples

if [ -n "${example:-}" ]; then exec "$programs/$example" "$@"; fi

failed=0
# show PROGRAM ARGUMENT...: runs an example under its command line; an infeasible model (1) is an answer like others.
show() {
    local program=$1
    shift
    printf '\n$ %s %s\n' "$program" "$*"
    "$programs/$program" "$@"
    [ $? -le 1 ] || failed=1
}

# try EXAMPLE ARGUMENT...: as in its line.
try() {
    local words=" ${*:2} " runs run
    words=${words/ --threads all / --threads $(nproc) }
    case $words in
    *" --backend "*) runs=("$words") ;;
    *" --threads "*) runs=("$words --backend cpu") ;;
    *) runs=("$words --backend cpu" "$words --backend cuda") ;;
    esac
    for run in "${runs[@]}"; do
        case $run in
        *" --backend cuda"*) has_gpu || continue ;;
        esac
        # shellcheck disable=SC2086 # several words
        show "$1" $run
    done
}

cd "$root" || exit 3
show quickstart
for model in examples/models/*; do show "$(example_of "$model")" "$model"; done
for example in "${examples[@]}"; do
    while read -r -a words; do try "$example" "${words[@]}"; done < <(declared Try "$example")
done
has_gpu || printf '\nThere is no NVIDIA GPU here: everything ran on the CPU.\n'
exit $failed
