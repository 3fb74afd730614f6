#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The example that solves linear programs, as a user runs it: answers worked out by hand, by other solvers (the indices
# of GPUOPT_TEST_DATA) or planted, with every option; solutions checked against the file by awk; exit codes, and what it
# messages for input that is no model.
# Usage: solve_lp_test.sh [PROGRAM]
set -u
example=solve_lp seconds=120
# shellcheck source=../support/example.sh
. "$(dirname "${BASH_SOURCE[0]}")/../support/example.sh"

# optimal WANT TOLERANCE ARGUMENT...: solved to that objective, and the model's own check agrees.
optimal() {
    local want=$1 tolerance=$2
    shift 2
    exits 0 "$@" --json && [ "$(field status)" = optimal ] && near objective "$want" "$tolerance"
}
# proven STATUS ARGUMENT...: with a proof that holds.
proven() {
    local want=$1
    shift
    exits 1 "$@" --json && [ "$(field status)" = "$want" ] && [ "$(field objective)" = null ] &&
        within margin 1e-12 1e300 && within residual 0 1e-9
}

# satisfies MODEL TOLERANCE: the file named solution holds on the file named MODEL, which has no names with spaces:
# bounds, rows, activities, and reduced costs made of the duals. Relative to the size of the terms. out has the
# objective.
satisfies() {
    awk -v cols="$(field cols)" -v rows="$(field rows)" -v objective="$(field objective)" -v tolerance="$2" '
        function bad(what) { print "does not hold: " what; failed = 1; exit 1 }
        function size(v) { return v < 0 ? -v : v }
        function differ(a, b, scale) { return size(a - b) > tolerance * (1 + scale) }
        { sub(/\r$/, "") }
        NR == FNR && FNR <= cols { x[$1] = $2; reduced[$1] = $3; next }
        NR == FNR { given[$1] = $2; dual[$1] = $3; seen++; next }
        /^[A-Z]/ { section = $1; next }
        /^\*/ || NF == 0 || /MARKER/ { next }
        section == "ROWS" { kind[$2] = $1; if ($1 == "N" && goal == "") goal = $2; next }
        section == "COLUMNS" {
            for (k = 2; k < NF; k += 2) {
                v = $(k + 1)
                if ($k == goal) { total += v * x[$1]; cost[$1] += v; rest[$1] += v; terms[$1] += size(v) }
                else if (kind[$k] != "N") {
                    sum[$k] += v * x[$1]; extent[$k] += size(v * x[$1])
                    rest[$1] -= v * dual[$k]; terms[$1] += size(v * dual[$k])
                }
            }
        }
        section == "RHS" { for (k = NF % 2 ? 2 : 1; k < NF; k += 2) side[$k] = $(k + 1) }
        section == "RANGES" { for (k = NF % 2 ? 2 : 1; k < NF; k += 2) { range[$k] = $(k + 1); ranged[$k] = 1 } }
        section == "BOUNDS" {
            valued = $1 != "FR" && $1 != "MI" && $1 != "PL" && $1 != "BV"
            name = $(valued ? NF - 1 : NF); value = $NF
            if ($1 == "FR" || $1 == "MI") unbounded[name] = 1
            if ($1 == "LO" || $1 == "FX" || $1 == "LI") { low[name] = value; unbounded[name] = 0 }
            if (($1 == "UP" || $1 == "UI") && value < 0 && !(name in low)) unbounded[name] = 1
            if ($1 == "UP" || $1 == "FX" || $1 == "UI") high[name] = value
            if ($1 == "BV") high[name] = 1
        }
        END {
            if (failed) exit 1
            if (seen != rows) bad("number of rows")
            for (j in x) {
                if (!unbounded[j] && x[j] < low[j] - tolerance * (1 + size(low[j]))) bad("lower bound of " j)
                if (j in high && x[j] > high[j] + tolerance * (1 + size(high[j]))) bad("upper bound of " j)
                if (differ(reduced[j], rest[j], terms[j])) bad("reduced cost of " j)
            }
            for (i in kind) {
                if (kind[i] == "N") continue
                if (differ(given[i], sum[i], extent[i])) bad("activity of " i)
                least = most = side[i] + 0
                if (kind[i] == "L") least = ranged[i] ? most - size(range[i]) : "-inf"
                if (kind[i] == "G") most = ranged[i] ? least + size(range[i]) : "inf"
                if (kind[i] == "E" && range[i] > 0) most += range[i]
                if (kind[i] == "E" && range[i] < 0) least += range[i]
                if (least != "-inf" && sum[i] < least - tolerance * (1 + extent[i])) bad("left side of " i)
                if (most != "inf" && sum[i] > most + tolerance * (1 + extent[i])) bad("right side of " i)
            }
            if (differ(objective, total - side[goal], size(total))) bad("objective")
        }' solution "$1" >>err 2>&1
}

