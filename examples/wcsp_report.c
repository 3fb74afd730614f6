/* SPDX-License-Identifier: MIT */
#include "examples/wcsp_report.h"

#include <math.h>
#include <stdio.h>

#include "examples/common.h"

const char *const tasks[] = {"min", "count", "logz", NULL};
const char *const policies[] = {"auto", "exact", "drop", "recompute", "slice", "stream", "mini-bucket", NULL};

static int infeasible(const wcsp_answer *a) { return a->info.outcome == GPUOPT_INFEASIBLE; }

/* ---- JSON ---- */

/* A relaxation's bound, a part of a cost, in the units of the file. */
static double in_file(const graphical_model *model, double bound) {
    if (model->type == GPUOPT_COST_DOUBLE) return bound;
    bound = (bound + (double)model->shift) / pow(10, model->places);
    return model->maximised ? -bound : bound;
}

/* Prints a number in the type of the model, and in the units of its file. */
static void print_cost(const char *name, const graphical_model *model, int64_t cost, double real, int known) {
    char text[GRAPHICAL_COST_TEXT];
    if (!known || model->type == GPUOPT_COST_DOUBLE) {
        print_json_number(name, real, known);
    } else {
        graphical_cost_text(model, cost, text);
        printf(", \"%s\": %s", name, text);
    }
}

static void print_json_task(const graphical_model *model, const wcsp_answer *a) {
    int known = !infeasible(a) && !a->unknown;
    /* ln Z has no assignment: its upper bound is the value itself. */
    int upper = a->task == TASK_LOGZ ? known : a->assigned, lower = known && (a->task != TASK_LOGZ || a->exact);
    /* If costs are negated, their lower bound is an upper bound. */
    if (model->maximised) print_cost("lower_bound", model, a->cost, 0, upper);
    print_cost(model->maximised ? "upper_bound" : "lower_bound", model, a->info.cost, a->info.value, lower);
    if (!model->maximised)
        print_cost("upper_bound", model, a->cost, a->task == TASK_LOGZ ? a->info.value : a->real, upper);
    printf(", \"optimal\": %s", known && a->exact ? "true" : "false");
    if (a->task == TASK_COUNT) {
        if (a->info.count_overflow || a->unknown) printf(", \"count\": null");
        else printf(", \"count\": %llu", (unsigned long long)a->info.count);
        printf(", \"count_overflow\": %s", a->info.count_overflow ? "true" : "false");
    }
    if (a->task == TASK_LOGZ) print_cost("logz", model, 0, a->info.value, known);
}

/* The model as it was read, and as it was reduced. */
static void print_json_model(const graphical_model *model, const wcsp_answer *a) {
    printf(", \"variables\": %d, \"functions\": %d, \"max_domain\": %d", (int)(model->variables - model->hidden),
           (int)model->functions, (int)model->max_domain);
    if (model->hidden) printf(", \"hidden_variables\": %d", (int)model->hidden);
    if (a->reduction.rules) {
        const gpuopt_elimination_preprocessing_info *r = &a->reduction;
        printf(", \"reduced_variables\": %d, \"reduced_functions\": %d, \"reduced_entries\": %lld", (int)r->variables,
               (int)a->reduced_functions, (long long)r->entries);
        printf(", \"variables_fixed\": %d, \"variables_degree\": %d, \"variables_functional\": %d",
               (int)r->variables_fixed, (int)r->variables_degree, (int)r->variables_functional);
        printf(", \"functions_joined\": %d, \"functions_split\": %d", (int)r->functions_joined,
               (int)r->functions_split);
        printf(", \"values_forbidden\": %lld, \"values_dominated\": %lld, \"values_bounded\": %lld",
               (long long)r->values_forbidden, (long long)r->values_dominated, (long long)r->values_bounded);
        printf(", \"entries_bounded\": %lld, \"reduction_work\": %lld, \"reduce_seconds\": %.9f",
               (long long)r->entries_bounded, (long long)r->work, a->reduce_seconds);
    }
}

