#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Which module includes which. A module is a folder of gpuopt_impl or cuda; the files directly in these two connect the
# modules.
# Usage: rooms.sh                    draws the modules: doc/rooms.dot and, from it, doc/rooms.svg (needs Graphviz)
#        rooms.sh --dot [ROOT]       the picture's source on standard output
#        rooms.sh --includes [ROOT]  a line for each include of one of the library's files by another: both paths
set -eu
# Prints the comment above.
help() { awk 'NR > 3 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "${BASH_SOURCE[0]}"; }

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
root=${2:-$here}

# The files in a fixed order, wherever the checkout is.
sources() { (cd "$root" && find gpuopt.h gpuopt/ gpuopt_impl cuda -type f -name '*.[ch]*' | LC_ALL=C sort); }

includes() {
    # shellcheck disable=SC2016 # awk, not the shell
    sources | (cd "$root" && xargs awk '
        # A path without "." and "..".
        function plain(path, part, kept, n, k, i) {
            n = split(path, part, "/")
            k = 0
            for (i = 1; i <= n; i++) {
                if (part[i] == "..") k--
                else if (part[i] != ".") kept[++k] = part[i]
            }
            path = kept[1]
            for (i = 2; i <= k; i++) path = path "/" kept[i]
            return path
        }
        /^[ \t]*#[ \t]*include[ \t]*"/ {
            split($0, quoted, "\"")
            folder = FILENAME
            if (!sub(/\/[^\/]*$/, "", folder)) folder = "."
            print FILENAME, plain(folder "/" quoted[2])
        }')
}

# The modules as boxes, an arrow from each module to the modules it includes. The public header includes the
# implementation only on demand; that arrow is left out.
dot_source() {
    includes | awk '
        function room(path, part, n) {
            n = split(path, part, "/")
            if (path ~ /^gpuopt\//) return "gpuopt/"
            return n > 2 ? part[1] "/" part[2] : path ~ /^cuda\// ? "cuda/gpuopt_cuda.cu" : n == 2 ? "gpuopt_impl/all.h" : path
        }
        $1 == "gpuopt.h" { next }
        { from = room($1); to = room($2) }
        { print "room", from; print "room", to }
        from != to { print "arrow", from, to }' | LC_ALL=C sort -u | awk '
        function name(room) { if (room != "gpuopt/") sub(/^.*\//, "", room); return room }
        BEGIN {
            print "// Made by tools/rooms.sh from the include lines of gpuopt_impl and cuda."
            print "digraph rooms {"
            print "    rankdir=BT; nodesep=0.3; ranksep=0.55; pad=0.2; bgcolor=white"
            print "    fontname=\"Helvetica,Arial,sans-serif\"; fontsize=13"
            print "    node [shape=box, style=\"rounded,filled\", fontname=\"Helvetica,Arial,sans-serif\", fontsize=12, height=0.35]"
            print "    edge [arrowsize=0.6]"
        }
        $1 == "room" {
            kind = $2 ~ /^cuda/ ? "cuda" : $2 ~ /^gpuopt_impl/ ? "impl" : "public"
            line = sprintf("\"%s\" [label=\"%s\", class=\"%s\"]", $2, name($2), kind)
            box[kind] = box[kind] (kind == "public" ? "    " : "        ") line "\n"
        }
        $1 == "arrow" {
            kind = $2 ~ /^cuda/ ? "cuda" : "impl"
            arrows = arrows sprintf("    \"%s\" -> \"%s\" [class=\"%s\"]\n", $2, $3, kind)
        }
        END {
            printf "    subgraph cluster_impl {\n        label=\"gpuopt_impl\"; class=impl\n%s    }\n", box["impl"]
            printf "    subgraph cluster_cuda {\n        label=\"cuda\"; class=cuda\n%s    }\n", box["cuda"]
            printf "%s%s}\n", box["public"], arrows
        }'
}

# Colours go by class, so that they can follow the reader's light or dark mode; Graphviz's own comments are left out.
styled() {
    sed -E '/^<!--.*-->$/d; /^<!--/,/-->$/d; /<title>/d; s/ (fill|stroke)="(black|white|lightgrey|transparent)"//g' | awk '
        { print }
        /viewBox/ {
            print "<style>"
            print "polygon, path { fill: none; stroke: #5a6270; } text { fill: #1c2330; }"
            print ".graph > polygon { fill: #ffffff; stroke: none; } .cluster > polygon { stroke: #c3c9d3; fill: #f6f7f9; }"
            print ".node > path { stroke: #5a6270; } .edge > polygon { fill: #5a6270; }"
            print ".public > path { fill: #ffe8b8; } .node.impl > path { fill: #d3e6fb; } .node.cuda > path { fill: #d5efd0; }"
            print "@media (prefers-color-scheme: dark) {"
            print "polygon, path { stroke: #9aa4b5; } text { fill: #e8ecf3; } .edge > polygon { fill: #9aa4b5; }"
            print ".graph > polygon { fill: #14181f; } .cluster > polygon { stroke: #3a4352; fill: #1b212a; }"
            print ".node > path { stroke: #9aa4b5; } .public > path { fill: #5c4a17; }"
            print ".node.impl > path { fill: #1d4468; } .node.cuda > path { fill: #27502a; }"
            print "}"
            print "</style>"
        }'
}

case ${1:-} in
-h | --help) help ;;
--includes) includes ;;
--dot) dot_source ;;
'')
    dot_source >"$here/doc/rooms.dot"
    dot -Tsvg "$here/doc/rooms.dot" | styled >"$here/doc/rooms.svg"
    ;;
*)
    echo "rooms.sh: there is no option $1; see --help" >&2
    exit 2
    ;;
esac