# ---- Answers by hand ----
# transport: all of NEAR's 20 go where FAR is dearest in comparison: city 3 (15 units, 5 against 7), then city 1 (2
# against 3); cost 15*5 + 5*2 + 5*3 + 25*1 = 125. Duals: a unit more of NEAR saves 1, of demand costs 3, 1, 6.
# contract: with duals 1, 1, -1, -1 and a reduced cost of 2 on d, 8 + 4 + 2 + 7 + 12 + 10 = 43 bounds the profit from
# above, and a=6, b=2, c=-2, d=6, e=-5 reaches it: 18 + 2 + 2 + 6 + 5 + 10.
# shortage: 0.4 STEEL + 0.2 POWER says P1 + P2 <= 2.8, ORDER wants 4.
# arbitrage: BUY and SELL up by one each keeps both rows and costs -2.

for method in tableau revised; do
    for pricing in devex dantzig steepest-edge; do
        for ratio in harris expand textbook; do
            for technique in deferred immediate 3; do
                options="--method $method --pricing $pricing --ratio $ratio --technique $technique"
                # shellcheck disable=SC2086 # several options
                optimal 125 1e-12 "$models/transport.mps" $options &&
                    optimal 43 1e-12 "$models/contract.mps" $options && [ "$(field method)" = $method ] &&
                    [ "$(field pricing)" = $pricing ] && [ "$(field ratio)" = $ratio ] &&
                    proven infeasible "$models/shortage.mps" $options &&
                    proven unbounded "$models/arbitrage.mps" $options &&
                    optimal 1026 1e-12 plant:100:200:0.1:3 $options && near planted_optimum 1026 0 &&
                    within primal_violation 0 1e-8 && within dual_violation 0 1e-8
                result "$options" $?
            done
        done
    done
done

for method in tableau revised; do
    for algorithm in primal dual auto; do
        options="--method $method --algorithm $algorithm"
        # shellcheck disable=SC2086 # several options
        optimal 125 1e-12 "$models/transport.mps" $options && optimal 43 1e-12 "$models/contract.mps" $options &&
            [ "$(field algorithm)" = $algorithm ] && proven infeasible "$models/shortage.mps" $options &&
            proven unbounded "$models/arbitrage.mps" $options
        result "$options" $?
    done
done
# The slack basis of transport is dual feasible, its costs being positive, and not primal feasible.
for algorithm in primal dual auto; do
    optimal 125 1e-12 "$models/transport.mps" --backend cpu --method revised --algorithm $algorithm &&
        { if [ $algorithm = primal ]; then [ "$(field dual_iterations)" = 0 ]; else [ "$(field dual_iterations)" -gt 0 ]; fi; }
    result "the method that --algorithm $algorithm names" $?
done

