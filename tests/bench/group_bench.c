/* SPDX-License-Identifier: MIT
 *
 * Times work that the ranks of a group share: batches of nodes, children and programs, probing, knapsack searches,
 * eliminations. Ranks are threads with separate contexts, on the GPU on separate devices.
 *     group_bench BACKEND [--ranks N,...] [--device N] [--devices N] [--repeat N]
 *                 [--models "NAME;NAME..."] [--nodes N] [--decisions N,...]
 *                 [--knapsack "NAME;NAME..."] [--search breadth|dominance] [--pool N]
 *                 [--by group|deal] [--share-from N] [--round N]
 *                 [--graphical "NAME;NAME..."] [--memory MIB] [--dealt "NAME;NAME..."]
 * BACKEND: cpu or cuda; --device: of rank 0, the others have the next devices; --devices: how many devices they use in
 * turn, so with 1 all share one. NAME: of a model as in propagator_batch.h, of a knapsack as in examples/io/knapsack.h,
 * of a graphical model as in examples/io/graphical.h. --dealt: children:MODEL (strong branching on the first columns),
 * programs:COUNT (of 50 rows and 100 columns, from data to solutions) or probing:MODEL. "" leaves a table out. --by:
 * whether a knapsack's handle has the group, and shares levels of --share-from nodes (0: the library's choice), or the
 * caller deals nodes out (examples/io/knapsack_ranks.h), with --round nodes between exchanges. --pool: nodes, 0: the
 * library's choice; --memory: of a rank. One rank has no group, except for knapsacks. Medians of N runs after one that
 * is not counted; each run begins when all ranks are ready, and ends with the last. Times in ms:
 *     run          batches: _run with nodes and reports in host memory; eliminations: all steps
 *     own, all     _get_changes of a rank's own nodes, and of all on each rank
 *     ms, items    a search for the optimum and its items, without _create; by group: of it, finding the items, on rank
 *     0
 *     work         the largest rank's part of the entries that were evaluated, or of the nodes after the common ones
 *     common       nodes that all ranks expand before they part; by group: not counted
 *     moves, bytes by group: messages between ranks; rounds: steps
 *     by rank      of the run, until each rank's own steps were done; and planned operations and bytes moved
 *     times        how often the time of the first number of ranks: for the run, and for it with `own`; for
 *                  eliminations, for run and assign
 *     same         whether outcomes, rounds and columns of all nodes, optimum and items, or cost and assignment equal
 *                  the first number of ranks'
 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/group_bench.h"

/* ---- Ranks ---- */

static void log_message(void *user, int level, const char *message) {
    if (level <= 1) fprintf(stderr, "%s: %s\n", ((const member *)user)->name, message);
}

static gpuopt_status open_rank(member *m) {
    gpuopt_context_desc desc = GPUOPT_INIT(gpuopt_context_desc);
    gpuopt_status status = GPUOPT_ERROR_UNSUPPORTED;
    snprintf(m->name, sizeof m->name, "rank %d", m->rank);
    m->machine.name = m->name;
    desc.user = m;
    desc.log = log_message;
    desc.backend = gpuopt_backend_cpu();
#ifdef TEST_WITH_CUDA
    if (strcmp(m->job->o->backend, "cuda") == 0) {
        desc.backend = gpuopt_backend_cuda();
        desc.device = (int32_t)(m->job->o->device + (m->job->o->devices ? m->rank % m->job->o->devices : m->rank));
    }
#endif
    status = gpuopt_context_create(&desc, &m->context);
    m->machine.context = m->context;
    if (m->job->ranks == 1) return status;
    if (status) m->transport.abort(m->transport.user);
    return status ? status : gpuopt_group_create(m->context, &m->transport, NULL, &m->group);
}

double begin(member *m) {
    if (m->group && gpuopt_group_agree(m->group, NULL, 0)) m->failed = 1;
    return now();
}

double ended(member *m, double start) {
    double taken = now() - start;
    if (m->group && gpuopt_group_all_reduce(m->group, GPUOPT_REDUCE_MAX, 1, NULL, &taken)) m->failed = 1;
    return taken;
}

/* ---- Batches ---- */

