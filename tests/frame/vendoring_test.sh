#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# That a caller can copy the library in and compile it in the ways that gpuopt.h names: what the compilers report, what
# the objects export and import, which macros a caller meets, what links with what, and that the compiler does not
# change a result.
# Needs gcc, g++ and the binutils; clang, OpenMP and nvcc are used if they are installed, else reported as skipped.
# Unless tests/run.sh --all runs this: gcc and g++ at -O0 without OpenMP, the hosts, the bits at -O0 and -O1; no clang,
# no CUDA.
# Usage: vendoring_test.sh [FOLDER]
#   FOLDER   holds the library as a caller has it: gpuopt.h with gpuopt/, gpuopt_impl/ and cuda/, or gpuopt.h with
#            everything in it and gpuopt_cuda.cu. Default: this checkout
set -u

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
frame=$root/tests/frame
vendored=$(cd "${1:-$root}" && pwd) || exit 1
work=$(mktemp -d) || exit 1
# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
quick=
runs_all || quick=1
# shellcheck source=../../third_party/setup.sh
. "$root/third_party/setup.sh"
at_end() { rm -rf "$said" "$work"; }
cd "$work" || exit 1

if [ -e "$vendored/gpuopt_impl" ]; then
    library=$vendored/gpuopt_impl/gpuopt.c cuda_units=("$vendored"/cuda/*.cu "$vendored"/cuda/*/*.cu)
else # the two files and what a host adds to them, in a folder with nothing else
    cp "$vendored/gpuopt.h" "$vendored/gpuopt_cuda.cu" "$work" && cp "$frame/host_implementation.c" "$work/gpuopt.c"
    vendored=$work library=$work/gpuopt.c cuda_units=("$work/gpuopt_cuda.cu")
fi

finds() { command -v "$1" >/dev/null 2>&1; }

# ---- What is installed ----

strict=(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef -Werror)
strict_c=(-std=c11 "${strict[@]}" -Wstrict-prototypes)
strict_cpp=(-std=c++17 "${strict[@]}")
c_compilers=(gcc)
cpp_compilers=(g++)
levels=(-O0) with_openmp=("")
if [ -z "$quick" ]; then
    # For this processor: it may have fused operations, which change results unless something forbids them.
    levels+=("-O3,-march=native") with_openmp+=(-fopenmp)
    if finds clang; then c_compilers+=(clang); else skip "clang" "not installed"; fi
    if finds clang++; then cpp_compilers+=(clang++); else skip "clang++" "not installed"; fi
fi

# Whether a program with OpenMP can be built with this compiler; clang's runtime is a package of its own.
echo 'int main(void) { return 0; }' >empty.c
has_openmp() { "$1" -fopenmp empty.c -o empty >/dev/null 2>&1; }

# levels_of COMPILER OPENMP: the optimisations to compile with, each as options between commas. Without OpenMP only -O0,
# since the optimiser sees the same code with it, and more.
levels_of() {
    if [ -z "$2" ] && has_openmp "$1"; then echo -O0; else echo "${levels[@]}"; fi
}

# The compile line of all that follows.
build() {
    local compiler=$1
    shift
    "$compiler" -I"$vendored" "$@"
}

# ---- Families that are left out ----