# solved NAME OPTION...: the solution file is the one on stdin.
solved() {
    cat >want
    exits 0 "$@" --solution solution && sed 's/ -0\( \|$\)/ 0\1/g' solution | diff want - >>err
}
solved "$models/transport.mps" <<END
N1 5 0
N2 0 4
N3 15 0
F1 5 0
F2 25 0
F3 0 1
NEAR 20 -1
FAR 30 0
CITY1 10 3
CITY2 25 1
CITY3 15 6
END
result "solution of a minimum, fixed format" $?
solved "$models/contract.mps" <<END
a 6 0
b 2 0
c -2 0
d 6 2
e -5 0
capacity 8 1
mix 4 1
balance -2 -1
debt -7 -1
END
result "solution of a maximum, ranges, free columns, negative bounds, free format" $?

optimal 125 1e-12 "$models/transport.mps" --threads 2 && [ "$(field threads)" = 2 ] && [ "$(field backend)" = cpu ]
result "--threads 2" $?

# Ranks report what one does: the same number of iterations, and the same solution to the last digit.
as_one() {
    local ranks=$1 alone
    shift
    exits 0 "$@" --method tableau --backend cpu --json --solution alone && alone=$(field iterations) || return 1
    exits 0 "$@" --ranks "$ranks" --json --solution shared && [ "$(field ranks)" = "$ranks" ] &&
        [ "$(field iterations)" = "$alone" ] && cmp alone shared
}
for ranks in 1 2 3 7; do check "--ranks $ranks: the solution of one" as_one "$ranks" plant:40:90:0.2:1; done
check "--ranks, more than there are columns" as_one 64 "$models/transport.mps"
proven infeasible "$models/shortage.mps" --ranks 2
result "--ranks 2, infeasible" $?
check "--ranks with --certificate" exits 2 "$models/transport.mps" --ranks 2 --certificate x
check "--ranks with --method revised" exits 2 "$models/transport.mps" --ranks 2 --method revised
check "--ranks with --algorithm dual" exits 2 "$models/transport.mps" --ranks 2 --algorithm dual
check "--gpus with --backend cpu" exits 2 "$models/transport.mps" --gpus 2 --backend cpu
optimal 125 1e-12 "$models/transport.mps" --backend cpu && optimal 125 1e-12 "$models/transport.mps" --backend auto
result "--backend cpu and auto" $?
# At a maximum NEAR serves city 2 (4 instead of at most 5; FAR would give up 6), 5 more come from FAR, city 1 gets its
# 10 from FAR, and what is left of FAR goes to city 3: 20*4 + 5*1 + 10*3 + 20*7.
optimal 255 1e-12 "$models/transport.mps" --max && [ "$(field maximize)" = true ]
result "--max" $?
optimal 43 1e-12 "$models/contract.mps" --max
result "--max of a maximum changes nothing" $?

# ---- What a file means ----

# means NAME WANT SED...: the contract, edited, has that optimum.
means() {
    local name=$1 want=$2
    shift 2
    sed "$@" "$models/contract.mps" >"$name.mps"
    optimal "$want" 1e-12 "$name.mps"
    result "read as meant: $name" $?
}
means sense_on_one_line 43 '/^OBJSENSE/N; s/OBJSENSE\n *MAX/OBJSENSE MAX/'
means sense_in_full 43 's/^    MAX/    maximize/'
means sense_on_a_card 43 's/^    MAX/MAX/'
means sense_before_name 43 -e '/^OBJSENSE/d' -e '/^    MAX/d' -e 's/^NAME.*/OBJSENSE\n  MAX\n&/'
means no_name 43 -e '/^NAME/d'
# The minimum: without a lower bound on d, -b + c + d - e can fall as far as `balance` lets it: d = a - 2 - c, so that
# 3a + b - c + d - e = 4a + b - 2c - 2 - e, with c = -1; and e is free upwards.
sed 's/^    MAX/    MIN/' "$models/contract.mps" >min.mps
proven unbounded min.mps
result "read as meant: the minimum" $?
means several_free_rows 43 -e 's/^ N profit/&\n N other/' -e 's/^ b profit 1 capacity 1/&\n b other 100/'
means no_constant 33 's/^ rhs profit -10 capacity 8/ rhs capacity 8/'
means infinite_bounds 43 -e 's/^ FR bnd b/ LO bnd b -1e30\n UP bnd b 1e30/'
# What a - b may be more is worth the dual of its row, 1, while c stays below its -1: it goes from -2 to there.
means wider_range 44 -e 's/mix 6$/mix 7/'
means dos 43 's/$/\r/'