/* A batch with capacity for the changes of a rank's nodes, found by a run; and as much work. */
static gpuopt_propagator_batch *make_batch(member *m, gpuopt_propagator *base, int32_t *ran_by, work **w) {
    const job *j = m->job;
    const int32_t nodes = (int32_t)j->o->nodes, cols = j->model->matrix.cols;
    gpuopt_propagator_batch_desc desc = GPUOPT_INIT(gpuopt_propagator_batch_desc);
    gpuopt_propagator_batch *batch = NULL;
    double *ub = (double *)work_memory((size_t)cols, sizeof *ub);
    int64_t share[MOST_RANKS] = {0}, all = 0;
    int32_t k;
    int pass, r;
    gpuopt_status status = gpuopt_propagator_get_bounds(base, GPUOPT_HOST, 0, NULL, NULL, ub);
    desc.nodes = nodes;
    desc.group = m->group;
    desc.changes = (int64_t)j->decisions * ((nodes + j->ranks - 1) / j->ranks);
    for (pass = 0; pass < 2 && !status; pass++) {
        *w = work_make(nodes, j->decisions, cols, ub, all);
        (*w)->report.rank = ran_by;
        status = gpuopt_propagator_batch_create(base, &desc, NULL, &batch);
        if (pass == 1 || status) break;
        status = gpuopt_propagator_batch_run(batch, GPUOPT_HOST, &(*w)->nodes, 1000, &(*w)->report);
        for (k = 0; k < nodes; k++) share[j->ranks > 1 ? ran_by[k] : 0] += (*w)->report.columns[k];
        for (r = 0; r < j->ranks; r++) {
            all += share[r];
            if (share[r] > desc.changes) desc.changes = share[r];
        }
        gpuopt_propagator_batch_destroy(batch);
        work_free(*w);
        batch = NULL;
    }
    free(ub);
    if (!status) return batch;
    failed(&m->machine, "batch", "create or run", status);
    m->failed = 1;
    return NULL;
}

/* Notes the results of rank 0. */
static void note(job *j, const work *w, const int32_t *ran_by) {
    double part[MOST_RANKS] = {0}, sum = 0;
    int32_t k;
    int r;
    j->seen = 0;
    for (k = 0; k < w->nodes.count; k++) {
        j->seen = (j->seen ^ (uint64_t)w->report.outcome[k]) * 0x100000001b3u;
        j->seen = (j->seen ^ (uint64_t)w->report.rounds[k]) * 0x100000001b3u;
        j->seen = (j->seen ^ (uint64_t)w->report.columns[k]) * 0x100000001b3u;
        part[j->ranks > 1 ? ran_by[k] : 0] += (double)w->report.nonzeros[k];
        sum += (double)w->report.nonzeros[k];
    }
    for (r = 0, j->share = 0; r < j->ranks; r++)
        if (part[r] / sum > j->share) j->share = part[r] / sum;
}

static double time_changes(member *m, gpuopt_propagator_batch *batch, work *w, int own) {
    double taken[MOST_REPEATS];
    int k, repeat = (int)m->job->o->repeat;
    w->changes.own = own;
    for (k = -1; k < repeat && !m->failed; k++) {
        double start = begin(m);
        gpuopt_status status = gpuopt_propagator_batch_get_changes(batch, GPUOPT_HOST, &w->changes);
        if (status) m->failed = 1, failed(&m->machine, "batch", "get_changes", status);
        taken[k < 0 ? 0 : k] = ended(m, start);
    }
    return m->failed ? 0 : median(taken, repeat);
}

static void run_batches(member *m) {
    job *j = m->job;
    gpuopt_propagator_desc desc = mip_propagator_desc(j->model);
    gpuopt_propagator *base = NULL;
    gpuopt_propagator_batch *batch = NULL;
    int32_t *ran_by = (int32_t *)work_memory((size_t)j->o->nodes, sizeof *ran_by);
    double taken[MOST_REPEATS], run = 0, own, all;
    int k, repeat = (int)j->o->repeat;
    work *w = NULL;
    gpuopt_status status;
    desc.marking = GPUOPT_ON;
    status = gpuopt_propagator_create(m->context, &desc, NULL, &base);
    if (!status) status = gpuopt_propagator_round(base, 10000, NULL);
    if (status) m->failed = 1, failed(&m->machine, "base", "create or round", status);
    if (!m->failed) batch = make_batch(m, base, ran_by, &w);
    for (k = -1; batch && k < repeat && !m->failed; k++) {
        double start = begin(m);
        status = gpuopt_propagator_batch_run(batch, GPUOPT_HOST, &w->nodes, 1000, &w->report);
        if (status) m->failed = 1, failed(&m->machine, "batch", "run", status);
        taken[k < 0 ? 0 : k] = ended(m, start);
    }
    if (batch && !m->failed) {
        run = median(taken, repeat);
        own = time_changes(m, batch, w, 1);
        all = time_changes(m, batch, w, 0);
        if (m->rank == 0) {
            note(j, w, ran_by);
            j->run = run, j->own = own, j->all = all;
        }
    }
    if (w) work_free(w);
    free(ran_by);
    gpuopt_propagator_batch_destroy(batch);
    gpuopt_propagator_destroy(base);
}