families=(propagate basis simplex elimination knapsack)
# alone FAMILY: the implementation with this family only. It exports no call of another one, takes less than half of the
# whole, and a caller of the family links with it.
alone() {
    local family without=() handle=$1 others
    for family in "${families[@]}"; do
        [ "$family" = "$1" ] || without+=("-DGPUOPT_WITHOUT_${family^^}")
    done
    [ "$1" != propagate ] || handle=propagator
    others=$(printf '%s\n' propagator basis simplex elimination knapsack | grep -vx "$handle" | paste -sd'|')
    build gcc "${strict_c[@]}" -O0 "${without[@]}" -c "$library" -o alone.o || return
    if nm -g --defined-only alone.o | grep -E " gpuopt_($others)_"; then return 1; fi
    nm -g --defined-only alone.o | grep -q " gpuopt_${handle}_create$" || return
    [ $(($(size alone.o | awk 'NR == 2 { print $1 }') * 2)) -lt "$(size whole.o | awk 'NR == 2 { print $1 }')" ] || return
    printf '#include "gpuopt.h"\nint main(void) { gpuopt_%s_destroy(NULL); return gpuopt_backend_cpu() == NULL; }\n' "$handle" >alone.c
    build gcc alone.c alone.o -lm -o alone && ./alone
}
test_families() {
    local family
    check "the whole, to compare with" build gcc -std=c11 -O0 -c "$library" -o whole.o
    for family in "${families[@]}"; do check "$family alone" alone "$family"; done
}

# ---- 1. The header alone ----

# Up to the implementation, which is included only on demand.
header_includes() {
    sed '/^#ifdef GPUOPT_IMPLEMENTATION/,$d' "$vendored/gpuopt.h" | grep -E '^[[:space:]]*#[[:space:]]*include'
}
includes_two() { diff <(printf '#include <stddef.h>\n#include <stdint.h>\n') <(header_includes); }

test_header() {
    local compiler
    check "gpuopt.h includes stddef.h and stdint.h, nothing else" includes_two
    for compiler in "${c_compilers[@]}"; do
        check "gpuopt.h, included twice, strict C11: $compiler" \
            build "$compiler" "${strict_c[@]}" -c "$frame/header_only.c" -o header.o
    done
    for compiler in "${cpp_compilers[@]}"; do
        check "gpuopt.h, included twice, strict C++17: $compiler" \
            build "$compiler" "${strict_cpp[@]}" -x c++ -c "$frame/header_only.c" -o header.o
    done
}

# ---- 2, 3, 7, 10. The C object ----

# Prints the lines of its input that do not match the whole of a pattern; fails if there are any.
only() { ! grep -vxE "$1"; }

exported() { nm -g --defined-only "$1" | awk '{ print $NF }'; }
imported() { nm -u "$1" | awk '{ print $NF }'; }
exports_only() { exported "$1" | only "$2"; }
imports_only() { imported "$1" | only "$2"; }

# Constant tables of pointers stand in .data.rel.ro, which is read-only once the program is loaded.
has_no_mutable_data() {
    {
        size -A "$1" | awk '$1 ~ /^\.(data|bss|tdata|tbss|ldata|lbss)/ && $1 !~ /^\.data\.rel\.ro/ && $2 > 0'
        nm "$1" | awk '$(NF - 1) == "C"'
    } | only "${2:-}"
}

# Memory, text for the log hook, with OpenMP the process (a forked one lacks the threads), and functions of libm for
# which there may be no instruction.
libc='malloc|free|getpid|memcpy|memmove|memset|strlen|snprintf|vsnprintf'
libm='exp|fma|floor|ceil|nextafterf|frexp|ldexp|log|log2|sqrt|fegetenv|fesetenv'
compiler_made='__stack_chk_fail|__v?snprintf_chk|__mem(cpy|move|set)_chk|_GLOBAL_OFFSET_TABLE_'
openmp_made='GOMP_[a-z_]+|omp_get_(num_threads|thread_num)|omp_pause_resource_all|__kmpc_[a-z0-9_]+'
# clang's lock for a reduction: common to all objects of a program that uses OpenMP, its own or not.
openmp_lock='\.gomp_critical_user_\.reduction\.var'

