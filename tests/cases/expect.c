/* SPDX-License-Identifier: MIT
 *
 * Usage: expect FILE MEMBERS [BOUNDS]
 *
 * FILE must be a single line of valid JSON (RFC 8259): an object with these MEMBERS, "name=value;...", "-" for none. A
 * number may be off by 1e-6, relative above 1, unless both are written as integers; strings must be the same.
 * "bounds.NAME=LOW HIGH" refers to the file BOUNDS, with lines "NAME LOW HIGH". The interval of that name there must
 * contain this one, and be larger by at most that tolerance. Prints the differences on one line; exit status 1 if there
 * are any.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 20, MOST_MEMBERS = 200, DEEPEST = 20 };
enum kind { STRING, NUMBER, OTHER };

typedef struct member {
    char *name, *text; /* a string without quotes and escapes; else as written */
    enum kind kind;
} member;

static member members[MOST_MEMBERS];
static int member_count;

static _Noreturn void invalid(const char *what) {
    printf("%s\n", what);
    exit(1);
}

/* ---- Reading JSON ---- */

static char input[MOST_BYTES + 1]; /* ends with a 0, which no rule accepts */
static const char *at;

static _Noreturn void invalid_here(const char *what) {
    const char *shown = at;
    printf("no JSON, byte %d: %s at <", (int)(at - input), what);
    while (*shown && shown < at + 20)
        printf(isprint((unsigned char)*shown) ? "%c" : "\\x%02x", (unsigned char)*shown), shown++;
    printf(">\n");
    exit(1);
}

static int accept(char c) { return *at == c ? at++, 1 : 0; }

static void blanks(void) {
    while (*at == ' ' || *at == '\t' || *at == '\r') at++; /* a line: no newline */
}

static unsigned hex4(void) {
    unsigned code = 0;
    int k;
    for (k = 0; k < 4; k++, at++) {
        if (!isxdigit((unsigned char)*at)) invalid_here("not a hexadecimal digit");
        code = code * 16 + (unsigned)(isdigit((unsigned char)*at) ? *at - '0' : tolower((unsigned char)*at) - 'a' + 10);
    }
    return code;
}

static char *put_utf8(char *to, unsigned code) {
    if (code < 0x80) *to++ = (char)code;
    else {
        int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        *to++ = (char)((0xff80 >> more & 0xff) | code >> 6 * more);
        while (more-- > 0) *to++ = (char)(0x80 | (code >> 6 * more & 0x3f));
    }
    return to;
}

static char *escape(char *to) {
    static const char letters[] = "\"\\/bfnrt", stands[] = "\"\\/\b\f\n\r\t";
    const char *letter = *at ? strchr(letters, *at) : NULL;
    unsigned code;
    if (letter) return at++, *to++ = stands[letter - letters], to;
    if (!accept('u')) invalid_here("no such escape");
    code = hex4();
    if (code >= 0xd800 && code < 0xdc00) {
        unsigned low = accept('\\') && accept('u') ? hex4() : 0;
        if (low < 0xdc00 || low > 0xdfff) invalid_here("half of a pair");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xdc00 && code < 0xe000) invalid_here("half of a pair");
    return put_utf8(to, code);
}

/* A character of more than one byte. */
static char *multibyte(char *to) {
    static const unsigned least[] = {0, 0x80, 0x800, 0x10000};
    unsigned char first = (unsigned char)*at;
    int more = first >= 0xf0 && first < 0xf8   ? 3
               : first >= 0xe0 && first < 0xf0 ? 2
               : first >= 0xc0 && first < 0xe0 ? 1
                                               : 0,
        k;
    unsigned code = first & (0x3fu >> more);
    for (k = 1; k <= more; k++) {
        if (((unsigned char)at[k] & 0xc0) != 0x80) invalid_here("not UTF-8");
        code = code << 6 | ((unsigned char)at[k] & 0x3f);
    }
    if (!more || code < least[more] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) invalid_here("not UTF-8");
    at += more + 1;
    return put_utf8(to, code);
}

static char *string(void) {
    char *text, *to;
    if (!accept('"')) invalid_here("not a string");
    to = text = malloc(strlen(at) + 1);
    if (!text) invalid("no memory");
    while (!accept('"')) {
        if (accept('\\')) to = escape(to);
        else if ((unsigned char)*at < 0x20) invalid_here("a control character in a string");
        else if ((unsigned char)*at >= 0x80) to = multibyte(to);
        else *to++ = *at++;
    }
    *to = 0;
    return text;
}

static void digits(void) {
    if (!isdigit((unsigned char)*at)) invalid_here("not a digit");
    while (isdigit((unsigned char)*at)) at++;
}

static void number(void) {
    accept('-');
    if (!accept('0')) digits();
    if (accept('.')) digits();
    if (accept('e') || accept('E')) {
        if (!accept('+')) accept('-');
        digits();
    }
}

static void word(const char *expected) {
    if (strncmp(at, expected, strlen(expected)) != 0) invalid_here("not a value");
    at += strlen(expected);
}