/* ---- All ranks ---- */

static void *run_rank(void *argument) {
    member *m = (member *)argument;
    gpuopt_status status = open_rank(m);
    if (status) m->failed = 1, failed(&m->machine, "rank", "context or group", status);
    else m->job->work(m);
    if (m->failed && m->group) gpuopt_group_abort(m->group); /* so that the others do not wait */
    gpuopt_group_destroy(m->group);
    gpuopt_context_destroy(m->context);
    return NULL;
}

/* ---- A transport that counts ---- */

static gpuopt_status gathers(void *user, double seconds, gpuopt_memory_space where, const void *send, uint64_t bytes,
                             void *receive) {
    const gpuopt_transport *inner = &((member *)user)->inner;
    return inner->all_gather(inner->user, seconds, where, send, bytes, receive);
}

static gpuopt_status broadcasts(void *user, double seconds, gpuopt_memory_space where, int32_t root, void *data,
                                uint64_t bytes) {
    const gpuopt_transport *inner = &((member *)user)->inner;
    return inner->broadcast(inner->user, seconds, where, root, data, bytes);
}

static gpuopt_status sends(void *user, double seconds, gpuopt_memory_space where, int32_t to, const void *data,
                           uint64_t bytes) {
    member *m = user;
    m->sent++;
    m->bytes += (int64_t)bytes;
    return m->inner.send(m->inner.user, seconds, where, to, data, bytes);
}

static gpuopt_status receives(void *user, double seconds, gpuopt_memory_space where, int32_t from, void *data,
                              uint64_t bytes) {
    const gpuopt_transport *inner = &((member *)user)->inner;
    return inner->receive(inner->user, seconds, where, from, data, bytes);
}

static void abandons(void *user) {
    const gpuopt_transport *inner = &((member *)user)->inner;
    inner->abort(inner->user);
}

int run_job(job *j) {
    gpuopt_transport transport[MOST_RANKS];
    pthread_t thread[MOST_RANKS];
    member m[MOST_RANKS];
    int r, result = 0;
    memset(m, 0, sizeof m);
    if (gpuopt_threads_open(j->ranks, transport)) return -1;
    for (r = 0; r < j->ranks; r++) {
        m[r].job = j;
        m[r].rank = r;
        m[r].transport = m[r].inner = transport[r];
        m[r].transport.user = &m[r];
        m[r].transport.all_gather = gathers;
        m[r].transport.broadcast = broadcasts;
        m[r].transport.send = sends;
        m[r].transport.receive = receives;
        m[r].transport.abort = abandons;
        if (pthread_create(&thread[r], NULL, run_rank, &m[r])) exit(EXIT_FAILED);
    }
    for (r = 0; r < j->ranks; r++) {
        pthread_join(thread[r], NULL);
        if (m[r].failed) result = -1;
    }
    gpuopt_threads_close(transport);
    return result;
}

static int measure(job *j, const char *name) {
    const char *at = j->o->ranks;
    char word[NAME];
    int64_t ranks;
    double run = 0, own = 0;
    uint64_t seen = 0;
    for (; next_word(&at, word) && whole_number(word, MOST_RANKS, &ranks);) {
        j->ranks = (int)ranks;
        if (run_job(j)) return -1;
        if (run == 0) run = j->run, own = j->run + j->own, seen = j->seen;
        printf("| %s | %d | %d | %d | %.3f | %.3f | %.3f | %.1f%% | %.2f | %.2f | %s |\n", name, (int)j->decisions,
               (int)j->o->nodes, j->ranks, 1e3 * j->run, 1e3 * j->own, 1e3 * j->all, 100 * j->share, run / j->run,
               own / (j->run + j->own), j->seen == seen ? "yes" : "NO");
        fflush(stdout);
        if (j->seen != seen) return -1;
    }
    return 0;
}

static int measure_model(const options *o, const char *name) {
    const char *at = o->decisions;
    char word[NAME];
    int64_t decisions;
    int result = 0;
    job j;
    mip m;
    memset(&j, 0, sizeof j);
    if (work_load(name, &m)) return EXIT_BAD_INPUT;
    j.o = o;
    j.model = &m;
    j.work = run_batches;
    while (!result && next_word(&at, word) && whole_number(word, MOST_DECISIONS, &decisions)) {
        j.decisions = (int32_t)decisions;
        if (measure(&j, name)) result = EXIT_FAILED;
    }
    mip_free(&m);
    return result;
}

/* The lists of names, separated by semicolons. */
static int measure_all(const options *o, const char *names, int (*measure_one)(const options *, const char *)) {
    char name[NAME];
    const char *at;
    int result = 0;
    for (at = names; *at && !result;) {
        size_t length = strcspn(at, ";");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        at += length + (at[length] == ';');
        result = measure_one(o, name);
    }
    return result;
}