# The same in fixed columns, with names that have spaces.
cat >spaces.mps <<'END'
NAME          SPACES
ROWS
 N  THE COST
 L  ROW ONE
COLUMNS
    COL A     THE COST          -1.0   ROW ONE            1.0
    COL B     THE COST          -2.0   ROW ONE            1.0
RHS
              ROW ONE            4.0
BOUNDS
 UP           COL B              3.0
ENDATA
END
optimal -7 1e-12 spaces.mps && exits 0 spaces.mps --solution solution && has '^COLB 3 -1$' solution
result "read as meant: names with spaces, sets without names" $?

# -x - 2y - z + w: x at 3, y at -1 (its lower bound is then -infinity), z fixed at 2.5, w at 0.
printf 'NAME b FREE\nROWS\n N o\n L r\nCOLUMNS\n x o -1 r 1\n y o -2 r 1\n z o -1 r 1\n w o 1\n' >bounds.mps
printf 'RHS\n s r 1e30\nBOUNDS\n UP k x 3\n UP k y -1\n FX k z 2.5\n PL k w\nENDATA\n' >>bounds.mps
optimal -3.5 1e-12 bounds.mps
result "read as meant: negative UP, FX, PL, a side of 1e30" $?
sed 's/ y o -2 r 1/ y o 2 r 1/' bounds.mps >free.mps
proven unbounded free.mps
result "read as meant: a negative UP alone has no lower bound" $?

printf 'NAME n FREE\nROWS\n N o\nCOLUMNS\n x o -1\nRHS\n s o 2\nBOUNDS\n UP k x 3\nENDATA\n' >norows.mps
optimal -5 0 norows.mps
result "no rows, and a constant" $?
printf 'NAME n FREE\nROWS\n N o\n G r\nCOLUMNS\nRHS\n s r 2\nENDATA\n' >nocols.mps
proven infeasible nocols.mps
result "no columns, and a row that wants something" $?
sed 's/^ LO bnd c -4/ LO bnd c 4/' "$models/contract.mps" >crossed.mps
exits 1 crossed.mps && has 'Infeasible: the bounds of column c cross' out && exits 1 crossed.mps --json &&
    [ "$(field status)" = infeasible ] && [ "$(field margin)" = 5 ]
result "bounds that cross: infeasible" $?
gzip -c "$models/transport.mps" >transport.mps.gz
optimal 125 1e-12 transport.mps.gz
result "compressed" $?

# ---- Generated models ----

# sizes MODEL ROWS COLS NONZEROS
sizes() {
    exits 0 "$1" --json && [ "$(field rows) $(field cols) $(field nonzeros)" = "$2 $3 $4" ] &&
        [ "$(field maximize)" = true ] && within primal_violation 0 1e-9 && within dual_violation 0 1e-9
    result "$1" $?
}
sizes shah:60:1 60 60 3600
sizes meyer:50:250:0.04:1 50 250 545
sizes meyer:20:30:0.0001:2 20 30 30
sizes plant:60:150:0.2:18446744073709551615 60 150 1843

# ---- Messages ----

exits 0 "$models/transport.mps" && has 'minimise; 5 rows, 6 columns, 12 nonzeros' out &&
    has '^Optimal: the objective is 125; the basis is proven optimal in exact arithmetic\.$' out && has 'violated by' out && [ ! -s err ]
