# SPDX-License-Identifier: MIT
#
# Writes a random mixed-integer program to `file`: binaries, general integers, continuous columns, some without bounds;
# rows of all kinds with ranges; a minimum or a maximum. Most have solutions, and some are unbounded.
#     awk -v seed=N -v file=NAME -f mixed_mip.awk
function draw(n) { state = (state * 16807) % 2147483647; return int(state / 2147483647 * n) } # 0 .. n - 1

BEGIN {
    state = 4711 + 104729 * seed
    for (warm = 0; warm < 9; warm++) draw(2)
    cols = 4 + draw(8); rows = 2 + draw(7)
    for (j = 0; j < cols; j++) {
        kind[j] = draw(3) # 0: binary, 1: integer, 2: continuous
        point[j] = kind[j] == 0 ? draw(2) : draw(9) - 4
    }
    print "NAME mixed FREE" >file
    if (draw(2)) print "OBJSENSE\n MAX" >file
    print "ROWS\n N cost" >file
    for (i = 0; i < rows; i++) { type[i] = substr("LLGGE", 1 + draw(5), 1); print " " type[i] " r" i >file }
    print "COLUMNS" >file
    for (j = 0; j < cols; j++) {
        if (kind[j] < 2) print " M" j " 'MARKER' 'INTORG'" >file
        print " x" j " cost " draw(19) - 9 >file
        for (i = 0; i < rows; i++) {
            a = draw(3) ? (draw(4) ? draw(13) - 6 : (draw(199) - 99) / 8) : 0
            if (a) print " x" j " r" i " " a >file
            activity[i] += a * point[j]
        }
        if (kind[j] < 2) print " N" j " 'MARKER' 'INTEND'" >file
    }
    print "RHS\n rhs cost " draw(9) >file
    for (i = 0; i < rows; i++) {
        slack = draw(6) - (draw(12) == 0) * 9 # below 0 the point is cut off
        print " rhs r" i " " (activity[i] + (type[i] == "L" ? slack : type[i] == "G" ? -slack : (draw(9) == 0) / 2)) >file
    }
    print "RANGES" >file
    for (i = 0; i < rows; i++) if (draw(3) == 0 && type[i] != "E") print " rng r" i " " (6 + draw(9)) >file
    print "BOUNDS" >file
    for (j = 0; j < cols; j++) {
        if (kind[j] == 0) print " BV b x" j >file
        else if (kind[j] == 1 || draw(3)) print " LO b x" j " " (-4 - draw(3)) "\n UP b x" j " " (4 + draw(3)) >file
        else if (draw(2)) print " LO b x" j " -4" >file
        else print " FR b x" j >file
    }
    print "ENDATA" >file
    close(file)
}
