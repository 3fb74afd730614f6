# SPDX-License-Identifier: MIT
#
# The beginning of the picture `picture`, which an awk program draws from the page.
BEGIN {
    print "// Made by tools/pictures.sh."
    print "digraph " picture " {"
    print "    bgcolor=white; pad=0.15; nodesep=0.35; ranksep=0.3; fontname=\"Helvetica,Arial,sans-serif\""
    print "    node [shape=plain, fontname=\"Helvetica,Arial,sans-serif\", fontsize=12, fontcolor=\"#1c2330\"]"
    printf "    edge [arrowsize=0.7, color=\"#5a6270\", fontname=\"Helvetica,Arial,sans-serif\""
    print ", fontsize=12, fontcolor=\"#1c2330\"]"
}