result "says in words that it is done" $?
exits 1 "$models/shortage.mps" && has '^Infeasible: no point' out && has "the certificate's margin is" out
result "infeasible: in words, exit status 1" $?
exits 1 "$models/arbitrage.mps" && has '^Unbounded: ' out && has 'along the ray' out
result "unbounded: in words, exit status 1" $?
exits 1 "$models/overbooked.mps" && has '3 integer columns are taken for continuous' out
result "the relaxation of an integer program: in words" $?
exits 3 plant:100:200:0.1:3 --iterations 5 && has '^Stopped at the limit' out &&
    exits 3 plant:100:200:0.1:3 --iterations 5 --json && [ "$(field status) $(field iterations)" = "limit 5" ]
result "a limit of iterations, exit status 3" $?
exits 0 plant:100:200:0.1:3 && has 'planted optimum is 1026' out
result "the planted optimum: in words" $?

json='^{"model": ".*transport.mps", "backend": "cpu", "threads": 1, "ranks": 1, "method": "[a-z]*", "algorithm": "primal", "pricing": "devex",'
json="$json \"ratio\": \"harris\", \"deferred_pivots\": [0-9]*, \"maximize\": false, \"rows\": 5, \"cols\": 6,"
json="$json \"nonzeros\": 12, \"status\": \"optimal\", \"certainty\": \"exact\", \"backward_error\": 0,"
json="$json \"objective\": 125, \"planted_optimum\": null,"
json="$json \"iterations\": [0-9]*, \"dual_iterations\": 0, \"flips\": [0-9]*, \"rebuilds\": [0-9]*, \"refactorizations\": [0-9]*,"
json="$json \"primal_violation\": [0-9.e-]*, \"dual_violation\": [0-9.e-]*,"
json="$json \"primal_reached\": [0-9.e-]*, \"dual_reached\": [0-9.e-]*, \"certificate\": null,"
json="$json \"seconds\": [0-9.]*, \"read_seconds\": [0-9.]*}\$"
exits 0 "$models/transport.mps" --backend cpu --json && has "$json" out && [ "$(wc -l <out)" -eq 1 ] && [ ! -s err ]
result "one line of JSON" $?

exits 1 "$models/shortage.mps" --solution none && [ ! -e none ]
result "no solution is written where there is none" $?

# A terminal gets a line that is overwritten.
if command -v script >/dev/null; then
    script -qec "'$program' plant:100:200:0.1:3" /dev/null >out 2>err </dev/null
    has 'iteration [0-9]*, phase [12], objective' out && grep -q $'\r' out
    result "progress on a terminal" $?
else
    skip "progress on a terminal" "no script"
fi

# ---- Public models ----

data=${GPUOPT_TEST_DATA:-}
if [ -n "$data" ] && [ -r "$data/lp_cases/index.csv" ]; then
    while IFS=, read -r name status objective _; do
        cp "$data/lp_cases/$name.mps" model.mps
        for method in tableau revised; do
            if [ "$status" = optimal ]; then
                optimal "$objective" 1e-7 model.mps --method $method --solution solution && satisfies model.mps 1e-7
            else
                proven "$status" model.mps --method $method
            fi
            result "lp_cases/$name, $method" $?
        done
    done < <(tail -n +2 "$data/lp_cases/index.csv")
else
    skip "lp_cases" "GPUOPT_TEST_DATA names no folder with them"
fi

# known FOLDER: prints name and objective of the folder's models, "infeasible" where they are.
known() {
    awk -F, 'NR == 1 { for (k = 1; k <= NF; k++) if ($k == "objective") at = k; next } { print $1, $at }' \
        "$data/$1/index.csv"
}
for folder in netlib netlib_infeas; do
    if [ -z "$data" ] || [ ! -r "$data/$folder/index.csv" ] || ! command -v xz >/dev/null; then
        skip "$folder" "GPUOPT_TEST_DATA names no folder with it, or no xz"
        continue
    fi
    while read -r name objective; do
        # Those that take a second at most; forplan has spaces in its names.
        case $name in
        afiro | sc50b | kb2 | adlittle | stocfor1 | blend | share2b | lotfi | brandy | israel | e226 | scfxm1) ;;
        etamacro | perold | 25fv47 | pilot4 | degen2 | bnl1 | forplan) ;;
        galenet | itest2 | bgprtr | box1 | ex72a | klein1 | klein2) ;;
        *) continue ;;
        esac
        xz -dc "$data/$folder/$name.mps.xz" >model.mps || continue
        if [ "$objective" = infeasible ]; then
            proven infeasible model.mps
        else
            optimal "$objective" 1e-7 model.mps --solution solution &&
                { [ "$name" = forplan ] || satisfies model.mps 1e-7; }
        fi
        result "$folder/$name" $?
    done < <(known $folder)
