# SPDX-License-Identifier: MIT
#
# Writes a random integer program with ten binaries and an integer to `file`, and prints what enumeration finds of it: "optimum V" or
# "infeasible"; then what probing finds, as probe_mps counts it. There a side of a row implies for its columns the range
# of the values that they take in the points of the box which satisfy that side; with integers in small boxes bound
# propagation must find the same.
#     awk -v seed=N -v file=NAME -f small_mip.awk
function draw(n) { state = (state * 16807) % 2147483647; return int(state / 2147483647 * n) } # 0 .. n - 1

function make(    i, k, j, activity, slack) {
    cols = 11; rows = 7 + draw(6)
    for (j = 0; j < cols; j++) { lower[j] = 0; upper[j] = 1; cost[j] = draw(19) - 9; point[j] = draw(2) }
    lower[10] = -2; upper[10] = 3; point[10] = draw(6) - 2
    for (i = 0; i < rows; i++) {
        count[i] = 3 + draw(3); activity = 0
        for (k = 0; k < count[i]; k++) {
            do { j = draw(cols) } while ((i, j) in used)
            used[i, j] = 1; col[i, k] = j; val[i, k] = (1 + draw(5)) * (draw(3) ? 1 : -1)
            activity += val[i, k] * point[j]
        }
        kind[i] = substr("LLLLGGGE", 1 + draw(8), 1)
        slack = draw(7) - (draw(9) == 0) # below 0 the point is cut off
        side[i] = activity + (kind[i] == "L") * slack - (kind[i] == "G") * slack
    }
}

function write(    i, j, k) {
    print "NAME small FREE\nROWS\n N cost" >file
    for (i = 0; i < rows; i++) print " " kind[i] " r" i >file
    print "COLUMNS\n M1 'MARKER' 'INTORG'" >file
    for (j = 0; j < cols; j++) {
        print " x" j " cost " cost[j] >file
        for (i = 0; i < rows; i++)
            for (k = 0; k < count[i]; k++) if (col[i, k] == j) print " x" j " r" i " " val[i, k] >file
    }
    print " M2 'MARKER' 'INTEND'\nRHS" >file
    for (i = 0; i < rows; i++) print " rhs r" i " " side[i] >file
    print "BOUNDS" >file
    for (j = 0; j < cols; j++) print " LO b x" j " " lower[j] "\n UP b x" j " " upper[j] >file
    print "ENDATA" >file
    close(file)
}

function holds(i, which, activity) { return which == "L" ? activity <= side[i] : activity >= side[i] }

# All points.
function solve(    n, rest, j, i, k, ok, value, activity, best) {
    best = "none"
    for (n = 0; n < 6 * 2 ^ 10; n++) {
        rest = n
        for (j = 0; j < 10; j++) { x[j] = rest % 2; rest = int(rest / 2) }
        x[10] = rest - 2; ok = 1; value = 0
        for (i = 0; i < rows && ok; i++) {
            activity = 0
            for (k = 0; k < count[i]; k++) activity += val[i, k] * x[col[i, k]]
            ok = (kind[i] == "G" || holds(i, "L", activity)) && (kind[i] == "L" || holds(i, "G", activity))
        }
        for (j = 0; j < cols; j++) value += cost[j] * x[j]
        if (ok && (best == "none" || value < best)) best = value
    }
    return best
}

# The ranges that a side of row i leaves to its columns in the box lb, ub. Returns 0 if it leaves nothing.
function restrict(i, which,    k, j, activity, any, first, last, at) {
    for (k = 0; k < count[i]; k++) { at[k] = lb[col[i, k]]; first[k] = 99; last[k] = -99 }
    for (;;) {
        activity = 0
        for (k = 0; k < count[i]; k++) activity += val[i, k] * at[k]
        if (holds(i, which, activity)) {
            any = 1
            for (k = 0; k < count[i]; k++) {
                if (at[k] < first[k]) first[k] = at[k]
                if (at[k] > last[k]) last[k] = at[k]
            }
        }
        for (k = 0; k < count[i]; k++) {
            if (++at[k] <= ub[col[i, k]]) break
            at[k] = lb[col[i, k]]
        }
        if (k == count[i]) break
    }
    if (!any) return 0
    for (k = 0; k < count[i]; k++) {
        j = col[i, k]
        if (first[k] > lb[j] || last[k] < ub[j]) moved = 1
        lb[j] = first[k]; ub[j] = last[k]
    }
    return 1
}

# To the fixpoint. Returns 0 if there is no solution.
function propagate(    i) {
    do {
        moved = 0
        for (i = 0; i < rows; i++) {
            if (kind[i] != "G" && !restrict(i, "L")) return 0
            if (kind[i] != "L" && !restrict(i, "G")) return 0
        }
    } while (moved)
    return 1
}

# Sets x_j = v at the root and propagates; value[k, v] of the binaries that this fixes, range of all columns.
function probe(j, v,    k) {
    for (k = 0; k < cols; k++) { lb[k] = root_lb[k]; ub[k] = root_ub[k]; delete value[k, v] }
    lb[j] = ub[j] = v
    feasible[v] = propagate()
    for (k = 0; k < cols; k++) {
        low[k, v] = lb[k]; high[k, v] = ub[k]
        if (feasible[v] && k != j && binary[k] && lb[k] == ub[k]) value[k, v] = lb[k]
    }
}

# What the feasible probes of x_j leave to column k, in all that has been probed: hold_lb, hold_ub.
function hold(k,    v, first, last) {
    first = 99; last = -99
    for (v = 0; v < 2; v++) {
        if (!feasible[v]) continue
        if (low[k, v] < first) first = low[k, v]
        if (high[k, v] > last) last = high[k, v]
    }
    if (first > hold_lb[k]) hold_lb[k] = first
    if (last < hold_ub[k]) hold_ub[k] = last
}

function print_probing(    j, k, v, binaries, infeasible, implications, equivalences, fixings, hopeless) {
    for (j = 0; j < cols; j++) { lb[j] = lower[j]; ub[j] = upper[j] }
    if (!propagate()) { print "exit 1 binaries 0 probes 0 infeasible 0 fixings 0 implications 0 equivalences 0"; return }
    for (j = 0; j < cols; j++) {
        root_lb[j] = hold_lb[j] = lb[j]; root_ub[j] = hold_ub[j] = ub[j]
        binary[j] = lb[j] == 0 && ub[j] == 1; binaries += binary[j]
    }
    for (j = 0; j < cols; j++) {
        if (!binary[j]) continue
        probe(j, 0); probe(j, 1)
        infeasible += !feasible[0] + !feasible[1]
        if (!feasible[0] && !feasible[1]) { hopeless = 1; continue }
        for (k = 0; k < cols; k++) {
            hold(k)
            for (v = 0; v < 2; v++) if ((k, v) in value) implications++
            if (((k, 0) in value) && ((k, 1) in value) && value[k, 0] != value[k, 1]) equivalences++
        }
    }
    for (j = 0; j < cols; j++) {
        if (hold_lb[j] > hold_ub[j]) hopeless = 1
        if (binary[j] && hold_lb[j] >= hold_ub[j]) fixings++
    }
    printf "exit %d binaries %d probes %d infeasible %d fixings %d implications %d equivalences %d\n", hopeless, binaries,
           2 * binaries, infeasible, fixings, implications, equivalences
}

BEGIN {
    state = 12345 + 7919 * seed
    for (warm = 0; warm < 9; warm++) draw(2)
    make(); write()
    best = solve()
    print best == "none" ? "infeasible" : "optimum " best
    print_probing()
}