void print_json(const graphical_model *model, const wcsp_answer *a) {
    const gpuopt_elimination_estimate *e = &a->estimate;
    printf("{\"model\": ");
    print_json_string(a->model);
    printf(", \"backend\": \"%s\", \"threads\": %d, \"task\": \"%s\", \"policy\": \"%s\", \"bits\": %d", a->backend,
           a->threads, tasks[a->task], policies[e->policy], (int)e->bits);
    print_json_model(model, a);
    printf(", \"width\": %d, \"z\": %d, \"sliced\": %d, \"slices\": %lld, \"messages\": %d", (int)e->width, (int)e->z,
           (int)e->sliced, (long long)e->slices, (int)e->messages);
    print_json_number("operations", e->operations, 1);
    printf(", \"peak_bytes_predicted\": %llu, \"peak_bytes\": %llu", (unsigned long long)a->peak_predicted,
           (unsigned long long)a->peak);
    if (a->ranks > 1) {
        printf(", \"ranks\": %d, \"split\": %d", a->ranks, (int)e->split);
        print_json_number("exchanged_bytes", e->exchanged, 1);
    }
    printf(", \"status\": \"%s\"", infeasible(a) ? "infeasible"
                                   : a->exact    ? "optimal"
                                   : a->stopped  ? "limit"
                                                 : "bounded");
    print_json_task(model, a);
    if (a->relaxation.scale) {
        printf(", \"relax_iterations\": %d", (int)a->relaxation.iterations);
        print_json_number("relax_bound", in_file(model, a->bound), !a->unknown && !infeasible(a));
        printf(", \"relax_seconds\": %.9f", a->relax_seconds);
    }
    if (a->distributed) {
        const agents_answer *d = &a->agents;
        printf(", \"agents\": %d, \"parts\": %d, \"util_messages\": %lld, \"value_messages\": %lld", (int)d->agents,
               (int)d->parts, (long long)d->util_messages, (long long)d->value_messages);
        printf(
            ", \"util_bytes\": %llu, \"value_bytes\": %llu, \"message_bytes\": %llu, \"largest_message_bytes\": %llu",
            (unsigned long long)d->util_bytes, (unsigned long long)d->value_bytes,
            (unsigned long long)(d->util_bytes + d->value_bytes), (unsigned long long)d->largest_bytes);
        printf(", \"simulated_seconds\": %.9f, \"work_seconds\": %.9f", d->simulated_seconds, d->work_seconds);
    }
    printf(", \"order_seconds\": %.9f, \"seconds\": %.9f, \"eliminate_seconds\": %.9f, \"read_seconds\": %.6f}\n",
           a->order_seconds, a->seconds, a->eliminate_seconds, a->read_seconds);
}

void print_plans_json(const graphical_model *model, const wcsp_answer *a) {
    int k;
    printf("{\"model\": ");
    print_json_string(a->model);
    printf(", \"backend\": \"%s\", \"task\": \"%s\"", a->backend, tasks[a->task]);
    print_json_model(model, a);
    printf(", \"order_seconds\": %.9f, \"limit\": %llu, \"policy\": ", a->order_seconds, (unsigned long long)a->limit);
    if (a->chosen) printf("\"%s\"", policies[a->chosen]);
    else printf("null");
    for (k = 1; policies[k]; k++) {
        const wcsp_plan *p = &a->plan[k];
        const gpuopt_elimination_estimate *e = &p->estimate;
        printf("%s\"%s\": ", k == 1 ? ", \"plans\": {" : ", ", policies[k]);
        if (!p->known) {
            printf("null");
            continue;
        }
        printf("{\"fits\": %s, \"bytes\": %llu", p->fits ? "true" : "false", (unsigned long long)p->bytes);
        print_json_number("operations", e->operations, 1);
        printf(", \"width\": %d", (int)e->width);
        print_json_number("largest", e->largest, 1);
        printf(", \"messages\": %d, \"bits\": %d, \"passes\": %d, \"slices\": %lld, \"z\": %d}", (int)e->messages,
               (int)e->bits, (int)e->passes, (long long)e->slices, (int)e->z);
    }
    printf("}}\n");
}

/* ---- Words ---- */

/* width: of the number. */
static void print_bytes(double bytes, int width) {
    static const char *const unit[] = {"bytes", "kB", "MB", "GB", "TB"};
    int k = 0;
    while (bytes >= 1000 && k < 4) bytes /= 1000, k++;
    printf("%*.4g %s", width, bytes, unit[k]);
}

static void print_bound(const graphical_model *model, int64_t cost, double real) {
    char text[GRAPHICAL_COST_TEXT];
    if (model->type == GPUOPT_COST_DOUBLE) {
        printf("%.12g", real);
    } else {
        graphical_cost_text(model, cost, text);
        printf("%s", text);
    }
}

static void print_result(const graphical_model *model, const wcsp_answer *a) {
    if (infeasible(a)) {
        printf(a->task == TASK_LOGZ ? "Z is 0: every assignment is impossible.\n"
                                    : "No solution: every assignment is forbidden.\n");
        return;
    }
    if (a->stopped) printf("Stopped %s. ", a->stopped);
    if (a->unknown) {
        printf("Nothing is known of the optimum by then.\n");
        return;
    }
    if (a->task == TASK_LOGZ) {
        printf("%s %.12g (log10: %.12g).\n", a->exact ? "ln Z is" : "ln Z is at most", a->info.value,
               a->info.value / log(10.0));
        return;
    }
    if (model->maximised)
        printf(a->exact ? "Optimal: the greatest value is " : "Bounded: the greatest value is at most ");
    else printf(a->exact ? "Optimal: the least cost is " : "Bounded: the least cost is at least ");
    print_bound(model, a->info.cost, a->info.value);
    if (!a->exact && (a->assigned || !a->stopped)) {
        if (!a->assigned) printf("; the assignment that goes with it is forbidden");
        else printf(model->maximised ? ", and an assignment has " : ", and an assignment costs ");
        if (a->assigned) print_bound(model, a->cost, a->real);
    }
    printf(".\n");
    if (a->task == TASK_COUNT && a->info.count_overflow) printf("2^64 - 1 assignments or more attain it.\n");
    else if (a->task == TASK_COUNT)
        printf("%llu assignment%s it.\n", (unsigned long long)a->info.count,
               a->info.count == 1 ? " attains" : "s attain");
}

