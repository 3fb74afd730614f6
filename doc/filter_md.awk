# SPDX-License-Identifier: MIT
#
# Makes a page of the repository one of the reference, where all pages stand in one folder: links to other pages of the
# reference lose their folder, links to other files of the repository become plain text, and what is markup to Doxygen
# alone stays text. Sections get labels, PAGE_SECTION, to which links with a section lead. The folder of the page is `at`;
# `pages` lists the pages of the reference, as paths from the root of the repository.

BEGIN {
    count = split(pages, path, " ")
    for (i = 1; i <= count; i++) is_page[path[i]] = 1
}

# A path without "." and "..".
function plain(s, part, kept, n, k, i) {
    n = split(s, part, "/")
    k = 0
    for (i = 1; i <= n; i++) {
        if (part[i] == "..") k--
        else if (part[i] != "." && part[i] != "") kept[++k] = part[i]
    }
    s = kept[1]
    for (i = 2; i <= k; i++) s = s "/" kept[i]
    return s
}

# The name of a page without its folder and ending.
function stem(path) {
    sub(/.*\//, "", path)
    sub(/\.md$/, "", path)
    return path
}

# A heading as GitHub's links name it.
function anchor(heading) {
    heading = tolower(heading)
    gsub(/[^-a-z0-9_ ]/, "", heading)
    gsub(/ /, "-", heading)
    return repeated[heading]++ ? heading "-" repeated[heading] - 1 : heading
}

function linked(label, target, mark) {
    if (target ~ /^https?:/) return "[" label "](" target ")"
    mark = match(target, /#.*/) ? substr(target, RSTART + 1) : ""
    sub(/#.*/, "", target)
    target = target == "" ? FILENAME : plain(at "/" target)
    if (target == "gpuopt.h") return "[" label "](gpuopt_8h.html)"
    if (!(target in is_page)) return label
    if (mark != "") return "[" label "](#" stem(target) "_" mark ")"
    sub(/.*\//, "", target)
    return "[" label "](" target ")"
}

# Angle brackets and commands stay as they are written, outside of `code`.
function literal(s, part, n, i, k) {
    n = split(s, part, /`/)
    s = ""
    for (i = 1; i <= n; i++) {
        if (i % 2) {
            gsub(/@/, "\\@", part[i])
            while ((k = match(part[i], /(^|[^\\])<[A-Za-z\/]/)) && part[i] !~ /<(https?:|img )/)
                part[i] = substr(part[i], 1, k + RLENGTH - 3) "\\" substr(part[i], k + RLENGTH - 2)
        }
        s = s (i > 1 ? "`" : "") part[i]
    }
    return s
}

/^```/ { fenced = !fenced }

!fenced && /^##+ / {
    heading = $0
    sub(/^#+ /, "", heading)
    $0 = $0 " {#" stem(FILENAME) "_" anchor(heading) "}"
}

!fenced {
    done = ""
    while (match($0, /!?\[[^]]*\]\([^) ]*\)/)) {
        before = substr($0, 1, RSTART - 1)
        found = substr($0, RSTART, RLENGTH)
        $0 = substr($0, RSTART + RLENGTH)
        label = target = found
        sub(/^!?\[/, "", label)
        sub(/\]\(.*/, "", label)
        sub(/.*\]\(/, "", target)
        sub(/\)$/, "", target)
        if (found ~ /^!/) {
            sub(/.*\//, "", target)
            found = "<img src=\"" target "\" alt=\"" label "\">"
        } else found = linked(label, target)
        done = done before found
    }
    $0 = $0 ~ /^    / ? done $0 : literal(done $0)
}

{ print }
