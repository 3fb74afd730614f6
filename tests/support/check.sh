# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# What the test scripts share: counting checks, and the last line "N passed, N failed".

passed=0 failed=0 skipped=0
said=$(mktemp) || exit 1 # of the last check's command
at_end() { rm -f "$said"; } # scripts with more to clean up define it anew, and call this one's rm
trap 'at_end' EXIT

# check NAME COMMAND...: the command says nothing when it works; when it does not, the end of what it says is shown.
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

# run_script NAME COMMAND...: runs another script of this kind and adds what it counted; one that ends without its last
# line counts as a failure.
run_script() {
    local name=$1 counts
    shift
    echo "== $name"
    "$@" 2>&1 | tee "$said"
    counts=$(tail -n 1 "$said" | grep -oE '^[0-9]+ passed, [0-9]+ failed$')
    if [ -z "$counts" ]; then
        echo "FAILED: $name did not come to its end"
        failed=$((failed + 1))
        return
    fi
    # shellcheck disable=SC2086 # words: N passed, N failed
    set -- $counts
    passed=$((passed + $1)) failed=$((failed + $3)) skipped=$((skipped + $(grep -c '^SKIPPED' "$said")))
}

# begin COMMAND...: starts it beside what follows. await: until it has ended. replay: what it said, and its status; to be
# handed to check or run_script.
begin() {
    begun=$(mktemp) || exit 1
    "$@" >"$begun" 2>&1 &
    begun_process=$!
}
await() {
    wait "$begun_process"
    begun_status=$?
}
replay() {
    cat "$begun"
    rm -f "$begun"
    return "$begun_status"
}

# The last line; fails if a check did.
summary() {
    [ "$skipped" -eq 0 ] || echo "$skipped skipped, for the reasons given above"
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
}
