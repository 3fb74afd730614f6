# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# What the scripts that test the example solve_mip share, beside example.sh: they set `backend`, which may be empty.

# solved CODE STATUS OBJECTIVE MODEL OPTION...: objective "null": none. An optimum is its own bound.
solved() {
    local code=$1 status=$2 objective=$3
    shift 3
    exits "$code" "$@" ${backend:+--backend "$backend"} --json || return
    [ "$(field status)" = "$status" ] || { echo "$* is $(field status), not $status" >>err && return 1; }
    [ "$(field backend)" = "${backend:-$(field backend)}" ] || { echo "$* is not on $backend" >>err && return 1; }
    if [ "$objective" = null ]; then
        [ "$(field objective)" = null ]
    else
        near objective "$objective" 1e-7 && near bound "$(field objective)" 1e-9
    fi
}

# enumerated SEED: the random integer program of small_mip.awk; every other one by three threads.
enumerated() {
    local answer threads=$((1 + 2 * ($1 % 2)))
    answer=$(awk -v seed="$1" -v file=model.mps -f "${root:?}/tests/examples/small_mip.awk" | head -n 1) || return
    case $answer in
    infeasible) solved 1 infeasible null model.mps --threads $threads ;;
    *) solved 0 optimal "${answer#* }" model.mps --threads $threads ;;
    esac
}
# all MANY CHECK: for each seed.
all() {
    local seed
    for seed in $(seq 1 "$1"); do "$2" "$seed" || { echo "seed $seed" >>err && return 1; }; done
}