static void print_model(const graphical_model *model, const wcsp_answer *a) {
    printf("%s: %d variables", a->model, (int)(model->variables - model->hidden));
    if (model->hidden) printf(" and %d hidden ones", (int)model->hidden);
    printf(" of at most %d values, %d functions; read in %.3g s\n", (int)model->max_domain, (int)model->functions,
           a->read_seconds);
    if (a->reduction.rules) {
        const gpuopt_elimination_preprocessing_info *r = &a->reduction;
        printf("Reduced in %.3g s to %d variables and %d functions: %d variables fixed, %d of degree 1 and 2, %d "
               "functional;\n",
               a->reduce_seconds, (int)r->variables, (int)a->reduced_functions, (int)r->variables_fixed,
               (int)r->variables_degree, (int)r->variables_functional);
        printf("values: %lld forbidden, %lld dominated, %lld too costly; functions: %d joined, %d split.\n",
               (long long)r->values_forbidden, (long long)r->values_dominated, (long long)r->values_bounded,
               (int)r->functions_joined, (int)r->functions_split);
    }
}

void print_words(const graphical_model *model, const wcsp_answer *a) {
    const gpuopt_elimination_estimate *e = &a->estimate;
    print_model(model, a);
    printf("Width %d, %d messages of %d bits an entry, %.3g operations; policy %s", (int)e->width, (int)e->messages,
           (int)e->bits, e->operations, policies[e->policy]);
    if (e->policy == GPUOPT_POLICY_MINI_BUCKET) printf(" with z = %d", (int)e->z);
    if (e->policy == GPUOPT_POLICY_SLICE)
        printf(" with %d variables in %lld slices", (int)e->sliced, (long long)e->slices);
    printf("; ");
    print_bytes((double)a->peak_predicted, 0);
    printf(" predicted, ");
    print_bytes((double)a->peak, 0);
    printf(" taken.\n");
    if (a->relaxation.scale)
        printf("Costs shifted %d times in %.3g s: the bound is %.12g.\n", (int)a->relaxation.iterations,
               a->relax_seconds, in_file(model, a->bound));
    if (a->ranks > 1)
        printf("That is the first of %d ranks, which has not all values of %d variables and sends %.0f bytes.\n",
               a->ranks, (int)e->split, e->exchanged);
    print_result(model, a);
    if (a->distributed) {
        const agents_answer *d = &a->agents;
        printf("%d agents: %lld UTIL messages (", (int)d->agents, (long long)d->util_messages);
        print_bytes((double)d->util_bytes, 0);
        printf("), %lld VALUE messages (", (long long)d->value_messages);
        print_bytes((double)d->value_bytes, 0);
        printf("), the largest ");
        print_bytes((double)d->largest_bytes, 0);
        printf("; simulated %.3g s, all work %.3g s.\n", d->simulated_seconds, d->work_seconds);
    }
    printf("On %s in %.3g s: %.3g s for the order, %.3g s to eliminate.\n", a->backend, a->seconds, a->order_seconds,
           a->eliminate_seconds);
}

void print_plans(const graphical_model *model, const wcsp_answer *a) {
    int k;
    print_model(model, a);
    printf("policy       memory      operations  width  largest  bits\n");
    for (k = 1; policies[k]; k++) {
        const wcsp_plan *p = &a->plan[k];
        const gpuopt_elimination_estimate *e = &p->estimate;
        printf("%-11s  ", policies[k]);
        if (!p->known) {
            printf("none within the limit, or not on this backend\n");
            continue;
        }
        print_bytes((double)p->bytes, 8);
        printf("  %10.4g  %5d  2^%5.1f  %4d", e->operations, (int)e->width, log2(e->largest > 1 ? e->largest : 1),
               (int)e->bits);
        if (k == GPUOPT_POLICY_RECOMPUTE) printf("  %d passes", (int)e->passes);
        if (k == GPUOPT_POLICY_SLICE) printf("  %lld slices", (long long)e->slices);
        if (k == GPUOPT_POLICY_MINI_BUCKET) printf("  z = %d: a bound", (int)e->z);
        printf(p->fits ? "\n" : "  above the limit\n");
    }
    if (a->limit) {
        printf("Limit: ");
        print_bytes((double)a->limit, 0);
        printf("; ");
    }
    printf("policy: %s. On %s, %.3g s for the order.\n", a->chosen ? policies[a->chosen] : "none fits", a->backend,
           a->order_seconds);
}
