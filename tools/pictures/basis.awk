# SPDX-License-Identifier: MIT
#
# The picture of doc/basis.md shows FTRAN of the entering column, the update that it leads to, and FTRAN and BTRAN with
# the new inverse. It reads the vectors from the arrays of the program.
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
        if (of == "B'^-1") new[i, j] = $(NF - 3 + j)
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
}
