/* SPDX-License-Identifier: MIT
 *
 * The buckets that the CUDA backend computes as min-plus products, and the division of their tables into two groups.
 * These are tested without a GPU, by a backend that receives plans from the library and computes nothing. The scopes of
 * a bucket's tables determine the right result.
 */
#define __host__ /* without these two, product_plan.cuh is plain C++ */
#define __device__

#include <cmath>
#include <vector>

#include "cuda/elimination/product_plan.cuh"
#include "gpuopt_impl/elimination/backend.h"

extern "C" {
#include "tests/elimination/model.h"
#include "tests/support/support.h"
}

namespace {

constexpr int multiprocessors = 132;
using scope_list = std::vector<std::vector<int32_t>>;

/* ---- Plans ---- */

using Visit = void (*)(const gpuopt__elimination_plan &plan);
Visit visit;

gpuopt_status no_limit(const gpuopt_context *, uint64_t *bytes) {
    *bytes = UINT64_MAX;
    return GPUOPT_OK;
}

void no_bytes(const gpuopt_context *, const gpuopt__elimination_plan *, gpuopt_memory_plan *) {}

/* Looks at the finished plan and makes no handle. */
gpuopt_status visit_plan(gpuopt_context *, const gpuopt__elimination_plan *plan, gpuopt_elimination **) {
    visit(*plan);
    return GPUOPT_ERROR_UNSUPPORTED;
}

/* Eliminates variable 0 of a model with a function over variable 0 and the variables of each scope, of costs from 0 to
 * `largest`. */
void plan_bucket(const std::vector<int32_t> &domain, const scope_list &scopes, int64_t largest, Visit then) {
    gpuopt__elimination_backend table = {};
    gpuopt_backend backend = *gpuopt_backend_cpu();
    gpuopt_context_desc context_desc;
    gpuopt_context *context = nullptr;
    gpuopt_elimination *none = nullptr;
    const int32_t first = 0;
    model m =
        model_make(GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM, static_cast<int32_t>(domain.size()), domain.data());
    for (std::vector<int32_t> scope : scopes) {
        scope.insert(scope.begin(), 0);
        gpuopt_elimination_function *f = model_add(&m, static_cast<int32_t>(scope.size()), scope.data(), -1);
        model_set(&m, f, 0, static_cast<double>(largest));
    }
    table.free_bytes = no_limit;
    table.plan = no_bytes;
    table.create = visit_plan;
    backend.elimination = &table;
    gpuopt_desc_init(&context_desc, sizeof context_desc);
    context_desc.backend = &backend;
    assert_int_equal(gpuopt_context_create(&context_desc, &context), GPUOPT_OK);
    gpuopt_elimination_desc desc = model_desc(&m);
    desc.order = &first;
    desc.order_count = 1;
    visit = then;
    assert_int_equal(gpuopt_elimination_create(context, &desc, NULL, &none), GPUOPT_ERROR_UNSUPPORTED);
    gpuopt_context_destroy(context);
    model_free(&m);
}

/* The job that computes the message. */
const gpuopt__elimination_job &message_job(const gpuopt__elimination_plan &plan) {
    const gpuopt__elimination_bucket &bucket = plan.bucket[0];
    return plan.job[bucket.job + bucket.jobs - 1];
}

/* Whether the tables can be divided into two groups, for any time; the best way to do so. */
bool split(const gpuopt__elimination_plan &plan, bool packed, Product *p) {
    const gpuopt__elimination_job &job = message_job(plan);
    MessageDigits digits;
    ProductChoice choice;
    if (!gather_digits(job, plan.digit, &digits)) return false;
    product_choose(job, digits, static_cast<double>(job.entries), packed, false, multiprocessors, &choice);
    if (!(choice.shape.time < HUGE_VAL)) return false;
    product_fill(job, digits, choice, 1, packed, p);
    return true;
}

/* ---- What is right ---- */

/* The index in a table of the entry at these values, with value 0 for the eliminated variable. */
int64_t entry_at(const gpuopt__elimination_plan &plan, int32_t table, const std::vector<int64_t> &value) {
    const gpuopt__elimination_table &t = plan.table[table];
    int64_t at = 0;
    for (int32_t k = 0; k < t.arity; k++)
        at = at * plan.domain[plan.scope[t.scope + k]] + value[static_cast<size_t>(plan.scope[t.scope + k])];
    return at;
}

/* The part of the address in table k of a product for index i of a side. */
int64_t side_at(const Product &p, int k, int side, int64_t i) {
    int64_t at = 0;
    for (int j = p.first[side] + p.digits[side] - 1; j >= p.first[side]; j--) {
        at += i % p.size[j] * p.stride[k][j];
        i /= p.size[j];
    }
    return at;
}

/* The product of the domains of the variables that only one side has, by the scopes. */
double own_entries(const gpuopt__elimination_plan &plan, const gpuopt__elimination_job &job, uint32_t group, int side) {
    std::vector<int> in[2];
    double entries = 1;
    for (auto &flags : in) flags.resize(static_cast<size_t>(plan.variables));
    for (int32_t k = 0; k < job.operands; k++) {
        const gpuopt__elimination_table &t = plan.table[plan.operand[job.operand + k].table];
        for (int32_t j = 0; j < t.arity; j++) in[group >> k & 1][static_cast<size_t>(plan.scope[t.scope + j])] = 1;
    }
    for (size_t v = 1; v < in[0].size(); v++)
        if (in[side][v] && !in[1 - side][v]) entries *= plan.domain[v];
    return entries;
}

/* Whether the tables can be divided into two groups, each with 16 rows or columns that the other lacks. Tries all
 * ways. */
bool can_split(const gpuopt__elimination_plan &plan) {
    const gpuopt__elimination_job &job = message_job(plan);
    for (uint32_t group = 1; group < 1u << (job.operands - 1); group++)
        if (own_entries(plan, job, group, 0) >= 16 && own_entries(plan, job, group, 1) >= 16) return true;
    return false;
}

long splits, refusals, gathered_apart, copied;
uint64_t seed;

/* Checks that every entry of the message is computed exactly once, from the table entries for its variables' values.
 * Also checks that no side depends on the digits of the other. */
void check_addresses(const gpuopt__elimination_plan &plan, const Product &p) {
    const gpuopt__elimination_job &job = message_job(plan);
    assert_true(p.total[PRODUCT_BATCH] * p.total[PRODUCT_LEFT] * p.total[PRODUCT_RIGHT] == job.entries);
    assert_int_equal(p.operands, job.operands);
    assert_true(p.left >= 1 && p.left < p.operands);
    std::vector<int> met(static_cast<size_t>(job.entries <= 4096 ? job.entries : 0));
    const int64_t draws = met.empty() ? 200 : job.entries;
    for (int64_t draw = 0; draw < draws; draw++) {
        int64_t number = met.empty() ? test_random_int(&seed, 0, job.entries - 1) : draw, i[PRODUCT_SIDES], message = 0;
        for (int side = 0; side < PRODUCT_SIDES; side++) {
            i[side] = number % p.total[side];
            number /= p.total[side];
            message += side_at(p, p.operands, side, i[side]);
        }
        assert_true(message >= 0 && message < job.entries);
        if (!met.empty()) assert_int_equal(met[static_cast<size_t>(message)]++, 0);
        const gpuopt__elimination_table &target = plan.table[job.table];
        std::vector<int64_t> value(static_cast<size_t>(plan.variables));
        int64_t rest = message;
        for (int32_t k = target.arity - 1; k >= 0; k--) {
            const int32_t v = plan.scope[target.scope + k];
            value[static_cast<size_t>(v)] = rest % plan.domain[v];
            rest /= plan.domain[v];
        }
        for (int k = 0; k < p.operands; k++) {
            int64_t at = 0;
            for (int side = 0; side < PRODUCT_SIDES; side++) at += side_at(p, k, side, i[side]);
            assert_int_equal(side_at(p, k, k < p.left ? PRODUCT_RIGHT : PRODUCT_LEFT, p.total[k < p.left ? 2 : 1] - 1),
                             0);
            assert_true(at == entry_at(plan, plan.operand[p.operand[k]].table, value));
        }
    }
    for (int k = 0; k < p.operands; k++) { /* each operand once */
        assert_true(p.operand[k] >= job.operand && p.operand[k] < job.operand + job.operands);
        for (int j = 0; j < k; j++) assert_true(p.operand[j] != p.operand[k]);
    }
}

/* Checks that in a copy every entry of the operand has its own place, and that neighbours along the side are
 * neighbours. */
void check_copies(const Product &plain) {
    Product p = plain;
    const int64_t before = 1000;
    product_use_copies(&p, before);
    int64_t end = before;
    for (int k = 0; k < p.operands; k++) {
        const int side = product_side(p, k), last = p.first[side] + p.digits[side] - 1;
        for (int j = 0; j < product_digits && !p.copied[k]; j++) assert_true(p.stride[k][j] == plain.stride[k][j]);
        if (!p.copied[k]) continue;
        assert_true(p.copy_at[k] == end && p.stride[k][last] == 1);
        std::vector<int> met(static_cast<size_t>(p.copied[k]));
        const int64_t batch = product_own(p, k, PRODUCT_BATCH), rows = product_own(p, k, side);
        assert_true(batch * rows * p.values == p.copied[k]);
        for (int64_t b = 0; b < p.total[PRODUCT_BATCH]; b++)
            for (int64_t r = 0; r < p.total[side]; r++)
                for (int32_t v = 0; v < p.values; v++) {
                    int64_t at = p.copy_at[k] + side_at(p, k, PRODUCT_BATCH, b) + side_at(p, k, side, r) +
                                 v * p.value_stride[k] - end;
                    assert_true(at >= 0 && at < p.copied[k]);
                    /* Several indices share an entry if the operand does not depend on them. */
                    assert_true(met[static_cast<size_t>(at)]++ < p.total[PRODUCT_BATCH] / batch * p.total[side] / rows);
                }
        end += p.copied[k];
    }
    assert_true(end - before == product_copies(plain));
}

/* Checks that tiles cover all rows and columns and none lies outside. Also checks that a kernel and enough shared
 * memory exist for them. */
void check_shape(const Product &p) {
    const int64_t rows = product_rows_of(p), columns = product_columns_of(p);
    assert_true(p.total[PRODUCT_LEFT] >= 16 && p.total[PRODUCT_RIGHT] >= 16);
    assert_true(p.row_tiles * rows >= p.total[PRODUCT_LEFT] && (p.row_tiles - 1) * rows < p.total[PRODUCT_LEFT]);
    assert_true(p.column_tiles * columns >= p.total[PRODUCT_RIGHT]);
    assert_true((p.column_tiles - 1) * columns < p.total[PRODUCT_RIGHT]);
    assert_true(p.warps >= 2 && p.warps <= product_warps && product_has(p.words, p.packed));
    assert_true(product_bytes(p.warps, p.words, p.packed, p.left, p.operands - p.left) <= product_most_bytes);
}

/* ---- Random buckets ---- */

void visit_random(const gpuopt__elimination_plan &plan) {
    const gpuopt__elimination_job &job = message_job(plan);
    const bool packed = test_random_int(&seed, 0, 1);
    Product p;
    MessageDigits d;
    assert_true(gather_digits(job, plan.digit, &d)); /* there are few digits */
    if (!split(plan, packed, &p)) {
        refusals++;
        assert_true(!can_split(plan));
        return;
    }
    splits++;
    gathered_apart += job.row_total != 0;
    assert_true(can_split(plan));
    check_addresses(plan, p);
    check_shape(p);
    if (job.entries <= 20000 && product_mark(&p) < HUGE_VAL) {
        copied += product_copies(p) > 0;
        check_copies(p);
    }
}

void random_buckets(void **) {
    for (int round = 1; round <= 4000; round++) {
        seed = static_cast<uint64_t>(round);
        std::vector<int32_t> domain = {static_cast<int32_t>(test_random_int(&seed, 1, 12))};
        const int64_t variables = test_random_int(&seed, 2, 6), functions = test_random_int(&seed, 2, 6);
        const int64_t largest = test_random_int(&seed, 0, 1) ? 60 : variables < 4 ? 60 : 14;
        double entries = 1;
        scope_list scopes(static_cast<size_t>(functions));
        for (int32_t v = 1; v <= variables; v++) {
            domain.push_back(static_cast<int32_t>(test_random_int(&seed, 1, largest)));
            entries *= domain.back();
        }
        double most = 1; /* of a function */
        for (auto &scope : scopes) {
            double own = domain[0];
            for (int32_t v = 1; v <= variables; v++)
                if (test_random_int(&seed, 0, 2) == 0) {
                    scope.push_back(v);
                    own *= domain[static_cast<size_t>(v)];
                }
            most = fmax(most, own);
        }
        if (entries > 3e6 || most > 2e5) continue;
        plan_bucket(domain, scopes, 10, visit_random);
    }
    assert_true(splits > 500 && refusals > 500 && gathered_apart > 20 && copied > 20);
}

/* ---- Known buckets ---- */

struct Known {
    std::vector<int32_t> domain;
    scope_list scopes;
    int64_t largest;
    bool found;
    int64_t total[PRODUCT_SIDES];
    bool copies = false; /* of a table that would be read a sector for each entry */
};
const Known *known;

void visit_known(const gpuopt__elimination_plan &plan) {
    Product p;
    const bool found =
        find_product(message_job(plan), plan.digit, 1, plan.bits, plan.forbidden, true, multiprocessors, &p);
    assert_int_equal(found, known->found);
    if (!found) return;
    assert_int_equal(product_copies(p) > 0, known->copies);
    check_copies(p);
    for (int side = 0; side < PRODUCT_SIDES; side++) {
        assert_true(p.total[side] == known->total[side]);
        if (!known->copies) assert_int_equal(p.digits[side], p.total[side] > 1); /* merged into one digit */
    }
    assert_int_equal(p.packed, known->largest * static_cast<int64_t>(known->scopes.size()) < UINT16_MAX / 4);
    check_addresses(plan, p);
    check_shape(p);
}

void known_buckets(void **) {
    const std::vector<Known> all = {
        /* A product of two matrices, without a batch: with costs of 8, 16 and 32 bits, but not with 64. */
        {{300, 300, 400}, {{1}, {2}}, 10, true, {1, 300, 400}},
        {{300, 300, 400}, {{1}, {2}}, 5000, true, {1, 300, 400}},
        {{300, 300, 400}, {{1}, {2}}, 1 << 24, true, {1, 300, 400}},
        {{300, 300, 400}, {{1}, {2}}, int64_t{1} << 40, false, {}},
        /* A batch of them: variable 2 is in both. */
        {{64, 64, 32, 64}, {{1, 2}, {2, 3}}, 10, true, {32, 64, 64}},
        /* The same, large enough to copy first the table over 1 and 2; its rows lie 32 apart. */
        {{64, 1024, 32, 1024}, {{1, 2}, {2, 3}}, 1 << 24, true, {32, 1024, 1024}, true},
        /* A single table, or all tables over the same variables: there are no two groups. */
        {{64, 64, 64}, {{1, 2}}, 10, false, {}},
        {{64, 64, 64}, {{1, 2}, {1, 2}}, 10, false, {}},
        {{64, 64, 64}, {{1, 2}, {1}}, 10, false, {}},
        /* Fewer rows or columns than a tile has; few values; little work. */
        {{300, 15, 4000}, {{1}, {2}}, 10, false, {}},
        {{300, 4000, 15}, {{1}, {2}}, 10, false, {}},
        {{7, 600, 600}, {{1}, {2}}, 10, false, {}},
        {{60, 60, 60}, {{1}, {2}}, 10, false, {}},
    };
    for (const Known &k : all) {
        known = &k;
        seed = 1;
        plan_bucket(k.domain, k.scopes, k.largest, visit_known);
    }
}

const CMUnitTest tests[] = {cmocka_unit_test(random_buckets), cmocka_unit_test(known_buckets)};

} // namespace

TEST_MAIN(tests)