forbidden='v?f?printf|puts|putchar|fputs|fputc|fwrite|fopen|_?exit|abort|assert|signal|raise|time|clock|getenv'
forbidden="$forbidden|clock_gettime|timespec_get"
library_files() {
    local part
    for part in gpuopt.h gpuopt gpuopt_impl cuda gpuopt_cuda.cu; do
        [ ! -e "$vendored/$part" ] || find "$vendored/$part" -type f -name '*.[ch]*'
    done
}
# Without comments, in which such a word may come before a bracket.
names_nothing_forbidden() {
    local source found=0
    while read -r source; do
        gcc -x c++ -fpreprocessed -dD -E -P "$source" >code.txt 2>/dev/null
        [ -s code.txt ] || { echo "$source: nothing to read" && found=1; }
        # Not a member of that name.
        if grep -E "(^|[^.>a-zA-Z0-9_])($forbidden) *\(" code.txt; then echo "in $source" && found=1; fi
    done < <(library_files)
    return $found
}

refuses_fast_math() {
    if build "$1" -ffast-math -c "$library" -o fast.o 2>fast.log; then
        echo "was compiled"
        return 1
    fi
    grep -q 'error.*without -ffast-math' fast.log || { cat fast.log && return 1; }
}

test_object() {
    local compiler level openmp label name
    check "cc -c gpuopt.c, no flag" cc -c "$library" -o gpuopt.o
    for compiler in "${c_compilers[@]}"; do
        for openmp in "${with_openmp[@]}"; do
            label="$compiler${openmp:+ $openmp}"
            if [ -n "$openmp" ] && ! has_openmp "$compiler"; then
                skip "the object: $label" "no OpenMP for $compiler"
                continue
            fi
            for level in $(levels_of "$compiler" "$openmp"); do
                name="object_$compiler$openmp$level.o"
                # No array: empty, it would be an error under set -u in older shells.
                # shellcheck disable=SC2086 # several words
                check "strict C11: $label $level" \
                    build "$compiler" "${strict_c[@]}" ${openmp:+"$openmp"} ${level//,/ } -c "$library" -o "$name" ||
                    continue
                check "exports are gpuopt_*: $label $level" \
                    exports_only "$name" "gpuopt_[a-z_]+${openmp:+|$openmp_lock}"
                check "imports are few, and no I/O, exit or clock: $label $level" \
                    imports_only "$name" "$libc|$libm|$compiler_made${openmp:+|$openmp_made}"
                check "no mutable data: $label $level" \
                    has_no_mutable_data "$name" "${openmp:+.* C $openmp_lock}"
            done
        done
        check "-ffast-math is refused, with the reason: $compiler" refuses_fast_math "$compiler"
    done
    check "the sources name no I/O, exit, signal or clock" names_nothing_forbidden
}

# ---- The implementation in callers' own files ----

refuses_old_cpp() {
    if build "$1" -std=c++14 -c -x c++ "$frame/host_implementation.c" -o old.o 2>old.log; then
        echo "was compiled"
        return 1
    fi
    grep -q 'error.*needs C++17' old.log || { cat old.log && return 1; }
}

# No caller has to switch a warning off, whatever it makes of GPUOPT_API.
test_warnings() {
    local compiler openmp label
    for compiler in "${cpp_compilers[@]}"; do
        for openmp in "${with_openmp[@]}"; do
            label="$compiler${openmp:+ $openmp}"
            if [ -n "$openmp" ] && ! has_openmp "$compiler"; then
                skip "GPUOPT_IMPLEMENTATION in C++17: $label" "no OpenMP for $compiler"
                continue
            fi
            # At -O0: the optimiser has seen the same code in C, above.
            check "GPUOPT_IMPLEMENTATION in strict C++17: $label" \
                build "$compiler" "${strict_cpp[@]}" ${openmp:+"$openmp"} \
                -x c++ -c "$frame/host_implementation.c" -o implementation.o
        done
        check "GPUOPT_API=static, strict C++17: $compiler" build "$compiler" "${strict_cpp[@]}" -DGPUOPT_API=static \
            -x c++ -c "$frame/host_single.c" -o single.o
        check "C++14 is refused, with the reason: $compiler" refuses_old_cpp "$compiler"
        check "a host in strict C++17: $compiler" \
            build "$compiler" "${strict_cpp[@]}" -c "$frame/host_cpp.cpp" -o host.o
    done
    for compiler in "${c_compilers[@]}"; do
        check "GPUOPT_API=static, strict C11: $compiler" build "$compiler" "${strict_c[@]}" -DGPUOPT_API=static \
            -c "$frame/host_single.c" -o single.o
    done
}

# Names that a caller may use for its own macros; a file that uses one of them does not compile.
host_macros=()
for name in REAL NAME ROUNDED ROWS COLS ADD WORST MIN MAX SIZE COUNT TYPE INDEX VALUE TRUE FALSE N M K A B C X; do
    host_macros+=("-D$name=@")
done

# Only a build with GPUOPT_LOAD_CUDA includes dlfcn.h.
macros() { build gcc -dM -E -fopenmp "${host_macros[@]}" "$1" | awk '{ sub(/\(.*/, "", $2); print $2 }' | LC_ALL=C sort; }
list_macros() {
    library_files | grep -v '\.cuh\?$' | xargs grep -hoE '^#include <[a-z]+\.h>' |
        grep -v dlfcn >system_headers.c && macros system_headers.c >before.txt &&
        macros "$frame/host_implementation.c" >after.txt && grep -qx REAL before.txt && grep -qx GPUOPT_API after.txt
}
new_macros_are_prefixed() { LC_ALL=C comm -13 before.txt after.txt | only 'GPUOPT_.*'; }
keeps_macros() { LC_ALL=C comm -23 before.txt after.txt | only ''; }

test_macros() {
    check "the macros before and after the implementation" list_macros || return
    check "every macro that the implementation adds begins with GPUOPT_" new_macros_are_prefixed
    check "it undefines none of a host's" keeps_macros
    check "it compiles beside a host's macros" build gcc -std=c11 -fopenmp "${host_macros[@]}" -fsyntax-only "$library"
}

# ---- 4, 5, 6. Hosts ----

link_and_run() { "$@" -lm -o host && ./host; }
# host NAME LINKER OBJECT...: links, with -lm only, and runs.
host() {
    local name=$1
    shift
    check "$name" link_and_run "$@"
}

host_objects() {
    build cc -c "$frame/header_only.c" -o header_only.o &&
        build cc -c "$frame/host_main.c" -o host_main.o &&
        build cc -c "$frame/host_implementation.c" -o host_implementation.o &&
        build cc -DGPUOPT_API=static -c "$frame/host_single.c" -o host_single.o &&
        build g++ -std=c++17 -x c++ -c "$frame/host_implementation.c" -o host_implementation_cpp.o &&
        build g++ -std=c++17 -c "$frame/host_main.cpp" -o host_main_cpp.o &&
        build g++ -std=c++17 -c "$frame/host_cpp.cpp" -o host_cpp.o
}

test_hosts() {
    check "the objects of the hosts" host_objects || return
    host "GPUOPT_IMPLEMENTATION in one C file, the header in another" cc host_main.o host_implementation.o
    host "two files with the header, and gpuopt.o; the CUDA backend is never named" \
        cc host_main.o header_only.o gpuopt.o
    host "the implementation as C++17, main in C" g++ host_main.o host_implementation_cpp.o
    host "the implementation as C++17, linked as C" cc host_main.o host_implementation_cpp.o
    host "a C++17 host of gpuopt.o" g++ host_main_cpp.o gpuopt.o
    host "a C++17 host with handles, hooks and GPUOPT_INIT in C++ fashion" g++ host_cpp.o gpuopt.o
    host "the same host, the implementation as C++17" g++ host_cpp.o host_implementation_cpp.o
    host "one file, GPUOPT_API=static" cc host_single.o
    check "GPUOPT_API=static exports nothing" exports_only host_single.o main
    check "as C++17, exports are gpuopt_*" exports_only host_implementation_cpp.o 'gpuopt_[a-z_]+'
}

# ---- 8. The same bits ----

# bits FILE THREADS COMPILER ARGUMENT...: builds tests/frame/bits.c with the library, which is among the arguments, and
# keeps what it prints. The library is an object of test_object's where that was compiled with the options in question.
bits() {
    local output=$1 threads=$2
    shift 2
    build "$@" "$frame/bits.c" -lm -o bits && ./bits "$threads" >"$output"
}
same_bits() { bits bits.txt "$@" && diff bits_reference.txt bits.txt; }
moves_bounds() {
    grep -Eq '^fp64 [0-9a-f]{16} .* changed [1-9].* fp32 [0-9a-f]{16} .* changed [1-9]' "$1" ||
        { cat "$1" && return 1; }
}

test_bits() {
    local compiler level threads
    check "a fixed model: gcc -O0" bits bits_reference.txt 1 gcc object_gcc-O0.o || return
    check "it moves bounds in both precisions" moves_bounds bits_reference.txt
    for compiler in "${c_compilers[@]}"; do
        # gcc's default is -ffp-contract=fast; clang obeys that option, and is refused for it (arithmetic_test.sh).
        if [ -n "$quick" ]; then
            check "the same bits: $compiler -O1 -march=native" same_bits 1 "$compiler" -O1 -march=native "$library"
            continue
        fi
        for level in $(levels_of "$compiler" ""); do
            check "the same bits: $compiler $level" same_bits 1 "$compiler" "object_$compiler$level.o"
        done
        if has_openmp "$compiler"; then
            for threads in 1 4; do
                check "the same bits: $compiler -O3 -march=native -fopenmp, threads: $threads" \
                    same_bits $threads "$compiler" -fopenmp "object_$compiler-fopenmp-O3,-march=native.o"
            done
        else
            skip "the same bits: $compiler -O3 -march=native -fopenmp" "no OpenMP for $compiler"
        fi
    done
}

# ---- 9. The CUDA objects ----

# nvcc gives the unnamed namespace external linkage, under a name with a hash of the file in it. Weak are inline
# functions of the language's, CUDA's and CUB's own headers, the same in every program. The families' tables are hidden.
cuda_strong='gpuopt_backend_cuda|gpuopt__cuda_[a-z_]+|.*_GLOBAL__N__[0-9a-f]+_[0-9]+_[a-z_]+_cu_[0-9a-f]+.*'
cuda_weak='_ZnwmPv|_ZdlPvS_|_Z(GVZ|Z|T[IVS])?NK?(St|3cub|4cuda|6thrust).*|_Z(N?K?)St.*|_ZN4dim3C[12]Ejjj|DW\.ref\.__gxx_personality_v0'
# atexit: nvcc's registration of the kernels. exit: the bodies that it makes on the CPU for functions of the device,
# which nothing calls; that the sources name it nowhere is checked above.
cuda_made='cuda[A-Z][A-Za-z0-9]+|__cuda[A-Z][A-Za-z]+|atexit|exit'
cpp_made='__cxa_(guard_(acquire|release|abort)|pure_virtual)|__gxx_personality_v0|_Unwind_Resume|_ZdlPvm?'
cpp_made="$cpp_made|_ZTVN10__cxxabiv1[0-9]+__(si_)?class_type_infoE"
# cuBLAS and cuSOLVER are opened at run time; CUB is called by a thread of its own where the caller has an error pending
# (cuda/common/cub.cuh). The last line is what the host code of CUB and libcu++ brings along, more of it in this
# build, which hardly optimises.
cuda_made="$cuda_made|dlopen|dlclose|dlsym"
cpp_made="$cpp_made|_ZTVNSt6thread6_StateE|_ZTINSt6thread6_StateE|_Znwm|_ZSt9terminatev|__cxa_(begin|end)_catch"
cpp_made="$cpp_made|_ZNSt8ios_base4Init[CD]1Ev|_ZTISt13runtime_error|__cxa_(allocate_exception|throw|atexit)|__dso_handle"
cpp_made="$cpp_made|_ZNK?St(13runtime_error|6thread).*|__assert_fail|sched_yield|snprintf|memcmp"


exports_backend_only() {
    exported cuda.o | grep -qx gpuopt_backend_cuda || { echo "gpuopt_backend_cuda is missing" && return 1; }
    nm -g --defined-only cuda.o | awk '$(NF - 1) !~ /^[WVu]$/ { print $NF }' | only "$cuda_strong" &&
        nm -g --defined-only cuda.o | awk '$(NF - 1) ~ /^[WVu]$/ { print $NF }' | only "$cuda_strong|$cuda_weak"
}

# Where the toolkit keeps its static runtime; a distribution's own is where the linker looks anyway.
cuda_library_flags() {
    local home directory
    home=$(dirname "$(dirname "$(readlink -f "$1")")")
    for directory in "$home/lib64" "$home/lib" "$home/targets/$(uname -m)-linux/lib"; do
        [ -e "$directory/libcudart_static.a" ] && echo "-L$directory" && return
    done
}

# leaves_families_out NVCC [LIBRARY_FLAG]: gpuopt_cuda.cu needs none of them with the right macro.
leaves_families_out() {
    local unit family without=()
    for unit in "$vendored"/cuda/*/*.cu; do
        family=$(basename "$unit" .cu)
        without+=("-DGPUOPT_CUDA_WITHOUT_${family^^}")
    done
    "$1" "${for_device[@]}" "${without[@]}" -c "$vendored/cuda/gpuopt_cuda.cu" -o alone.o &&
        cc host_cuda.o gpuopt.o alone.o ${2:+"$2"} "${link[@]}" -o host_alone && ./host_alone
}

test_cuda() {
    local nvcc directory unit link for_device
    if [ -n "$quick" ]; then
        skip "the CUDA object" "takes minutes: tests/run.sh --all"
        return
    fi
    if ! nvcc=$(find_nvcc); then
        skip "the CUDA object" "no nvcc"
        return
    fi
    # Hardly optimised and without machine code, which takes less time: only the host code is looked at.
    for_device=("$(fast_compile "$nvcc")" -arch=compute_75)
    for unit in "${cuda_units[@]}"; do
        check "nvcc ${for_device[*]} -c $(basename "$unit")" "$nvcc" "${for_device[@]}" -c "$unit" -o "$(basename "$unit").o"
    done
    if ! check "the objects go into one" ld -r ./*.cu.o -o cuda.o; then
        skip "the CUDA object's symbols, a host with it" "there is no such object"
        return
    fi
    check "the CUDA object exports gpuopt_backend_cuda only" exports_backend_only
    check "the CUDA object imports CUDA, the C++ runtime and little else" \
        imports_only cuda.o "$cuda_made|$cpp_made|$libc|$libm|$compiler_made"
    directory=$(cuda_library_flags "$nvcc")
    check "a C host that names gpuopt_backend_cuda compiles" \
        build cc "${strict_c[@]}" -c "$frame/host_cuda.c" -o host_cuda.o || return
    link=(-lcudart_static -lstdc++ -lm -lpthread -ldl -lrt)
    check "it links, C linker and static runtime" cc host_cuda.o gpuopt.o cuda.o ${directory:+"$directory"} "${link[@]}" \
        -o host_cuda || return
    check "it gets a context, or UNSUPPORTED and one message" ./host_cuda && sed 's/^/    here: /' "$said"
    if [ ${#cuda_units[@]} -gt 1 ]; then check "all families can be left out" leaves_families_out "$nvcc" "$directory"; fi
}

test_header
test_families
test_object
test_warnings
test_macros
test_hosts
test_bits
test_cuda

summary
