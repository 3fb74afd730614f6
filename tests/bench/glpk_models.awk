# SPDX-License-Identifier: MIT
#
# Writes a mixed-integer program of some well-known kind, as an MPS file:
#     awk -v kind=cover|knapsack|assignment|location|lotsizing -v seed=N -f glpk_models.awk
function draw(n) { state = (state * 16807) % 2147483647; return int(state / 2147483647 * n) } # 0 .. n - 1

function row(name, type, side) { types[++rows] = type; names[rows] = name; sides[name] = side }
function column(name, cost, integer, ub) { cols++; col[cols] = name; costs[name] = cost; is_integer[name] = integer; ubs[name] = ub }
function entry(c, r, v) { entries[c] = entries[c] " " c " " r " " v "\n" }

function cover(    i, j) { # 120 rows, 160 columns
    for (i = 1; i <= 120; i++) row("r" i, "G", 1)
    for (j = 1; j <= 160; j++) {
        column("x" j, 20 + draw(80), 1, 1)
        for (i = 1; i <= 120; i++) if (draw(16) == 0 || i == 1 + j % 120) entry("x" j, "r" i, 1)
    }
}

function knapsack(    i, j, w, total) { # 5 rows, 40 columns
    for (j = 1; j <= 40; j++) column("x" j, 0, 1, 1)
    for (i = 1; i <= 5; i++) {
        total = 0
        for (j = 1; j <= 40; j++) { w = 10 + draw(90); total += w; costs["x" j] -= w / 5; entry("x" j, "r" i, w) }
        row("r" i, "L", int(total / 2))
    }
    for (j = 1; j <= 40; j++) costs["x" j] = int(costs["x" j]) - draw(25)
}

function assignment(    i, j, w) { # 40 jobs, 8 agents
    for (j = 1; j <= 40; j++) row("job" j, "E", 1)
    for (i = 1; i <= 8; i++) {
        row("agent" i, "L", 62)
        for (j = 1; j <= 40; j++) {
            w = 5 + draw(20)
            column("x" i "_" j, 10 + draw(40), 1, 1)
            entry("x" i "_" j, "job" j, 1)
            entry("x" i "_" j, "agent" i, w)
        }
    }
}

function location(    i, j) { # 12 sites, 30 customers
    for (j = 1; j <= 30; j++) row("customer" j, "E", 1)
    for (i = 1; i <= 12; i++) {
        column("open" i, 150 + draw(200), 1, 1)
        row("capacity" i, "L", 0)
        entry("open" i, "capacity" i, -120)
        for (j = 1; j <= 30; j++) {
            row("link" i "_" j, "L", 0)
            column("serve" i "_" j, 5 + draw(60), 0, 1)
            entry("serve" i "_" j, "customer" j, 1)
            entry("serve" i "_" j, "capacity" i, 5 + j % 20)
            entry("serve" i "_" j, "link" i "_" j, 1)
            entry("open" i, "link" i "_" j, -1)
        }
    }
}

function lotsizing(    i, t) { # 3 products, 10 periods
    for (t = 1; t <= 10; t++) row("capacity" t, "L", 150)
    for (i = 1; i <= 3; i++)
        for (t = 1; t <= 10; t++) {
            row("demand" i "_" t, "E", 10 + draw(30))
            row("setup" i "_" t, "L", 0)
            column("make" i "_" t, 1 + draw(4), 0, 90)
            column("stock" i "_" t, 1, 0, 60)
            column("run" i "_" t, 40 + draw(60), 1, 1)
            entry("make" i "_" t, "demand" i "_" t, 1)
            entry("make" i "_" t, "setup" i "_" t, 1)
            entry("make" i "_" t, "capacity" t, 1)
            entry("run" i "_" t, "setup" i "_" t, -90)
            entry("run" i "_" t, "capacity" t, 8)
            entry("stock" i "_" t, "demand" i "_" t, -1)
            if (t < 10) entry("stock" i "_" t, "demand" i "_" (t + 1), 1)
        }
}

BEGIN {
    state = 4321 + 7919 * seed
    for (k = 0; k < 9; k++) draw(2)
    if (kind == "cover") cover()
    if (kind == "knapsack") knapsack()
    if (kind == "assignment") assignment()
    if (kind == "location") location()
    if (kind == "lotsizing") lotsizing()
    print "NAME " kind " FREE\nROWS\n N cost"
    for (k = 1; k <= rows; k++) print " " types[k] " " names[k]
    print "COLUMNS"
    for (k = 1; k <= cols; k++) {
        if (is_integer[col[k]] != is_integer[col[k - 1]] + 0) print " M" k " 'MARKER' " (is_integer[col[k]] ? "'INTORG'" : "'INTEND'")
        printf " %s cost %d\n%s", col[k], costs[col[k]], entries[col[k]]
    }
    if (is_integer[col[cols]]) print " M 'MARKER' 'INTEND'"
    print "RHS"
    for (k = 1; k <= rows; k++) print " rhs " names[k] " " sides[names[k]]
    print "BOUNDS"
    for (k = 1; k <= cols; k++) print " UP b " col[k] " " ubs[col[k]]
    print "ENDATA"
}
