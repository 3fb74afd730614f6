#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Draws one step of a family, for the family's page. All numbers are those that the page's first program prints: they
# come from the page itself, and tests/frame/pages_test.sh compares them with the program's output.
# Usage: steps.sh              draws doc/PAGE_step.dot and, from it, doc/PAGE_step.svg (needs Graphviz)
#        steps.sh --dot PAGE   the picture's source on standard output; PAGE is propagation or basis
set -eu
# Prints the comment above.
help() { awk 'NR > 3 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "${BASH_SOURCE[0]}"; }

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=../tests/support/pages.sh
. "$root/tests/support/pages.sh"

# Both pictures: what stands before their nodes.
head_of() {
    cat <<END
// Made by tools/steps.sh from the output that doc/$1.md shows.
digraph $1 {
    bgcolor=white; pad=0.15; nodesep=0.35; ranksep=0.3; fontname="Helvetica,Arial,sans-serif"
    node [shape=plain, fontname="Helvetica,Arial,sans-serif", fontsize=12, fontcolor="#1c2330"]
    edge [arrowsize=0.7, color="#5a6270", fontname="Helvetica,Arial,sans-serif", fontsize=12, fontcolor="#1c2330"]
END
}

# The bounds before and after the first rounds, and between them what each row implies. The rows are those of the
# comment in the program.
propagation_dot() {
    head_of propagation
    { block c "$1" | grep -o '/\* .*<=.*\*/' && block text "$1"; } | awk -v rounds=2 '
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
        NR == 1 {
            gsub(/^\/\* |;.*/, "")
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
            for (r = 1; r <= rounds; r++) {
                for (i = 1; i <= rows; i++) row(i, r)
                state(r, "after round " r)
            }
            print "}"
        }'
}

# FTRAN of the entering column, the update that it leads to, and FTRAN and BTRAN with the new inverse. The vectors that
# the program passes are those of its arrays.
basis_dot() {
    head_of basis
    { block c "$1" && block text "$1"; } | awk '
        function fraction(x, q, p, sign) {
            sign = x < 0 ? "−" : ""
            if (x < 0) x = -x
            for (q = 1; q < 13; q++) {
                p = int(x * q + 0.5)
                if (p - x * q < 1e-4 && x * q - p < 1e-4) return (p ? sign : "") p (q > 1 ? "/" q : "")
            }
            return sign x
        }
        # A matrix whose row `marked` stands out in this colour.
        function matrix(v, rows, cols, marked, colour, i, j, s) {
            s = "<table border=\"1\" style=\"rounded\" color=\"#5a6270\""
            s = s " cellborder=\"0\" cellspacing=\"2\" cellpadding=\"3\""
            s = s (rows == 1 ? " fixedsize=\"true\" width=\"101\" height=\"25\">" : ">") # else it is stretched
            for (i = 1; i <= rows; i++) {
                s = s "<tr>"
                for (j = 1; j <= cols; j++) {
                    s = s "<td width=\"30\" align=\"center\" bgcolor=\"" (i == marked ? colour : "#ffffff") "\">"
                    s = s fraction(v[i, j]) "</td>"
                }
                s = s "</tr>"
            }
            return s "</table>"
        }
        function cell(s, above) {
            above = "<tr><td><i>" above "</i></td></tr>"
            s = "<tr><td>" s "</td></tr>"
            return "<td><table border=\"0\" cellspacing=\"0\" cellpadding=\"1\">" above s "</table></td>"
        }
        function sign(s) { return "<td><font point-size=\"16\">" s "</font></td>" }
        function node(name, title, colour, content) {
            printf "    %s [label=<<table border=\"1\" style=\"rounded\" color=\"%s\" bgcolor=\"%s\"", name,
                colour == "#fff3d9" ? "#c98a2b" : "#c3c9d3", colour
            printf " cellborder=\"0\" cellspacing=\"2\" cellpadding=\"2\">"
            printf "<tr><td align=\"left\" colspan=\"7\"><b>%s</b></td></tr><tr>%s</tr></table>>]\n", title, content
        }
        function array(name, to, transposed, k, part, n) {
            if (!match($0, name "\\[\\] = \\{[^}]*\\}")) return
            n = split(substr($0, RSTART, RLENGTH), part, /[{},] */)
            for (k = 2; k < n; k++) if (transposed) to[1, k - 1] = part[k]; else to[k - 1, 1] = part[k]
        }
        { array("x_row", x_row); array("x_value", x_value); array("rhs", b); array("cost", c, 1) }
        /gpuopt_basis_update/ { split($0, part, /, /); p = part[3] + 1 }
        NF == 4 && $1 !~ /[;{]/ && /[0-9] +-?[0-9.]+ +-?[0-9.]+$/ { of = $1; i = 0 }
        of != "" && NF >= 3 {
            i++
            for (j = 1; j <= 3; j++) {
                if (of == "B^-1") old[i, j] = $(NF - 3 + j)
                if (of == "alpha") alpha[j, 1] = $(NF - 3 + j)
                if (of == "B\x27^-1") new[i, j] = $(NF - 3 + j)
                if (of == "point") point[j, 1] = $(NF - 3 + j)
                if (of == "duals") duals[1, j] = $(NF - 3 + j)
            }
        }
        END {
            for (i = 1; i <= 3; i++) {
                a[i, 1] = 0
                omega[i, 1] = i == p ? 1 / alpha[p, 1] : -alpha[i, 1] / alpha[p, 1]
                for (j = 1; j <= 3; j++) zeroed[i, j] = i == p ? 0 : old[i, j]
                for (j = 1; j <= 3; j++) row[1, j] = old[p, j]
            }
            for (i = 1; ("" x_row[i, 1]) != ""; i++) a[x_row[i, 1] + 1, 1] = x_value[i, 1]
            mark = "#ffd58a"
            old_row = "row " p " of B⁻¹"
            pivot = fraction(alpha[p, 1])
            before = cell(matrix(old, 3, 3, p, mark), "B⁻¹")
            after = cell(matrix(new, 3, 3), "B′⁻¹")
            node("ftran", "FTRAN of the entering column: α = B⁻¹ a", "#f6f7f9",
                before sign("·") cell(matrix(a, 3, 1), "a") sign("=") cell(matrix(alpha, 3, 1, p, mark), "α"))
            node("update", "update of row " p ": ω = −α / " pivot ", and 1 / " pivot " in row " p, "#fff3d9",
                cell(matrix(zeroed, 3, 3, p, "#eceef2"), old_row " set to 0") sign("+") \
                cell(matrix(omega, 3, 1, p, mark), "ω") sign("·") \
                cell(matrix(row, 1, 3, 1, mark), old_row) sign("=") after)
            node("point", "FTRAN: x = B′⁻¹ b", "#f6f7f9",
                after sign("·") cell(matrix(b, 3, 1), "b") sign("=") cell(matrix(point, 3, 1), "x"))
            node("duals", "BTRAN: y = B′⁻ᵀ c, here as a row", "#f6f7f9",
                cell(matrix(c, 1, 3), "c") sign("·") after sign("=") cell(matrix(duals, 1, 3), "y"))
            print "    ftran -> update\n    update -> point\n    update -> duals\n}"
        }'
}

# The picture, without Graphviz's comments. The last comment names the source; tests/frame/pages_test.sh checks it.
drawn() { # DOT
    dot -Tsvg "$1" | sed '/^<!--.*-->$/d; /^<!--/,/-->$/d' |
        sed "\$i <!-- $(cksum <"$1" | cut -d' ' -f1) is the checksum of $(basename "$1") -->"
}

case ${1:-} in
-h | --help) help ;;
--dot) "${2}_dot" "$root/doc/$2.md" ;;
'')
    for page in propagation basis; do
        "${page}_dot" "$root/doc/$page.md" >"$root/doc/${page}_step.dot"
        drawn "$root/doc/${page}_step.dot" >"$root/doc/${page}_step.svg"
    done
    ;;
*)
    echo "steps.sh: there is no option $1; see --help" >&2
    exit 2
    ;;
esac