static char *value(int depth, enum kind *kind);

/* An object or an array; members of the outermost object are kept. */
static void list(int depth, char end) {
    if (depth > DEEPEST) invalid_here("too deep");
    blanks();
    if (accept(end)) return;
    do {
        enum kind kind = OTHER;
        char *name = NULL, *text;
        blanks();
        if (end == '}') {
            name = string();
            blanks();
            if (!accept(':')) invalid_here("no colon");
            blanks();
        }
        text = value(depth + 1, &kind);
        blanks();
        if (depth == 0) {
            int k;
            for (k = 0; k < member_count; k++)
                if (strcmp(members[k].name, name) == 0) invalid_here("a name twice");
            if (member_count == MOST_MEMBERS) invalid_here("too many members");
            members[member_count].name = name, members[member_count].text = text;
            members[member_count++].kind = kind;
        } else free(name), free(text);
    } while (accept(','));
    if (!accept(end)) invalid_here("no end of a list");
}

static char *value(int depth, enum kind *kind) {
    const char *begin = at;
    char *text;
    if (*at == '"') return *kind = STRING, string();
    if (accept('{')) list(depth, '}');
    else if (accept('[')) list(depth, ']');
    else if (*at == 't' || *at == 'f' || *at == 'n') word(*at == 't' ? "true" : *at == 'f' ? "false" : "null");
    else *kind = NUMBER, number();
    text = calloc((size_t)(at - begin) + 1, 1);
    if (!text) invalid("no memory");
    memcpy(text, begin, (size_t)(at - begin));
    return text;
}

static void read_json(const char *name) {
    FILE *file = fopen(name, "rb");
    size_t length;
    if (!file) invalid("no output");
    length = fread(input, 1, MOST_BYTES, file);
    fclose(file);
    if (length == 0) invalid("nothing on stdout");
    at = input;
    if (!accept('{')) invalid_here("not an object");
    list(0, '}');
    accept('\n');
    if (at != input + length) invalid_here("more than one object on a line");
}

/* ---- Comparing ---- */

static const char *differs; /* before the next difference */
static void differ(const char *name, const char *found, const char *expected) {
    printf("%s%s %s, not %s", differs ? differs : "", name, found, expected);
    differs = "; ";
}

static int is_integer(const char *text) { return text[text[0] == '-'] && !text[strspn(text, "-0123456789")]; }

static int near(double found, double expected) { return fabs(found - expected) <= 1e-6 * fmax(1, fabs(expected)); }

static int same_number(const char *found, const char *expected) {
    char *end;
    double right = strtod(expected, &end);
    if (end == expected || *end) return 0;
    if (is_integer(found) && is_integer(expected)) {
        long long a, b;
        errno = 0;
        a = strtoll(found, NULL, 10), b = strtoll(expected, NULL, 10);
        return errno ? strcmp(found, expected) == 0 : a == b;
    }
    return near(strtod(found, NULL), right);
}

static void compare_member(const char *name, const char *expected) {
    int k;
    for (k = 0; k < member_count; k++) {
        const member *m = &members[k];
        if (strcmp(m->name, name) != 0) continue;
        if (m->kind == NUMBER ? !same_number(m->text, expected) : strcmp(m->text, expected) != 0)
            differ(name, m->text, expected);
        return;
    }
    differ(name, "missing", expected);
}

static void compare_bounds(const char *file_name, const char *name, const char *expected) {
    FILE *file = file_name ? fopen(file_name, "r") : NULL;
    char line[300], found[256] = "", text[100] = "missing";
    double low = 0, high = 0, least, most;
    if (sscanf(expected, "%lf %lf", &least, &most) != 2) invalid("bounds are LOW HIGH");
    while (file && strcmp(found, name) != 0 && fgets(line, sizeof line, file))
        if (sscanf(line, "%255s %lf %lf", found, &low, &high) != 3) found[0] = 0;
    if (file) fclose(file);
    if (strcmp(found, name) == 0) {
        if (low <= least && high >= most && near(low, least) && near(high, most)) return;
        snprintf(text, sizeof text, "[%.17g, %.17g]", low, high);
    }
    differ(name, text, expected);
}

int main(int argc, char **argv) {
    char *pair, *value_of;
    if (argc < 3 || argc > 4) {
        fprintf(stderr, "usage: expect FILE MEMBERS [BOUNDS]\n");
        return 2;
    }
    read_json(argv[1]);
    if (strcmp(argv[2], "-") == 0) return 0;
    for (pair = strtok(argv[2], ";"); pair; pair = strtok(NULL, ";")) {
        value_of = strchr(pair, '=');
        if (!value_of) invalid("members are NAME=VALUE");
        *value_of++ = 0;
        if (strncmp(pair, "bounds.", 7) == 0) compare_bounds(argc > 3 ? argv[3] : NULL, pair + 7, value_of);
        else compare_member(pair, value_of);
    }
    if (differs) printf("\n");
    return differs != NULL;
}
