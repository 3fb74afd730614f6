/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "examples/common.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "examples/io/utf8.h"

const char *const backends[] = {"auto", "cpu", "cuda", NULL};

int choice(const char *word, const char *const *choices) {
    int k;
    for (k = 0; choices[k]; k++)
        if (strcmp(word, choices[k]) == 0) return k;
    return -1;
}

int whole_number(const char *word, int64_t most, int64_t *value) {
    char *end;
    long long x;
    errno = 0;
    x = strtoll(word, &end, 10);
    if (errno || *end || end == word || x < 1 || x > most) return 0;
    *value = x;
    return 1;
}

int finish_output(int result) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return result;
    fprintf(stderr, "standard output: cannot be written: %s\n", strerror(errno));
    return EXIT_BAD_INPUT;
}

/* ---- The command line ---- */

static int log_level = 1; /* errors and warnings */

/* The name is the second word of the usage. */
static void print_version(const char *usage) {
    const char *name = usage + strlen("usage: ");
    int number = gpuopt_version_number();
    printf("%.*s (gpuopt) %d.%d.%d\n", (int)strcspn(name, " \n"), name, number / 10000, number / 100 % 100,
           number % 100);
}

static const char *const shared_values[] = {"seconds", NULL};
static const char *const shared_flags[] = {"json", "log", "version", "help", NULL};

/* Like take() of parse_options(). --help and --version end the program. */
static int take_shared(const char *name, const char *value, const char *usage, int *json) {
    if (strcmp(name, "seconds") == 0) {
        char *end;
        double seconds = strtod(value, &end);
        interrupt_limit(seconds);
        return end != value && !*end && seconds > 0 && isfinite(seconds);
    }
    if (strcmp(name, "json") == 0) return *json = 1;
    if (strcmp(name, "log") == 0) return log_level = 2;
    if (strcmp(name, "version") == 0) print_version(usage);
    else fputs(usage, stdout);
    exit(finish_output(0));
}

enum { MOST_OPTIONS = 40 };

/* Appends options with these names, which NULL ends, to the first `count`. Returns how many there are then. */
static int add_options(struct option *known, int count, const char *const *name, int has_value) {
    for (; name && *name && count < MOST_OPTIONS - 1; name++)
        known[count++] = (struct option){*name, has_value ? required_argument : no_argument, NULL, 0};
    return count;
}

int parse_options(int argc, char **argv, const char *usage, const char *const *values, const char *const *flags,
                  int (*take)(void *options, const char *name, const char *value), void *options, const char **model,
                  int *json) {
    enum { OPERAND = 1 };
    struct option known[MOST_OPTIONS] = {{0}};
    const int own = add_options(known, add_options(known, 0, values, 1), flags, 0);
    int k, code;
    add_options(known, add_options(known, own, shared_values, 1), shared_flags, 0);
    signal(SIGPIPE, SIG_IGN);
    opterr = 0;
    /* The - of "-:" asks for files in their place among the options, the : for a code when a value is missing. */
    while ((code = getopt_long(argc, argv, "-:", known, &k)) != -1) {
        const char *word = argv[optind - 1], *value = optarg ? optarg : "";
        if (code == OPERAND) {
            if (!*model) *model = value;
            else if (!take(options, "", value)) {
                fprintf(stderr, "two models: %s and %s\n", *model, value);
                return -1;
            }
        } else if (code == ':') {
            fprintf(stderr, "%s: bad value ''\n%s", word, usage);
            return -1;
        } else if (code == '?') {
            if (optopt) fprintf(stderr, "unknown option -%c\n%s", optopt, usage);
            else fprintf(stderr, "unknown option %s\n%s", word, usage);
            return -1;
        } else if (!(k < own ? take(options, known[k].name, value) : take_shared(known[k].name, value, usage, json))) {
            fprintf(stderr, "--%s: bad value '%s'\n%s", known[k].name, value, usage);
            return -1;
        }
    }
    if (!*model && optind < argc) *model = argv[optind++]; /* after a -- */
    if (!*model || optind < argc) fputs(usage, stderr);
    return *model && optind == argc ? 0 : -1;
}

double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- What goes to stderr ---- */

static int progress_length; /* of the line that is there; 0: none */

int progress_is_seen(void) { return isatty(STDERR_FILENO); }

/* The terminal's own width. COLUMNS can reduce it, and replaces it if the terminal does not report one. */
static int terminal_width(void) {
    const char *columns = getenv("COLUMNS");
    struct winsize size;
    int64_t width;
    int known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    if (columns && whole_number(columns, known ? size.ws_col : 10000, &width)) return (int)width;
    return known ? size.ws_col : 80;
}

