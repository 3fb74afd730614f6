# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# The options to link lost_device.c with: lost is that file, then an option for each call. The script that reads this
# sets root.
# shellcheck disable=SC2154,SC2034
lost=("$root/tests/hosts/lost_device.c")
while read -r name; do lost+=("-Wl,--wrap=$name"); done < <(sed -n 's/^WRAP(\([a-z_]*\),.*/\1/p' "${lost[0]}")
