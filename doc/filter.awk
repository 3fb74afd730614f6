# SPDX-License-Identifier: MIT
#
# Doxygen's input filter for gpuopt.h and its layers (-v header=PATH): turns the header's plain comments into Doxygen's, word for word.
#     a comment before a declaration      -> /** ... */
#     a comment behind one                -> /**< ... */
#     a section line, and what follows    -> a group of the reference, to the next section line
#     the comment at the top of the file  -> the first group (of a layer: the description of the file)
# Members declared together in one line share its comment, and so do constants of an enum in one line. A member without a
# comment is described by its type, where that is one of the library's. In a comment, lines that are indented by four or
# more stay as they are set (tables, code), and "Word   text" begins a paragraph with that word in bold.

{ line[NR] = $0 }

# ---- Text ----

# Nothing in it is markup.
function literal(s, k) {
    gsub(/\\/, "\\\\\\\\", s)
    gsub(/[@<>#%&]/, "\\\\&", s)
    gsub(/[][*]/, "\\\\&", s)
    while (match(s, /`[^`]+`/))
        s = substr(s, 1, RSTART - 1) "<code>" substr(s, RSTART + 1, RLENGTH - 2) "</code>" substr(s, RSTART + RLENGTH)
    gsub(/`/, "\\`", s)
    gsub(/--/, "\\--", s)
    while (match(s, /(^|[ (])_/)) s = substr(s, 1, RSTART + RLENGTH - 2) "\\\001" substr(s, RSTART + RLENGTH)
    gsub(/\001/, "_", s)
    return s
}

function indent_of(s) { return match(s, /[^ ]/) ? RSTART - 1 : 0 }

# Constants without a comment, of which Doxygen says nothing, go to the file `missing`.
BEGIN {
    if (missing == "") missing = "/dev/stderr"
    if (header == "") header = "gpuopt.h"
    part = header == "gpuopt.h" ? "section" : header # what the names of its groups begin with
    sub(/.*\//, "", part)
    sub(/\.h$/, "", part)
}

# All output goes through here: the lines of the header that it came from are listed in the file `map`, if one is named.
function emit(s, n) {
    n = gsub(/\n/, "&", s) + 1
    print s
    emitted += n
    if (map != "") while (n-- > 0) print i > map
}

# Shows text[1 .. n], the lines of a comment without its stars.
function render(n, i, k, s, out, set, label, rule) {
    out = ""
    set = label = 0
    for (i = 1; i <= n; i++) {
        s = text[i]
        sub(/ +$/, "", s)
        rule = i < n && text[i + 1] ~ /^---+ *$/ && s != ""
        if (set && (s != "" && indent_of(s) < 4 || s == "" && indent_of(text[i + 1]) < 4)) {
            out = out "\n@endverbatim"
            set = 0
        }
        if (s == "") {
            if (!set) label = 0
        } else if (!label && !set && indent_of(s) >= 4) {
            out = out "\n@verbatim"
            set = 1
        } else if (!set && label && indent_of(s) < label) label = 0
        if (rule) {
            out = out "\n<h3>" literal(s) "</h3>"
            i++
        } else if (set) out = out "\n" s
        else if ((k = label_of(s, i < n ? text[i + 1] : ""))) {
            label = k
            out = out "\n\n<b>" literal(trim(substr(s, 1, k))) "</b>&ensp;" literal(substr(s, k + 1))
        } else {
            s = literal(trim(s))
            # A wrapped line must not begin a list.
            out = out (s ~ /^([-+]|[0-9]+\.) / && !opens_list(i) ? " " : "\n") s
        }
    }
    if (set) out = out "\n@endverbatim"
    sub(/^\n/, "", out)
    return out
}
function opens_list(i) { return i == 1 || text[i - 1] ~ /^ *$/ || text[i - 1] ~ /[.:] *$/ || text[i - 1] ~ /^ *- / }
# Where the text of a labelled paragraph begins in s, 0 if it is none. Two blanks within a formula make no label; after
# the longest label of a list there is one blank, and the next line, `after`, is indented as far.
function label_of(s, after, k) {
    k = match(s, /^[A-Za-z][a-z]+ /) ? RLENGTH : 0
    if (k && indent_of(after) == k) return k
    if (!match(s, /^[A-Za-z_][A-Za-z_0-9]*( [A-Za-z_]+)?  +/)) return 0
    return substr(s, RLENGTH + 1) ~ /^[^ ]+ [^ ]/ && substr(s, RLENGTH + 1) !~ /  / ? RLENGTH : 0
}
function trim(s) { sub(/^ +/, "", s); sub(/ +$/, "", s); return s }

# ---- Comments ----

# Reads the comment whose text begins in line i after column `from` into text[1 .. text_lines]; returns its last line.
# What stands behind the comment in that line goes to `behind`.
function read_comment(i, from, s, end) {
    text_lines = 0
    s = substr(line[i], from)
    for (;;) {
        end = index(s, "*/")
        if (end) {
            behind = substr(s, end + 2)
            s = substr(s, 1, end - 1)
        }
        text[++text_lines] = s
        if (end) return i
        s = line[++i]
        if (!sub(/^ *\* ?/, "", s) || s == "/") s = s == "/" ? "*/" : trim(s)
    }
}

# ---- Declarations ----

# The line with every declarator of its own, each with this comment.
function apart(s, comment, base, rest, n, part, i, out) {
    if (!match(s, /^ +(const )?(struct )?[A-Za-z_0-9]+ /) || s !~ /,/ || s ~ /[({]/) return ""
    base = substr(s, 1, RLENGTH)
    rest = substr(s, RLENGTH + 1)
    sub(/; *$/, "", rest)
    n = split(rest, part, /, */)
    for (i = 1; i <= n; i++) out = out comment "\n" base part[i] ";\n"
    return out
}

# What lists show of a comment: of a member's or a constant's the first paragraph, of others the first sentence.
function briefly(comment, k) {
    if (in_struct || in_enum) return "@brief " comment
    k = match(comment, /[.]([ \n]+[A-Z`"(<]|\n)/) ? RSTART : 0
    return "@brief " (k ? substr(comment, 1, k) "\n\n" substr(comment, k + 1) : comment)
}

# A declaration and the comment that is about it, "" if there is none.
function declare(s, comment, out, n, part, k, body) {
    if (in_enum && comment == "" && match(s, /^ +GPUOPT_[A-Z0-9_]+/))
        print header ":" i ": error: " trim(substr(s, RSTART, RLENGTH)) " (enum constant) is not documented." > missing
    if (in_struct) {
        if (s ~ /^ +size_t struct_size;/ && (comment == "" || comment ~ /^sizeof\(/))
            comment = "The size of the struct in bytes, which GPUOPT_INIT() sets."
        if (comment == "" && match(s, /gpuopt_[a-z_]+ /))
            comment = "See " substr(s, RSTART, RLENGTH - 1) "."
        out = apart(s, comment == "" ? "" : "/** " briefly(comment) " */")
        if (out != "") {
            sub(/\n$/, "", out)
            emit(out)
            return
        }
    }
    if (comment != "") comment = briefly(comment)
    # An enum in one line.
    if (s ~ /enum .*\{.*\}/ && comment != "") {
        body = s
        sub(/^[^{]*\{ */, "", body)
        sub(/ *\}.*/, "", body)
        n = split(body, part, /, */)
        out = substr(s, 1, index(s, "{"))
        for (k = 1; k <= n; k++) out = out "\n/** " comment " */ " part[k] (k < n ? "," : "")
        emit("/** " comment " */")
        emit(out "\n" substr(s, index(s, "}")))
        return
    }
    if (comment != "") emit("/** " comment " */")
    emit(s)
}

# ---- Sections ----

function section(i, title) {
    title = line[i]
    sub(/^\/\* -+ /, "", title)
    sub(/ -+( ?\*?\/?)$/, "", title)
    gsub(/  +/, " ", title)
    if (sections++) emit("/** @} */")
    gsub(/&/, "\\&amp;", title)
    gsub(/</, "\\&lt;", title)
    gsub(/>/, "\\&gt;", title)
    emit("/** @defgroup " part sections " " title)
    if (line[i] !~ /\*\/$/) {
        i = read_comment(i + 1, 1 + match_star(line[i + 1]))
        emit(render(text_lines))
    }
    emit("@{ */")
    return i
}
function match_star(s) { return match(s, /^ *\* ?/) ? RLENGTH : 0 }

# ---- The header ----

END {
    for (i = 1; i <= NR; i++) {
        s = line[i]
        if (i == 1) {
            i = read_comment(i, 4)
            text[1] = ""
            sub(/^SPDX.*/, "", text[1])
            while (text_lines > 1 && text[1] ~ /^ *$/) {
                for (k = 1; k < text_lines; k++) text[k] = text[k + 1]
                text_lines--
            }
            summary = literal(text[1]) (text[1] ~ /[.]$/ ? "" : ".")
            s = render(text_lines)
            if (header != "gpuopt.h") emit("/** @file\n@brief " s "\n*/")
            else {
                emit("/** @file\n@brief " summary " @ref overview says what holds for all of it. */")
                emit("/** @defgroup overview Overview, and what holds for every family\n" s "\n*/")
            }
        } else if (s ~ /^\/\* ---- /) {
            i = section(i)
        } else if (s ~ /^ *\/\*/) {
            i = read_comment(i, index(s, "/*") + 3)
            comment = render(text_lines)
            # Text of its own, between declarations, belongs to the section; the anchor has its line of the output.
            if (line[i + 1] ~ /^ *$/) {
                if (sections) {
                    comment = "\n\n@anchor text_" emitted + 1 "\n" comment
                    emit("/** @} */\n/** @addtogroup " part sections comment "\n@{ */")
                }
                continue
            }
            ahead = comment
        } else if (s ~ /^#/) {
            if (s ~ /^#define GPUOPT__/ || s ~ /^#define .*_H$/) s = ""
            # What C++ sees at the end is in no section.
            if (s ~ /^#ifdef __cplusplus/ && sections) {
                emit("/** @} */")
                sections = 0
            }
            if (s ~ /^#define/ && ahead != "") emit("/** " briefly(ahead) " */")
            if (s ~ /^#define/ && match(s, / *\/\* /)) {
                k = RSTART
                i = read_comment(i, RSTART + RLENGTH)
                emit("/** " briefly(render(text_lines)) " */")
                s = substr(s, 1, k - 1)
            }
            ahead = ""
            emit(s)
            while (s ~ /\\$/) emit(s = line[++i])
        } else {
            if (s ~ /^typedef (struct|union) .*\{$/ || s ~ /^struct .*\{$/) opens = 1
            if (s ~ /^(typedef )?enum .*\{$/) in_enum = 1
            if (s ~ /^\}/) in_struct = in_enum = 0
            # A declaration may take several lines; its comment may stand behind the last.
            k = index(s, "/*")
            if (k == 0 && in_struct && s !~ /;/ && s ~ /[a-z_0-9]$/) {
                line[i + 1] = s " " trim(line[i + 1])
                continue
            }
            if (k == 0 && s ~ /,$/ && s ~ /^(GPUOPT_API|extern) /) {
                line[i + 1] = s " " trim(line[i + 1])
                continue
            }
            if (k == 0 && s ~ /,$/ && s !~ /^ +GPUOPT_/) {
                line[i + 1] = s " " trim(line[i + 1])
                continue
            }
            if (k && s !~ /^struct [A-Za-z_0-9]+;/) {
                i = read_comment(i, k + 3)
                s = substr(s, 1, k - 1)
                sub(/ +$/, "", s)
                comment = render(text_lines)
                ahead = ahead == "" ? comment : ahead "\n\n" comment
            } else if (k) s = substr(s, 1, k - 1)
            if (s ~ /^ *$/) emit(s)
            else {
                declare(s, ahead)
                ahead = ""
            }
            if (opens) in_struct = 1
            opens = 0
        }
    }
    if (sections) emit("/** @} */")
}
