#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# That the stable core, gpuopt.h, is what tests/frame/core_api.txt lists: every function with its prototype, every enum
# constant with its value, the public macros by name, and the layout of every struct on x86-64, with the least
# struct_size that the library accepts. A change of that file is a change of the API, which doc/stability.md allows or
# does not. Also that the core stays small, and that a program which was built against the list runs with the library as
# it is now.
# Usage: core_api_test.sh [--write]
#   --write  rewrites the list and cmake/gpuopt.map.in, and tests nothing
set -u -o pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
work=$(mktemp -d) || exit 1
at_end() { rm -rf "$said" "$work"; }
list=$root/tests/frame/core_api.txt
map=$root/cmake/gpuopt.map.in
most_functions=65
most_lines=1100
export LC_ALL=C # for sort, and for awk to count bytes

# preprocess: the header's declarations alone, without comments and system headers.
preprocess() {
    mkdir -p "$work/empty" && : >"$work/empty/stddef.h" && : >"$work/empty/stdint.h" &&
        gcc -std=c11 -E -P -nostdinc -I"$work/empty" -DGPUOPT_API=extern "$root/gpuopt.h"
}

# parse: reads what preprocess writes, up to each semicolon, and writes lines "kind, name, text" with tabs between: a
# function or a function type with its declaration, a handle, an enum, a constant of it, a struct, a member's type with
# its name. Fails on a declaration of another form.
parse() {
    awk -v RS=';' -v OFS='\t' '
        function fail(text) { print "cannot read: " text >"/dev/stderr"; failed = 1 }
        function trim(text) { gsub(/^ +| +$/, "", text); return text }
        function last_word(text) { match(text, /[A-Za-z_0-9]+$/); return substr(text, RSTART) }
        # The declarator is for example "x", "*x" or "x[7]".
        function member(owner, base, declarator) {
            match(declarator, /[A-Za-z_0-9]+/)
            print "struct", owner, trim(base " " substr(declarator, 1, RSTART - 1) substr(declarator, RSTART + RLENGTH)),
                substr(declarator, RSTART, RLENGTH)
        }
        function members(owner, body,    list, n, i, parts, k, j, base) {
            n = split(body, list, ";")
            for (i = 1; i <= n; i++) {
                if ((body = trim(list[i])) == "") continue
                if (body ~ /[{:]/) { fail(body); continue }
                if (match(body, /\( *\* *[a-z_0-9]+ *\)/)) { # a pointer to a function
                    base = substr(body, RSTART, RLENGTH)
                    gsub(/[(*) ]/, "", base)
                    print "struct", owner, trim(substr(body, 1, RSTART - 1)) " (*)" substr(body, RSTART + RLENGTH), base
                    continue
                }
                k = split(body, parts, ",")
                base = parts[1]
                sub(/[* ]*[A-Za-z_0-9]+ *(\[.*)?$/, "", base)
                parts[1] = substr(parts[1], length(base) + 1)
                for (j = 1; j <= k; j++) member(owner, base, trim(parts[j]))
            }
        }
        { gsub(/[ \t\n]+/, " "); text = text (text == "" ? "" : ";") $0 }
        gsub(/\{/, "{", text) != gsub(/\}/, "}", text) { next } # the semicolon was inside
        {
            whole = trim(text)
            text = ""
            if (whole == "") next
            if (whole ~ /^typedef (enum|struct) [a-z_0-9]+ \{.*\} [a-z_0-9]+$/) {
                body = whole
                sub(/^[^{]*\{/, "", body)
                sub(/\}[^}]*$/, "", body)
                owner = last_word(whole)
                if (whole ~ /^typedef struct/) { print "struct", owner; members(owner, body); next }
                print "enum", owner
                n = split(body, list, ",")
                for (i = 1; i <= n; i++) {
                    sub(/=.*/, "", list[i])
                    if (trim(list[i]) != "") print "enum", owner, trim(list[i])
                }
            } else if (whole ~ /^typedef struct [a-z_0-9]+ [a-z_0-9]+$/) print "handle", last_word(whole)
            else if (whole ~ /^typedef [^(]*\( ?\* ?[a-z_0-9]+ ?\) ?\([^()]*\)$/) { # a function type
                match(whole, /\( ?\* ?[a-z_0-9]+/)
                name = substr(whole, RSTART, RLENGTH)
                gsub(/[(* ]/, "", name)
                print "type", name, whole
            } else if (whole ~ /^struct [A-Za-z_0-9]+$/) next
            else if (whole ~ /^extern [^(]*[a-z_0-9]+ ?\([^()]*\)$/) {
                sub(/^extern /, "", whole)
                name = whole
                sub(/ *\(.*/, "", name)
                print "function", last_word(name), whole
            } else fail(whole)
        }
        END { if (trim(text) != "") fail(text); exit failed }' | sed 's/ \*/ */g; s/\* /*/g; s/( /(/g; s/ )/)/g'
}

# Macros that the header defines or asks for, without the private ones and its own guard.
macros() {
    sed -n 's,/\*.*,,; s/^ *# *\(define\|ifdef\|ifndef\|if\|elif\|undef\) //p' "$root/gpuopt.h" | grep -oE '\bGPUOPT_[A-Z0-9][A-Z0-9_]*' |
        grep -vx GPUOPT_H | sort -u | sed 's/.*/macro\t&\tmacro &/'
}

# program: reads what parse writes; a C program that writes the list's lines, "kind, name, line" with tabs between.
program() {
    printf '#include <stdio.h>\n#include "gpuopt_impl/common/checks.h"\nint main(void) {\n'
    awk -F '\t' '
        function say(format, values) { printf "printf(\"%s\\t%s\\t%s\\n\"%s);\n", $1, $2, format, values }
        $1 == "function" || $1 == "type" { say($1 " " $3, "") }
        $1 == "handle" { say("handle " $2, "") }
        $1 == "enum" && NF == 2 { say("enum " $2 ": size %zu", ", sizeof(" $2 ")") }
        $1 == "enum" && NF == 3 { say("enum " $2 ": " $3 " = %d", ", (int)" $3) }
        $1 == "struct" && NF == 2 { say("struct " $2 ": size %zu", ", sizeof(" $2 ")") }
        $1 == "struct" && $4 == "struct_size" { # first_size of checks.h
            say("struct " $2 ": first size %zu", ", gpuopt__first_size(\"" $2 "\", sizeof(" $2 "))")
        }
        $1 == "struct" && NF == 4 {
            say("struct " $2 ": offset %zu, size %zu: " $4 ", " $3,
                ", offsetof(" $2 ", " $4 "), sizeof(((" $2 " *)0)->" $4 ")")
        }'
    printf 'return 0;\n}\n'
}

# The list, by kind and name; members and constants are in the header's order.
make_list() {
    preprocess >"$work/declarations.c" && parse <"$work/declarations.c" >"$work/parsed" && program <"$work/parsed" >"$work/program.c" &&
        gcc -std=c11 -I"$root" "$work/program.c" -o "$work/program" && "$work/program" >"$work/lines" && macros >>"$work/lines" &&
        {
            echo "# SPDX-License-Identifier: MIT"
            echo "#"
            echo "# What gpuopt.h declares, with layouts on x86-64. tests/frame/core_api_test.sh --write writes this file."
            sort -s -t "$(printf '\t')" -k1,1 -k2,2 "$work/lines" | cut -f3
        }
}

# make_map LIST: the linker's version script of the shared library. The layers have a version of their own, because a
# program that uses them works with one minor version only.
make_map() {
    echo "# The symbols of libgpuopt.so. tests/frame/core_api_test.sh --write writes this file."
    printf 'GPUOPT_@GPUOPT_ABI@ {\nglobal:\n'
    sed -n 's/^function .*\b\(gpuopt_[a-z0-9_]*\)(.*/    \1;/p' "$1" | grep -v ' gpuopt_backend_cuda;'
    printf '};\n\nGPUOPT_LAYERS_@GPUOPT_MINOR_VERSION@ {\nglobal:\n    gpuopt_*;\nlocal:\n    *;\n};\n'
}

case ${1:-} in
'') ;;
--write)
    make_list >"$work/list" && cp "$work/list" "$list" && make_map "$list" >"$map"
    exit
    ;;
*)
    echo "unknown option $1; usage: core_api_test.sh [--write]" >&2
    exit 2
    ;;
esac

if [ "$(gcc -dumpmachine | cut -d- -f1)" != x86_64 ]; then
    leave "the layout of structs" "the list is that of x86-64"
fi

# ---- The list ----

writes_list() { make_list >"$work/list"; }
check "the declarations of gpuopt.h can be listed" writes_list || { summary; exit 1; }
if ! check "they are what tests/frame/core_api.txt lists" cmp "$list" "$work/list"; then
    diff -u "$list" "$work/list" | sed 's/^/    /' # not in the check, which shows twenty lines at most
fi

map_is_new() { make_map "$list" | diff "$map" -; }
check "cmake/gpuopt.map.in has its functions" map_is_new

# That the list is right about the header, by the compiler: it refuses a prototype that is not the header's.
redeclares() {
    { echo '#include "gpuopt.h"' && sed -n 's/^function \(.*\)/\1;/p' "$work/list"; } >"$work/redeclared.c" &&
        gcc -std=c11 -Werror -fsyntax-only -I"$root" "$work/redeclared.c"
}
check "to the compiler, its prototypes are the header's" redeclares
# And that nothing is left out, by another way of counting.
complete() {
    local functions constants
    functions=$(grep -oE '\bgpuopt_[a-z0-9_]+ ?\(' "$work/declarations.c" | sort -u | wc -l)
    constants=$(grep -oE '\bGPUOPT_[A-Z0-9_]+' "$work/declarations.c" | sort -u | wc -l)
    echo "gpuopt.h has $functions functions and $constants constants"
    [ "$functions" -gt 0 ] && [ "$functions" -eq "$(grep -c '^function ' "$work/list")" ] &&
        [ "$constants" -gt 0 ] && [ "$constants" -eq "$(grep -c '^enum .* = ' "$work/list")" ]
}
check "it has all functions and constants" complete

# That the test of struct_size has every struct of the headers.
sizes_are_tested() {
    local type missing=0
    while read -r type; do
        grep -qw "$type" "$root/tests/contract/sizes_test.c" || { echo "without $type" && missing=1; }
    done < <(cat "$root"/gpuopt.h "$root"/gpuopt/*.h | sed -n 's,.*size_t struct_size;.*sizeof(\([a-z_]*\)).*,\1,p')
    [ $missing -eq 0 ]
}
check "tests/contract/sizes_test.c has all structs with a struct_size" sizes_are_tested

# That the test of GPUOPT_DEBUG makes every call of the headers that takes a context or a handle. It can leave out those
# that take neither, and gpuopt_context_last_error, which it makes otherwise.
calls_are_tested() {
    local name missing=0
    while read -r name; do
        case $name in
        gpuopt_status* | *_string | gpuopt_version_number | gpuopt_desc_init | gpuopt_backend* | *_tolerances_tune | gpuopt_context_create) ;;
        *) grep -qw "$name" "$root"/tests/contract/debug_{calls.h,test.c} || { echo "without $name" && missing=1; } ;;
        esac
    done < <(cat "$root"/gpuopt.h "$root"/gpuopt/*.h | tr '\n' ' ' | grep -oE 'GPUOPT_API [^;({]*\(' | grep -oE 'gpuopt_[a-z0-9_]+')
    [ $missing -eq 0 ]
}
check "tests/contract/debug_calls.h and debug_test.c have all calls" calls_are_tested

# ---- Its size ----

functions=$(grep -c '^function ' "$work/list")
lines=$(wc -l <"$root/gpuopt.h")
echo "gpuopt.h: $functions functions, $lines lines"
check "at most $most_functions functions" test "$functions" -le "$most_functions"
check "at most $most_lines lines" test "$lines" -le "$most_lines"

# ---- A program that was built against the list ----

# It knows two structs of the first version and some prototypes as copies of lines of the list. What lies behind the
# structs must not be looked at, and a shorter struct is refused.
cat >"$work/old.c" <<'PROGRAM'
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct gpuopt_backend gpuopt_backend;
typedef struct gpuopt_context gpuopt_context;

typedef struct gpuopt_context_desc {
    size_t struct_size;
    const gpuopt_backend *backend;
    int32_t device;
    struct CUstream_st *stream;
    int32_t threads;
    void *user;
    void *(*allocate)(void *user, int where, size_t bytes);
    void (*release)(void *user, int where, void *memory);
    void (*log)(void *user, int level, const char *message);
    int (*stop)(void *user);
    double (*seconds)(void *user);
    uint64_t keep_device_bytes;
    int tidy_matrices;
} gpuopt_context_desc;

typedef struct gpuopt_memory_plan {
    size_t struct_size;
    uint64_t host_bytes;
    uint64_t device_bytes;
    uint64_t create_bytes;
    uint64_t create_device_bytes;
} gpuopt_memory_plan;

extern int gpuopt_version_number(void);
extern void gpuopt_desc_init(void *desc, size_t struct_size);
extern int gpuopt_context_create(const gpuopt_context_desc *desc, gpuopt_context **context);
extern int gpuopt_context_wait(gpuopt_context *context);
extern void gpuopt_context_destroy(gpuopt_context *context);

/* A member's line of the list. */
#define SHOW(type, name, text)                                                                                          \
    printf("struct " #type ": offset %zu, size %zu: " #name ", " text "\n", offsetof(type, name), sizeof(((type *)0)->name))

int main(void) {
    struct {
        gpuopt_context_desc desc;
        unsigned char behind[256];
    } old;
    struct {
        gpuopt_memory_plan plan;
        unsigned char behind[256];
    } planned;
    gpuopt_context *context = NULL;
    size_t i;

    SHOW(gpuopt_context_desc, struct_size, "size_t");
    SHOW(gpuopt_context_desc, backend, "const gpuopt_backend *");
    SHOW(gpuopt_context_desc, device, "int32_t");
    SHOW(gpuopt_context_desc, stream, "struct CUstream_st *");
    SHOW(gpuopt_context_desc, threads, "int32_t");
    SHOW(gpuopt_context_desc, user, "void *");
    SHOW(gpuopt_context_desc, keep_device_bytes, "uint64_t");
    SHOW(gpuopt_context_desc, tidy_matrices, "gpuopt_switch");
    SHOW(gpuopt_memory_plan, struct_size, "size_t");
    SHOW(gpuopt_memory_plan, host_bytes, "uint64_t");
    SHOW(gpuopt_memory_plan, device_bytes, "uint64_t");
    SHOW(gpuopt_memory_plan, create_bytes, "uint64_t");
    SHOW(gpuopt_memory_plan, create_device_bytes, "uint64_t");
    printf("struct gpuopt_context_desc: first size %zu\n", sizeof(gpuopt_context_desc));
    printf("struct gpuopt_memory_plan: first size %zu\n", sizeof(gpuopt_memory_plan));

    if (gpuopt_version_number() <= 0) return 1;
    memset(&old, 0xA5, sizeof old);
    memset(&planned, 0xA5, sizeof planned);
    gpuopt_desc_init(&old.desc, sizeof old.desc);
    gpuopt_desc_init(&planned.plan, sizeof planned.plan);
    if (old.desc.struct_size != sizeof old.desc || old.desc.backend || old.desc.threads || old.desc.user) return 2;
    if (planned.plan.struct_size != sizeof planned.plan || planned.plan.host_bytes || planned.plan.create_device_bytes) return 3;
    old.desc.threads = 1;
    old.desc.user = &old;
    old.desc.struct_size--;
    if (gpuopt_context_create(&old.desc, &context) != -1 || context) return 4;
    old.desc.struct_size++;
    if (gpuopt_context_create(&old.desc, &context) || !context) return 4;
    if (gpuopt_context_wait(context)) return 5;
    gpuopt_context_destroy(context);
    for (i = 0; i < sizeof old.behind; i++)
        if (old.behind[i] != 0xA5 || planned.behind[i] != 0xA5) return 6;
    return 0;
}
PROGRAM
builds_old() { gcc -std=c11 -Wall -Wextra -Werror -c "$work/old.c" -o "$work/old.o"; }
links_old() { gcc -std=c11 -c "$root/gpuopt_impl/gpuopt.c" -o "$work/gpuopt.o" && gcc "$work/old.o" "$work/gpuopt.o" -lm -o "$work/old"; }
runs_old() {
    "$work/old" >"$work/old.out"
    local status=$?
    echo "exit status $status"
    [ $status -eq 0 ]
}
# The members as the program has them are lines of the list.
is_listed() { [ -s "$work/old.out" ] && ! grep -vFxf "$list" "$work/old.out"; }
check "a program with copies of some of these declarations compiles" builds_old
check "it links with the library" links_old
check "it runs with the structs of the first version" runs_old
check "its copies are the list's" is_listed

summary
