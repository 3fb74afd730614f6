#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Runs test programs on the GPU under compute-sanitizer's four tools, and prints a table: a row a program, a column a
# tool. What a tool reports without cause is listed below, line by line with the reason, and counted by itself.
# Usage: sanitize.sh FOLDER [JOBS]
#   FOLDER  test programs with the CUDA backend, named ..._test or ..._cuda (bazel build //tests/...; they lie in
#           bazel-bin/tests/FAMILY)
#   JOBS    programs at a time; default 4
# SANITIZE_SECONDS: what a program may take under a tool; default 120. SANITIZE_TOOLS: which tools; default all four.
# SANITIZE_LAUNCHES: how many kernel launches of a program memcheck, racecheck and synccheck look at; default all.
# SANITIZE_LOGS: a folder in which the reports of what was not clean are kept, and a line for each pair that is done.
# The last line is "N passed, N failed": pairs of a program and a tool.
set -u
# Prints the comment above.
help() { awk 'NR > 3 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "${BASH_SOURCE[0]}"; }
case ${1-} in
-h | --help) help && exit ;;
esac
[ $# -ge 1 ] || { sed -n '4,16s/^# \{0,1\}//p' "$0" && exit 2; }
programs=$1 jobs=${2:-4}
logs=${SANITIZE_LOGS:-$(mktemp -d)}
mkdir -p "$logs"
read -ra tools <<<"${SANITIZE_TOOLS:-memcheck racecheck synccheck initcheck}"
sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
[ -x "$sanitizer" ] || { echo "no compute-sanitizer here" >&2 && exit 2; }
export logs sanitizer
export GPUOPT_TEST_FEW=1 # repetitions: a tool makes a kernel a hundred times as slow
# memcheck makes kernels in conditional nodes of graphs fail (explained below), and less often so.
export CUDA_MODULE_LOADING=EAGER

# TOOL<tab>REGULAR EXPRESSION<tab>REASON. A report, all its lines joined, that the expression matches is explained.
explained=$(sed '/^#/d' <<'END'
synccheck	Divergent thread.*cu(da)?GraphLaunch	the tool reports any barrier inside a conditional node of a graph: tests/gpu/while_graph.cu
memcheck	is inside the nearest allocation.*cu(da)?GraphLaunch	in instrumented kernels of a conditional node: the address that the tool calls out of bounds lies in the allocation that it names; tests/propagate/create fails so in most runs, and in none of six in which no kernel is instrumented (--kernel-regex)
memcheck	Program hit (cudaErrorInvalidDevice|CUDA_ERROR_INVALID_DEVICE|cudaErrorMemoryAllocation|CUDA_ERROR_OUT_OF_MEMORY|cudaErrorInvalidValue)	a test makes this call fail on purpose
END
)
export explained

# one TOOL PROGRAM: prints "PROGRAM TOOL clean|explained N|N reports|time|rc N".
one() {
    local tool=$1 program=$2 name log status reports limit=()
    name=$(basename "$program")
    log=$logs/$name.$tool
    case ${SANITIZE_LAUNCHES:-}$tool in [1-9]*memcheck | [1-9]*racecheck | [1-9]*synccheck) limit=(--launch-count "$SANITIZE_LAUNCHES") ;; esac
    # Kernels that start late, which racecheck makes slower still, need time to meet at a barrier.
    timeout "${SANITIZE_SECONDS:-120}" "$sanitizer" --tool "$tool" --print-limit 1000 --error-exitcode 99 "${limit[@]}" \
        "$program" "${SANITIZE_BACKEND:-cuda}" >"$log" 2>&1
    status=$?
    reports=$(awk -v tool="$tool" -v explained="$explained" '
        function close_report(k, known) {
            if (report == "") return
            for (k = 1; k <= rules; k++)
                if (rule_tool[k] == tool && report ~ rule[k]) known = 1
            if (known) told++
            else unknown++
            report = ""
        }
        BEGIN {
            n = split(explained, line, "\n")
            for (k = 1; k <= n; k++) {
                split(line[k], part, "\t")
                rules++
                rule_tool[rules] = part[1]
                rule[rules] = part[2]
            }
        }
        /^========= (COMPUTE-SANITIZER|ERROR SUMMARY|RACECHECK SUMMARY|LEAK SUMMARY|Target application|No attachable)/ { next }
        /^=========[ \t]*$/ { close_report(); next }
        /^========= +[A-Z]/ && /^========= [A-Z]/ { close_report() }
        /^=========/ { report = report $0 }
        END { close_report(); print unknown + 0, told + 0 }' "$log")
    if [ $status -eq 124 ]; then echo "$name $tool time"
    elif [ "${reports% *}" -gt 0 ]; then echo "$name $tool ${reports% *}_reports"
    elif [ $status -ne 0 ] && [ $status -ne 99 ]; then echo "$name $tool rc_$status"
    elif [ "${reports#* }" -gt 0 ]; then echo "$name $tool explained_${reports#* }"
    else echo "$name $tool clean" && rm -f "$log"
    fi
}
export -f one

# shellcheck disable=SC2016 # expanded by the inner shell
for tool in "${tools[@]}"; do
    for program in "$programs"/*_test "$programs"/*_cuda; do [ -x "$program" ] && echo "$tool $program"; done
done | xargs -P "$jobs" -L 1 bash -c 'one "$0" "$1"' | tee "$logs/results" |
    awk -v tools="${tools[*]}" '
        { result[$1, $2] = $3; if (!seen[$1]++) name[++names] = $1 }
        $3 == "clean" || $3 ~ /^explained/ { passed++; next }
        { failed++ }
        END {
            count = split(tools, tool, " ")
            printf "| program |"
            for (t = 1; t <= count; t++) printf " %s |", tool[t]
            printf "\n| --- |"
            for (t = 1; t <= count; t++) printf " --- |"
            print ""
            for (k = 1; k <= names; k++) {
                printf "| %s |", name[k]
                for (t = 1; t <= count; t++) printf " %s |", result[name[k], tool[t]]
                print ""
            }
            printf "%d passed, %d failed\n", passed, failed
            exit failed > 0
        }'
