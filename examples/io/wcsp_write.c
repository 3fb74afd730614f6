/* SPDX-License-Identifier: MIT
 *
 * See wcsp_write.h; wcsp.c describes the format.
 */
#include "examples/io/wcsp_write.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

typedef struct range {
    int64_t entries; /* listed, or of the dense table */
    int64_t least, most;
    int64_t forbidden; /* how many entries are */
} range;

static int is_forbidden(const gpuopt_elimination_desc *desc, int64_t cost) {
    return cost == INT64_MAX || (desc->top > 0 && cost >= desc->top);
}

static int is_dense(const gpuopt_elimination_function *f) {
    return f->tuples < 0 || (f->tuples == 0 && !f->tuple && f->cost);
}

static void include(range *r, const gpuopt_elimination_desc *desc, int64_t cost) {
    if (is_forbidden(desc, cost)) {
        r->forbidden++;
        return;
    }
    if (cost < r->least) r->least = cost;
    if (cost > r->most) r->most = cost;
}

/* The permitted costs of a function; 0 and 0 if all are forbidden. */
static range range_of(const gpuopt_elimination_desc *desc, const gpuopt_elimination_function *f) {
    range r = {f->tuples, INT64_MAX, INT64_MIN, 0};
    if (is_dense(f)) {
        r.entries = 1;
        for (int32_t i = 0; i < f->arity; i++) r.entries *= desc->domain[f->scope[i]];
    } else include(&r, desc, f->default_cost);
    for (int64_t k = 0; k < r.entries; k++) include(&r, desc, f->cost[k]);
    if (r.least > r.most) r.least = r.most = 0;
    return r;
}

/* A function whose costs are `raised` more than in the model. Forbidden costs become top. */
static void write_function(FILE *file, const gpuopt_elimination_desc *desc, const gpuopt_elimination_function *f,
                           const range *r, int64_t raised, int64_t top) {
    int dense = is_dense(f);
    int64_t usual = dense ? (2 * r->forbidden > r->entries ? INT64_MAX : r->least) : f->default_cost, listed = 0;
    int usual_forbidden = is_forbidden(desc, usual);
    for (int64_t k = 0; dense && k < r->entries; k++)
        listed += usual_forbidden ? !is_forbidden(desc, f->cost[k]) : f->cost[k] != usual;
    fprintf(file, "%d", (int)f->arity);
    for (int32_t i = 0; i < f->arity; i++) fprintf(file, " %d", (int)f->scope[i]);
    fprintf(file, " %lld %lld\n", (long long)(usual_forbidden ? top : usual + raised),
            (long long)(dense ? listed : r->entries));
    for (int64_t k = 0; k < r->entries; k++) {
        int64_t cost = f->cost[k], rest = k, radix = r->entries;
        int forbidden = is_forbidden(desc, cost);
        if (dense && (usual_forbidden ? forbidden : cost == usual)) continue;
        for (int32_t i = 0; i < f->arity; i++) {
            int32_t value;
            if (dense) {
                radix /= desc->domain[f->scope[i]];
                value = (int32_t)(rest / radix);
                rest %= radix;
            } else value = f->tuple[k * f->arity + i];
            fprintf(file, "%d ", (int)value);
        }
        fprintf(file, "%lld\n", (long long)(forbidden ? top : cost + raised));
    }
}

int wcsp_write(const char *path, const gpuopt_elimination_desc *desc, int64_t *offset) {
    FILE *file = fopen(path, "w");
    int32_t largest = 0;
    int64_t top = 1;
    int failed;
    if (!file) return fprintf(stderr, "%s: %s\n", path, strerror(errno)), -1;
    *offset = 0;
    for (int32_t j = 0; j < desc->variables; j++)
        if (desc->domain[j] > largest) largest = desc->domain[j];
    for (int32_t k = 0; k < desc->functions; k++) {
        range r = range_of(desc, &desc->function[k]);
        if (r.least < 0) *offset += r.least;
        top += r.least < 0 ? r.most - r.least : r.most;
    }
    if (desc->top > 0 && desc->top - *offset < top) top = desc->top - *offset;
    if (top < 1) top = 1;
    fprintf(file, "gpuopt %d %d %d %lld\n", (int)desc->variables, (int)largest, (int)desc->functions, (long long)top);
    for (int32_t j = 0; j < desc->variables; j++) fprintf(file, "%d ", (int)desc->domain[j]);
    fputc('\n', file);
    for (int32_t k = 0; k < desc->functions; k++) {
        range r = range_of(desc, &desc->function[k]);
        write_function(file, desc, &desc->function[k], &r, r.least < 0 ? -r.least : 0, top);
    }
    failed = ferror(file);
    if (fclose(file) || failed) return fprintf(stderr, "%s: cannot be written\n", path), -1;
    return 0;
}