done

# ---- Bad input: exit status 2; the file, the line where there is one, what is wrong ----

# broken NAME WHAT SED...: the contract, edited, is refused with WHAT.
broken() {
    local name=$1 what=$2
    shift 2
    sed "$@" "$models/contract.mps" >"$name.mps"
    exits 2 "$name.mps" && has "^$name.mps:.*$what" err && [ ! -s out ]
    result "refused: $name" $?
}
broken unknown_sense '5: OBJSENSE is MAX or MIN' 's/^    MAX/    UP/'
broken sense_with_more '4: OBJSENSE is MAX or MIN' 's/^OBJSENSE/OBJSENSE MAX now/'
broken nan_cost '13: nan is not' 's/^ a profit 3/ a profit nan/'
broken infinite_cost '13: 1e999 is not' 's/^ a profit 3/ a profit 1e999/'
broken repeated_cost '14: the objective has this column twice' 's/^ a mix 1/ a profit 1/'
broken unknown_row '17: no such row' 's/^ c profit -1 balance/ c profit -1 balances/'
broken unknown_column 'no such column' 's/^ UP bnd d 6/ UP bnd z 6/'
broken unknown_section 'OBJBOUND' 's/^RANGES/OBJBOUND/'
broken range_of_the_objective 'or a range' 's/^ rng balance -3/ rng profit -3/'
broken infinite_equation '22: no number can be between the sides of this row: <balance' 's/^ rhs mix -2 balance 1/&e999/'
broken infinite_with_range '25: no number can be between the sides of this row: <capacity' 's/ capacity 8$/ capacity 1e30/'
broken zero_byte '13: the line has a control character' 's/^ a profit 3/ a profit \x003/'
broken control_character '13: the line has a control character' 's/^ a profit 3/ a profit \x1c3/'
broken missing_number '16: balance_sheet is not a finite number' 's/^ b mix -1 debt -1/ b balance_sheet/'
broken no_end 'ENDATA' '/^ENDATA/d'
broken empty 'empty' 'd'

exits 2 missing.mps && has '^missing.mps: cannot be opened' err
result "refused: no such file" $?
for name in shah:0:1 shah:10 shah:10:x shah:10:1:1 shah:-5:1 shah:1.5:1 meyer:10:10:1 meyer:10:10:0:1 meyer:10:0:0.5:1 \
    plant:10:10:1.5:1 plant:10:10:x:1 plant:10:10:0.5: shah: gen:unknown,3; do
    exits 2 "$name" && has "^$name: no such" err
    result "refused: $name" $?
done
exits 2 shah:2000000000:1 && has '^shah:2000000000:1: out of memory' err
result "refused: a model that does not fit" $?
exits 2 && has '^usage' err
result "refused: no model" $?
exits 2 shah:5:1 shah:6:1 && has 'two models' err
result "refused: two models" $?
for bad in "--iterations 0" "--iterations x" "--threads -1" "--backend gpu" "--method simplex" "--algorithm both" "--pricing best" \
    "--ratio exact" "--technique 0" "--technique 257" "--technique never" "--unknown" "--solution"; do
    # shellcheck disable=SC2086 # an option and its value
    exits 2 shah:5:1 $bad && has '^usage' err
    result "refused: $bad" $?
done
exits 2 shah:5:1 --solution "$work/no/such/folder" && has 'no/such/folder' err
result "refused: a solution that cannot be written" $?

summary
