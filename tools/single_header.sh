#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The library as two files: dist/gpuopt.h, which holds the layers of gpuopt/ after the core, unless GPUOPT_CORE is
# defined, and the CPU implementation under GPUOPT_IMPLEMENTATION; and
# dist/gpuopt_cuda.cu, which needs nothing of gpuopt but this header beside it.
# Usage: single_header.sh [FOLDER]   the folder is made if need be; default: dist
#
# Each include of one of the library's files is replaced by that file: once if it has an include guard, each time if it
# is a template. Comments, not #line, say where the text is from: a caller has only these two files, in which its
# debugger must find the lines.
set -eu
# Prints the comment above.
help() { awk 'NR > 3 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "${BASH_SOURCE[0]}"; }
case ${1-} in
-h | --help) help && exit ;;
-*) echo "single_header.sh: there is no option $1; see --help" >&2 && exit 2 ;;
esac

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
to=${1:-$root/dist}
mkdir -p "$to"
to=$(cd "$to" && pwd)
cd "$root"

version=$(tools/version.sh)
IFS=. read -r major minor patch <<<"$version"
number=$((major * 10000 + minor * 100 + patch)) # GPUOPT_VERSION_NUMBER
copyright=$(grep -m 1 '^Copyright' LICENSE)

# expand FILE...: prints them with their includes replaced. The public header stays an include in all files but itself.
expand() {
    awk -v main="$1" -v files="$*" -v layers="$(echo gpuopt/*.h)" -v number="$number" '
        function plain(path, part, kept, n, k, i) { # without "." and ".."
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
        function fail(text) {
            print "single_header.sh: " text > "/dev/stderr"
            failed = 1
            exit 1
        }
        # All lines of a file, in text[file, 1 ..]; the licence is printed once, at the top.
        function load(file, line, n, opened) {
            if (file in length_of) return
            while ((getline line < file) > 0) {
                if (line == "/* SPDX-License-Identifier: MIT */") continue
                if (line == "/* SPDX-License-Identifier: MIT") { opened = 1; continue }
                if (opened && line == " *") continue
                if (opened) { sub(/^ \* /, "/* ", line); opened = 0 }
                text[file, ++n] = line
                if (n > 1 && line ~ /^#define / && text[file, n - 1] == "#ifndef " substr(line, 9)) guarded[file] = 1
            }
            close(file)
            length_of[file] = n
            if (n == 0) fail(file " is empty, or not there")
        }
        function module_of(file, part) { split(file, part, "/"); return part[1] "/" part[2] }
        function mark(file) { if (file != marked) printf "/* ---- %s ---- */\n", file; marked = file }
        function expand(file, folder, quoted, included, depth, i, k) {
            load(file)
            done[file] = 1
            folder = file
            if (!sub(/\/[^\/]*$/, "", folder)) folder = "."
            for (i = 1; i <= length_of[file]; i++) {
                if (text[file, i] ~ /^[ \t]*#[ \t]*if/) depth++
                if (text[file, i] ~ /^[ \t]*#[ \t]*endif/) depth--
                if (file == "gpuopt.h" && text[file, i] == "#ifdef GPUOPT_IMPLEMENTATION") {
                    print "#if !defined(GPUOPT_CORE) || defined(GPUOPT_IMPLEMENTATION)"
                    for (k = 1; k <= layers; k++) expand(layer[k])
                    print "#endif /* GPUOPT_CORE */\n"
                    marked = ""
                }
                if (text[file, i] !~ /^[ \t]*#[ \t]*include[ \t]*"/) {
                    if (text[file, i] != "") mark(file)
                    print text[file, i]
                    continue
                }
                split(text[file, i], quoted, "\"")
                included = plain(folder "/" quoted[2])
                load(included)
                # What is included on a condition may be missing where it is included next. all.h includes a family so:
                # only the files of its module, what is shared having come before.
                if (depth != (file in guarded) && file !~ /^gpuopt(\.h|_impl\/all\.h|_impl\/backend_cpu\.h)$/)
                    fail(file " includes " included " on a condition")
                if (depth != (file in guarded) && file ~ /all\.h$/) within = module_of(included)
                if (within != "" && module_of(included) != within && !done[included])
                    fail(file " includes " included ", which must come before the families")
                if ((included == "gpuopt.h" || included ~ /^gpuopt\//) && main != "gpuopt.h") {
                    if (done["gpuopt.h"]) continue
                    done["gpuopt.h"] = 1
                    print "#include \"gpuopt.h\""
                    print "#if GPUOPT_VERSION_NUMBER != " number
                    print "#error \"gpuopt.h and gpuopt_cuda.cu are of different versions\""
                    print "#endif"
                } else if (!(done[included] && included in guarded)) expand(included)
                if (file ~ /all\.h$/) within = ""
            }
        }
        BEGIN {
            marked = main
            layers = split(layers, layer, " ")
            count = split(files, each, " ")
            for (k = 1; k <= count; k++) expand(each[k])
        }
        END { exit failed }' | cat -s
}

# write "FILE..." NAME LINE...: the file NAME, which holds these files with all they include.
write() {
    {
        echo "/* gpuopt $version: $3"
        echo " * SPDX-License-Identifier: MIT"
        echo " * $copyright; the whole licence stands at the end of this file."
        echo " *"
        printf ' * %s\n' "${@:4}" "Made by tools/single_header.sh; edit the files that are named between the parts."
        echo " */"
        # shellcheck disable=SC2086 # several files
        expand $1
        printf '\n/*\n'
        sed 's/^/ * /; s/ *$//' LICENSE
        echo " */"
    } >"$to/$2.new"
    mv "$to/$2.new" "$to/$2"
}

set -o pipefail
write gpuopt.h gpuopt.h "header and CPU implementation in one file" \
    "Include it wherever it is used. In one C11 or C++17 file, define GPUOPT_IMPLEMENTATION before. Link with -lm."
write "$(echo cuda/gpuopt_cuda.cu cuda/*/*.cu)" gpuopt_cuda.cu "the CUDA backend in one file" \
    "Needs gpuopt.h of the same version beside it. Compile it with nvcc -c and link it with the host."