static const char *const searches[] = {"dominance", "breadth", NULL};
static const char *const ways[] = {"group", "deal", NULL};

int main(int argc, char **argv) {
    options o = {NULL,
                 "1,2",
                 "gen:rand,100000,100000,10,1;binary,10000,10",
                 "1,12",
                 "paper:200:1",
                 "breadth",
                 "group",
                 "random:18:10:0.3:1",
                 "children:gen:cover,200,400,1;programs:1000;probing:binary,10000,10",
                 0,
                 0,
                 65536,
                 5,
                 1 << 20,
                 1 << 22,
                 0,
                 0};
    int k, result = 0;
    for (k = 2; k + 1 < argc; k += 2) {
        const char *value = argv[k + 1];
        if (strcmp(argv[k], "--ranks") == 0) o.ranks = value;
        else if (strcmp(argv[k], "--models") == 0) o.models = value;
        else if (strcmp(argv[k], "--decisions") == 0) o.decisions = value;
        else if (strcmp(argv[k], "--knapsack") == 0) o.knapsack = value;
        else if (strcmp(argv[k], "--graphical") == 0) o.graphical = value;
        else if (strcmp(argv[k], "--dealt") == 0) o.dealt = value;
        else if (strcmp(argv[k], "--search") == 0 && choice(value, searches) >= 0) o.search = value;
        else if (strcmp(argv[k], "--by") == 0 && choice(value, ways) >= 0) o.by = value;
        else if (strcmp(argv[k], "--share-from") == 0 && whole_number(value, (int64_t)1 << 40, &o.share_from)) continue;
        else if (strcmp(argv[k], "--device") == 0 && strcmp(value, "0") == 0) o.device = 0;
        else if (strcmp(argv[k], "--device") == 0 && whole_number(value, 1000, &o.device)) continue;
        else if (strcmp(argv[k], "--devices") == 0 && whole_number(value, MOST_RANKS, &o.devices)) continue;
        else if (strcmp(argv[k], "--nodes") == 0 && whole_number(value, MOST_NODES, &o.nodes)) continue;
        else if (strcmp(argv[k], "--round") == 0 && whole_number(value, INT64_MAX, &o.round)) continue;
        else if (strcmp(argv[k], "--pool") == 0 && strcmp(value, "0") == 0) o.pool = 0;
        else if (strcmp(argv[k], "--pool") == 0 && whole_number(value, (int64_t)1 << 40, &o.pool)) continue;
        else if (strcmp(argv[k], "--memory") == 0 && whole_number(value, 1 << 20, &o.memory)) continue;
        else if (strcmp(argv[k], "--repeat") != 0 || !whole_number(value, MOST_REPEATS, &o.repeat)) break;
    }
    if (argc >= 2) o.backend = argv[1];
    if (argc < 2 || k != argc || (strcmp(o.backend, "cpu") != 0 && strcmp(o.backend, "cuda") != 0)) {
        fprintf(stderr, "usage: group_bench cpu|cuda [--ranks N,...] [--device N] [--devices N] [--repeat N]\n"
                        "           [--models NAME;NAME...] [--nodes N] [--decisions N,...]\n"
                        "           [--knapsack NAME;NAME...] [--search breadth|dominance] [--pool N]\n"
                        "           [--by group|deal] [--share-from N] [--round N]\n"
                        "           [--graphical NAME;NAME...] [--memory MIB] [--dealt NAME;NAME...]\n");
        return EXIT_BAD_INPUT;
    }
#ifndef TEST_WITH_CUDA
    if (strcmp(o.backend, "cuda") == 0) {
        fprintf(stderr, "group_bench: no backend cuda here\n");
        return EXIT_BAD_INPUT;
    }
#endif
    if (*o.models)
        printf("| model | decisions | nodes | ranks | run | own | all | work | times | times | same |\n"
               "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    result = measure_all(&o, o.models, measure_model);
    if (!result && *o.knapsack)
        printf("\n| knapsack | ranks | ms | items | times | nodes | common | work | rounds | moves | bytes | same |\n"
               "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    if (!result) result = measure_all(&o, o.knapsack, measure_knapsack);
    if (!result && *o.graphical)
        printf("\n| graphical | ranks | policy | create | run | by rank | assign | times | operations by rank "
               "| GB by rank | same |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    if (!result) result = measure_all(&o, o.graphical, measure_elimination);
    if (!result && *o.dealt) printf("\n| dealt | ranks | ms | times | same |\n| --- | --- | --- | --- | --- |\n");
    if (!result) result = measure_all(&o, o.dealt, measure_dealt);
    return finish_output(result);
}
