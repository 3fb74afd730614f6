# SPDX-License-Identifier: MIT
#
# The picture of doc/propagation.md shows the bounds before and after the first rounds, and between them what each row
# implies. It reads the rows from the comment in the program.
function number(x) { x = sprintf("%.4g", x); sub(/-/, "−", x); return x }
# The values 0 to 10 of each variable: in its bounds, cut off by this round, or cut off before.
function state(r, title, k, v, colour, s) {
    s = "<table border=\"0\" cellborder=\"0\" cellspacing=\"2\" cellpadding=\"0\">"
    s = s "<tr><td colspan=\"13\" align=\"left\" height=\"20\"><b>" title "</b></td></tr>"
    for (k = 1; k <= names; k++) {
        s = s "<tr><td width=\"18\"><i>" name[k] "</i></td>"
        for (v = 0; v <= 10; v++) {
            colour = v < lb[r, k] || v > ub[r, k] ? "#eceef2" : "#4f81bd"
            if (colour == "#eceef2" && r && v >= lb[r - 1, k] && v <= ub[r - 1, k]) colour = "#f0a58a"
            s = s "<td width=\"19\" height=\"17\" fixedsize=\"true\" bgcolor=\"" colour "\">"
            s = s "<font point-size=\"9\" color=\"" (colour == "#eceef2" ? "#a0a7b4" : "#ffffff") "\">" v "</font></td>"
        }
        s = s "<td width=\"58\" align=\"right\">[" lb[r, k] ", " ub[r, k] "]</td></tr>"
    }
    printf "    s%d [label=<%s</table>>]\n", r, s
}
# What row i implies from the bounds after round r - 1.
function row(i, r, k, activity, from, value, s, moved, better, bound) {
    activity = 0
    for (k = 1; k <= names; k++) activity += entry[i, k] * (upper[i] ? lb[r - 1, k] : ub[r - 1, k])
    for (k = 1; k <= names; k++) {
        if (!entry[i, k]) continue
        from = upper[i] ? lb[r - 1, k] : ub[r - 1, k]
        value = from + (side[i] - activity) / entry[i, k]
        bound = upper[i] ? ub[r, k] : lb[r, k]
        better = upper[i] ? value < ub[r - 1, k] : value > lb[r - 1, k]
        s = s "<tr><td align=\"left\">" name[k] (upper[i] ? " ≤ " : " ≥ ") from
        s = s " + (" side[i] " − " activity ") / " entry[i, k] " = " number(value)
        if (better && value != bound) s = s ", rounded to " bound
        s = s (better ? "" : ": no gain") "</td></tr>"
        moved += better
    }
    printf "    r%d_%d [label=<<table border=\"1\" style=\"rounded\" color=\"%s\" bgcolor=\"%s\"", r, i,
        moved ? "#c98a2b" : "#c3c9d3", moved ? "#fff3d9" : "#f6f7f9"
    printf " cellborder=\"0\" cellspacing=\"1\" cellpadding=\"2\">"
    printf "<tr><td align=\"left\"><b>%s</b></td></tr>", text[i]
    printf "<tr><td align=\"left\">%s activity %d</td></tr>", upper[i] ? "least" : "greatest", activity
    printf "%s</table>>]\n", s
    printf "    s%d -> r%d_%d\n", r - 1, r, i
    printf "    r%d_%d -> s%d%s\n", r, i, r, moved ? "" : " [style=dashed, color=\"#c3c9d3\"]"
}
!rows && /\/\* .*<=.*\*\// {
    gsub(/.*\/\* |;.*/, "")
    rows = split($0, text, /, +/)
    for (i = 1; i <= rows; i++) {
        upper[i] = text[i] ~ /<=/
        side[i] = text[i]
        sub(/.*= /, "", side[i])
        sub(/<=/, "≤", text[i])
        sub(/>=/, "≥", text[i])
    }
    next
}
/^round/ {
    r = $2 + 0
    line = $0
    for (names = 0; match(line, /[a-z] in \[[0-9]+, [0-9]+\]/); line = substr(line, RSTART + RLENGTH)) {
        split(substr(line, RSTART, RLENGTH), part, /[][, ]+/)
        name[++names] = part[1]
        lb[r, names] = part[3]
        ub[r, names] = part[4]
    }
}
END {
    for (i = 1; i <= rows; i++)
        for (k = 1; k <= names; k++)
            if (match(text[i], "[0-9]*" name[k])) {
                entry[i, k] = substr(text[i], RSTART, RLENGTH - 1)
                if (entry[i, k] == "") entry[i, k] = 1
            }
    state(0, "before the first round")
    for (r = 1; r <= 2; r++) {
        for (i = 1; i <= rows; i++) row(i, r)
        state(r, "after round " r)
    }
    print "}"
}
