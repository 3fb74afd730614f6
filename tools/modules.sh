#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Shows which modules include which. A module is a folder of gpuopt_impl or cuda. The files directly in these two
# folders connect the modules. A family with a table tests/frame/modules/FAMILY.txt has modules of its own: its folders,
# and each file directly in it.
# Usage: modules.sh                         draws the modules: writes doc/modules.dot and, with Graphviz,
#                                           doc/modules.svg; for each such family also doc/modules_FAMILY.*
#        modules.sh --dot [ROOT [FAMILY]]   the source of a picture on standard output
#        modules.sh --includes [ROOT]       a line for each include of a library file by another: both paths
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

# The modules as boxes, with an arrow from each module to the modules that it includes. The public header includes the
# implementation only on demand, so that arrow is left out. dot_source FAMILY: the modules of this family; those of its
# folder of cuda only with a table.
dot_source() {
    local family=${1:-} split=''
    [ ! -e "$root/tests/frame/modules/${family}_cuda.txt" ] || split=1
    includes | awk -v family="$family" -v split_cuda="$split" '
        function module(path, part, n) {
            n = split(path, part, "/")
            if (family != "" && (part[2] != family || n < 3)) return ""
            if (family != "" && part[1] == "cuda" && !split_cuda) return "cuda/" family
            if (family != "") return part[1] "/" family "/" part[3]
            if (path ~ /^gpuopt\//) return "gpuopt/"
            return n > 2 ? part[1] "/" part[2] : path ~ /^cuda\// ? "cuda/gpuopt_cuda.cu" : n == 2 ? "gpuopt_impl/all.h" : path
        }
        $1 == "gpuopt.h" { next }
        { from = module($1); to = module($2) }
        from != "" { print "module", from }
        to != "" { print "module", to }
        from != to && from != "" && to != "" { print "arrow", from, to }' | LC_ALL=C sort -u | awk -v family="$family" '
        function name(module) { if (module != "gpuopt/") sub(/^.*\//, "", module); return module }
        BEGIN {
            print "// Made by tools/modules.sh from the include lines of gpuopt_impl and cuda."
            print "digraph modules {"
            print "    rankdir=BT; nodesep=0.3; ranksep=0.55; pad=0.2; bgcolor=white"
            print "    fontname=\"Helvetica,Arial,sans-serif\"; fontsize=13"
            print "    node [shape=box, style=\"rounded,filled\", fontname=\"Helvetica,Arial,sans-serif\", fontsize=12, height=0.35]"
            print "    edge [arrowsize=0.6]"
        }
        $1 == "module" {
            kind = $2 ~ /^cuda/ ? "cuda" : $2 ~ /^gpuopt_impl/ ? "impl" : "public"
            line = sprintf("\"%s\" [label=\"%s\", class=\"%s\"]", $2, name($2), kind)
            box[kind] = box[kind] (kind == "public" ? "    " : "        ") line "\n"
        }
        $1 == "arrow" {
            kind = $2 ~ /^cuda/ ? "cuda" : "impl"
            arrows = arrows sprintf("    \"%s\" -> \"%s\" [class=\"%s\"]\n", $2, $3, kind)
        }
        END {
            within = family == "" ? "" : "/" family
            cluster = "    subgraph cluster_%s {\n        label=\"%s\"; class=%s\n%s    }\n"
            printf cluster, "impl", "gpuopt_impl" within, "impl", box["impl"]
            printf cluster, "cuda", "cuda" within, "cuda", box["cuda"]
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

# draw NAME [FAMILY]: doc/NAME.dot and doc/NAME.svg
draw() {
    dot_source "${2:-}" >"$here/doc/$1.dot"
    dot -Tsvg "$here/doc/$1.dot" | styled >"$here/doc/$1.svg"
}
draw_all() {
    local table
    draw modules
    for table in "$here"/tests/frame/modules/*.txt; do
        table=$(basename "$table" .txt)
        [[ $table == *_cuda ]] || draw "modules_$table" "$table"
    done
}

case ${1:-} in
-h | --help) help ;;
--includes) includes ;;
--dot) dot_source "${3:-}" ;;
'') draw_all ;;
*)
    echo "modules.sh: there is no option $1; see --help" >&2
    exit 2
    ;;
esac
