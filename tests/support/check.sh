# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# What the test scripts share: counting checks, and the last line "N passed, N failed". A script sources this file,
# calls check or skip for each thing, and summary at its end.

passed=0 failed=0 skipped=0
said=$(mktemp) || exit 1 # of the last check's command
at_end() { rm -f "$said"; } # scripts with more to clean up define it anew, and call this one's rm
# Only in the script itself: a background job that a signal reaches before it has dropped this trap runs it, too.
trap 'case $BASHPID in $$) at_end ;; esac' EXIT

# check NAME COMMAND...: the command's output is hidden if it succeeds; if it fails, the end of the output is shown.
check() {
    local name=$1
    shift
    if "$@" >"$said" 2>&1; then
        echo "ok: $name"
        passed=$((passed + 1))
        return 0
    fi
    echo "FAILED: $name"
    sed 's/^/    /' "$said" | cut -c1-300 | tail -n 20
    failed=$((failed + 1))
    return 1
}

skip() {
    echo "SKIPPED: $1 ($2)"
    skipped=$((skipped + 1))
}

# leave NAME REASON: skips what is left of the script, and ends it.
leave() {
    skip "$@"
    summary
    exit
}

# runs_all: whether everything is to run, as tests/run.sh --all requests of the scripts that it runs.
runs_all() { [ -n "${GPUOPT_TEST_ALL:-}" ]; }

# count NAME FILE: shows the output of another script of this kind, and adds its counts; an output without the last line
# counts as a failure.
count() {
    local counts
    echo "== $1"
    cat "$2"
    counts=$(tail -n 1 "$2" | grep -oE '^[0-9]+ passed, [0-9]+ failed$')
    if [ -z "$counts" ]; then
        echo "FAILED: $1 did not come to its end"
        failed=$((failed + 1))
        return
    fi
    passed=$((passed + ${counts%% *}))
    counts=${counts#*, }
    failed=$((failed + ${counts%% *}))
    skipped=$((skipped + $(grep -c '^SKIPPED' "$2")))
}

# run_script NAME COMMAND...: runs one and counts it.
run_script() {
    local name=$1 start=$SECONDS
    shift
    "$@" >"$said" 2>&1
    count "$name, $((SECONDS - start)) s" "$said"
}

# run_scripts SCRIPT...: runs them, as many at a time as there are processors, and counts them.
run_scripts() {
    local script log
    declare -A running=()
    for script in "$@"; do
        if [ ${#running[@]} -ge "$(nproc)" ]; then finish_one; fi
        log=$(mktemp) || exit 1
        "$script" >"$log" 2>&1 </dev/null &
        running[$!]="$SECONDS $log $script"
    done
    while [ ${#running[@]} -gt 0 ]; do finish_one; done
}
finish_one() { # of those in running
    local pid start log script
    wait -n -p pid "${!running[@]}"
    read -r start log script <<<"${running[$pid]}"
    unset "running[$pid]"
    count "$script, $((SECONDS - start)) s, ended after $SECONDS s in all" "$log"
    rm -f "$log"
}

# The last line; fails if a check did.
summary() {
    [ "$skipped" -eq 0 ] || echo "$skipped skipped, for the reasons given above"
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
}
