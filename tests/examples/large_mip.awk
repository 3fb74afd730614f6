# SPDX-License-Identifier: MIT
#
# Writes a random integer program with large numbers, in which a unit decides beside 10^8 to 10^12, to `file`, and prints
# what enumeration finds of it: "optimum V" or "infeasible". All sums stay below 2^53, so that awk has them exactly.
#     awk -v seed=N -v file=NAME -f large_mip.awk
function draw(n) { state = (state * 16807) % 2147483647; return int(state / 2147483647 * n) } # 0 .. n - 1
function sign() { return draw(2) ? 1 : -1 }
function large(    digits) { digits = 10 ^ (8 + draw(5)); return draw(3) ? int(digits * (1 + draw(1000000)) / 1000000) : digits }
function activity(i, at,    j, sum) { for (j = 0; j < cols; j++) sum += a[i, j] * at[j]; return sum + 0 }
function box(j, low, high) { lower[j] = low; upper[j] = high; point[j] = low + draw(high - low + 1) }

# Rows of any size, whose sides are a unit or so beside a point's activity.
function beside_point(    i, j) {
    cols = 3 + draw(2); rows = 1 + draw(4)
    for (j = 0; j < cols; j++) { box(j, -draw(3), 1 + draw(5)); cost[j] = draw(19) - 9 }
    for (i = 0; i < rows; i++) {
        for (j = 0; j < cols; j++) a[i, j] = draw(4) ? sign() * (draw(3) ? large() + draw(3) - 1 : draw(10)) : 0
        kind[i] = substr("LLGGE", 1 + draw(5), 1)
        side[i] = activity(i, point) + (kind[i] == "E" ? (draw(3) == 0) : draw(5) - 2)
    }
}
# Things whose sizes make up a budget, or just not.
function budget(    i, j) {
    cols = 6 + draw(5); rows = 1 + draw(2)
    for (j = 0; j < cols; j++) { box(j, 0, 1); cost[j] = -1 - draw(4) }
    for (i = 0; i < rows; i++) {
        for (j = 0; j < cols; j++) a[i, j] = large() + draw(2)
        kind[i] = draw(4) ? "L" : "E"; side[i] = activity(i, point) - draw(2)
    }
}
# Pairs that a binary orders one way or the other, with a large number.
function order(    i, j, m) {
    cols = 3 + draw(2); rows = 2 + draw(3); m = 10 ^ (7 + draw(5))
    box(0, 0, 1); cost[0] = draw(9) - 6
    for (j = 1; j < cols; j++) { box(j, 0, 1 + draw(12)); cost[j] = draw(7) - 3 }
    for (i = 0; i < rows; i++) {
        for (j = 0; j < cols; j++) a[i, j] = 0
        a[i, 1 + draw(cols - 1)] += 1; a[i, 1 + draw(cols - 1)] -= 1
        kind[i] = draw(2) ? "L" : "G"
        if (draw(2)) { a[i, 0] = kind[i] == "L" ? m : -m; side[i] = (kind[i] == "L" ? m : -m) + draw(3) - 1 }
        else side[i] = draw(3) - 1
    }
}
# Equations with common divisors, of single rows or of sums of rows, which mostly miss their sides.
function parity(    i, j, d) {
    cols = 4; rows = 2 + draw(2); d = 2 + draw(5)
    for (j = 0; j < cols; j++) { box(j, -draw(4), 1 + draw(6)); cost[j] = draw(9) - 4 }
    for (i = 0; i < rows; i++) {
        for (j = 0; j < cols; j++) a[i, j] = i == 1 ? d * (draw(9) - 4) * (draw(3) ? 1 : 100000000) - a[0, j] : draw(9) - 4
        kind[i] = "E"; side[i] = activity(i, point) + (draw(3) ? 0 : draw(3))
    }
}

# Two columns with many values, and rows with two sides, between which multiples of a divisor may be missing.
function wide(    i, j, d) {
    cols = 2 + draw(2); rows = 1 + draw(3)
    for (j = 0; j < cols; j++) { box(j, 0, cols == 2 ? 50 + draw(150) : 10 + draw(20)); cost[j] = draw(9) - 4 }
    for (i = 0; i < rows; i++) {
        d = draw(2) ? 1 : 2 + draw(8)
        for (j = 0; j < cols; j++) a[i, j] = d * sign() * (draw(2) ? large() : 1 + draw(30))
        kind[i] = "G"; side[i] = activity(i, point) + draw(9) - 4; range[i] = draw(2) ? draw(5) : draw(1000)
    }
}

function write(    i, j) {
    print "NAME large FREE\nROWS\n N cost" >file
    for (i = 0; i < rows; i++) print " " kind[i] " r" i >file
    print "COLUMNS\n M1 'MARKER' 'INTORG'" >file
    for (j = 0; j < cols; j++) {
        print " x" j " cost " cost[j] >file
        for (i = 0; i < rows; i++) if (a[i, j] != 0) printf " x%d r%d %.0f\n", j, i, a[i, j] >file
    }
    print " M2 'MARKER' 'INTEND'\nRHS" >file
    for (i = 0; i < rows; i++) printf " rhs r%d %.0f\n", i, side[i] >file
    print "RANGES" >file
    for (i = 0; i < rows; i++) if (i in range) printf " rng r%d %.0f\n", i, range[i] >file
    print "BOUNDS" >file
    for (j = 0; j < cols; j++) print " LO b x" j " " lower[j] "\n UP b x" j " " upper[j] >file
    print "ENDATA" >file
    close(file)
}

function solve(    i, j, at, ok, value, sum, best) {
    best = "none"
    for (j = 0; j < cols; j++) at[j] = lower[j]
    for (;;) {
        ok = 1; value = 0
        for (i = 0; i < rows && ok; i++) {
            sum = activity(i, at)
            ok = !(i in range && sum > side[i] + range[i]) && (kind[i] == "G" || sum <= side[i]) && (kind[i] == "L" || sum >= side[i])
        }
        for (j = 0; j < cols; j++) value += cost[j] * at[j]
        if (ok && (best == "none" || value < best)) best = value
        for (j = 0; j < cols; j++) {
            if (++at[j] <= upper[j]) break
            at[j] = lower[j]
        }
        if (j == cols) return best
    }
}

BEGIN {
    state = 12345 + 7919 * seed
    for (warm = 0; warm < 9; warm++) draw(2)
    if (seed % 5 == 0) beside_point()
    else if (seed % 5 == 1) budget()
    else if (seed % 5 == 2) order()
    else if (seed % 5 == 3) parity()
    else wide()
    write()
    best = solve()
    print best == "none" ? "infeasible" : "optimum " best
}
