#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Prints the version that gpuopt.h defines.
# Usage: version.sh [--abi]
#   --abi  only the part of it that ends the shared libraries' names: while the major version is 0, each minor version
#          may break programs
case ${1:-} in
'' | --abi) ;;
-h | --help)
    awk 'NR > 3 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$0"
    exit
    ;;
*)
    echo "unknown option $1; see version.sh --help" >&2
    exit 2
    ;;
esac
awk -v abi="${1:-}" '
    $1 == "#define" && $2 ~ /^GPUOPT_VERSION_(MAJOR|MINOR|PATCH)$/ { part[++n] = $3 }
    END {
        if (n != 3) exit 1
        if (abi == "") print part[1] "." part[2] "." part[3]
        else print (part[1] == 0 ? "0." part[2] : part[1])
    }' "$(dirname "$0")/../gpuopt.h"