void progress(const char *format, ...) {
    static double shown = -HUGE_VAL;
    enum { LONGEST = 512 };
    char line[LONGEST];
    int length, width = terminal_width() - 1; /* a full line would wrap on some terminals */
    va_list values;
    if (!progress_is_seen() || now() - shown < 0.1) return;
    shown = now();
    va_start(values, format);
    vsnprintf(line, sizeof line, format, values);
    va_end(values);
    length = (int)strlen(line);
    if (length > width) length = width;
    if (progress_length > width) progress_length = width; /* the terminal has become narrower */
    fprintf(stderr, "\r%.*s%*s", length, line, progress_length > length ? progress_length - length : 0, "");
    progress_length = length;
}

void progress_end(void) {
    if (progress_length == 0) return; /* as in the threads of ranks, which show none */
    fputc('\n', stderr);
    progress_length = 0;
}

void write_log(const log_printer *printer, int level, const char *message) {
    if (level > log_level || printer->quiet) return;
    progress_end();
    fprintf(stderr, "%s: %s\n", printer->name, message);
}

static void log_message(void *user, int level, const char *message) { write_log(user, level, message); }

/* ---- Contexts ---- */

gpuopt_status open_context(const char *wanted, int try_gpu, int threads, log_printer *printer, gpuopt_context **context,
                           const char **backend) {
    return open_context_on(0, wanted, try_gpu, threads, printer, context, backend);
}

gpuopt_status open_context_on(int device, const char *wanted, int try_gpu, int threads, log_printer *printer,
                              gpuopt_context **context, const char **backend) {
    gpuopt_context_desc desc;
    int cuda = strcmp(wanted, "cuda") == 0, automatic = strcmp(wanted, "auto") == 0 && try_gpu;
    gpuopt_status status = GPUOPT_ERROR_UNSUPPORTED;
    gpuopt_desc_init(&desc, sizeof desc);
    desc.threads = threads;
    desc.device = device;
    desc.user = printer;
    desc.log = log_message;
    desc.stop = interrupted;
    *context = NULL;
#ifdef EXAMPLE_WITH_CUDA
    printer->quiet = automatic;
    desc.backend = gpuopt_backend_cuda();
    if (cuda || automatic) status = gpuopt_context_create(&desc, context);
    printer->quiet = 0;
#else
    (void)automatic;
    if (cuda) {
        const char *reason = NULL;
        desc.backend = gpuopt_backend_cuda_load(NULL, &reason);
        if (desc.backend) status = gpuopt_context_create(&desc, context);
        else fprintf(stderr, "this program was built without CUDA, and cannot load it: %s\n", reason);
    }
#endif
    if (status && !cuda) {
        desc.backend = gpuopt_backend_cpu();
        status = gpuopt_context_create(&desc, context);
    }
    *backend = gpuopt_backend_name(desc.backend);
    return status;
}

/* ---- Output ---- */

static void print_text(FILE *to, const char *text) {
    size_t step;
    for (; *text; text += step ? step : 1) {
        step = utf8_printable(text);
        if (step) fwrite(text, 1, step, to);
        else fprintf(to, "\\x%02X", (unsigned)(unsigned char)*text);
    }
}

void print_name(FILE *to, char **name, char letter, int k) {
    if (!name) fprintf(to, "%c%d", letter, k);
    else if (to == stdout || to == stderr) print_text(to, name[k]);
    else fputs(name[k], to); /* a file, which contains only the model's names */
}

void print_pairs(FILE *to, char **name, char letter, int count, const double *a, const double *b) {
    int k;
    for (k = 0; k < count; k++) {
        print_name(to, name, letter, k);
        fprintf(to, " %.17g %.17g\n", a[k], b[k]);
    }
}

void print_json_string(const char *text) {
    size_t step;
    putchar('"');
    for (; *text; text += step ? step : 1) {
        unsigned char c = (unsigned char)*text;
        step = utf8_length(text);
        if (c == '"' || c == '\\') printf("\\%c", c);
        else if (c < 0x20 || c == 0x7F) printf("\\u%04x", (unsigned)c);
        else if (step) fwrite(text, 1, step, stdout);
        else printf("\\\\x%02X", (unsigned)c);
    }
    putchar('"');
}

void print_json_value(double value) {
    if (isfinite(value)) printf("%.17g", value);
    else printf("null");
}

void print_json_number(const char *name, double value, int known) {
    printf(", \"%s\": ", name);
    print_json_value(known ? value : NAN);
}

int close_written(FILE *file, const char *path) {
    int failed = !file;
    if (file) failed = ferror(file) | fclose(file);
    if (failed) fprintf(stderr, "%s: cannot be written: %s\n", path, strerror(errno));
    return failed ? -1 : 0;
}
