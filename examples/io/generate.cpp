// SPDX-License-Identifier: MIT
//
// The models that propagation is measured on, to the bit: std::mt19937_64, and one order of draws.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "examples/io/mip.h"

namespace {

constexpr double kInfinity = 1e20;

struct Model {
    int m = 0, n = 0;
    std::vector<int64_t> start{0};
    std::vector<int32_t> col;
    std::vector<double> val, lhs, rhs, lb, ub;
    std::vector<uint8_t> integer;
};

double unit(std::mt19937_64 &g) { return static_cast<double>(g() >> 11) * 0x1p-53; }

// Row sides around a hidden point x0 that satisfies every row.
void close_rows(Model &p, std::mt19937_64 &g, const std::vector<double> &x0, double slack) {
    for (int i = 0; i < p.m; i++) {
        double a = 0, s = 0;
        for (int64_t k = p.start[i]; k < p.start[i + 1]; k++) {
            int j = p.col[k];
            a += p.val[k] * x0[j];
            s += std::fabs(p.val[k]) * (p.ub[j] >= kInfinity || p.lb[j] <= -kInfinity ? 10.0 : p.ub[j] - p.lb[j]);
        }
        double u = unit(g), d = slack * s * u;
        int kind = static_cast<int>(g() % 8);
        p.lhs.push_back(kind < 5 ? -kInfinity : a - d);
        p.rhs.push_back(kind == 5 ? kInfinity : a + d);
    }
}

// rand: row lengths uniform in 1 .. 2 LEN - 1, columns uniform. skew: row lengths LEN/4 * u^-0.8 (at most N/4), every
// 16th column among the first N/1000.
Model random_model(bool skew, int m, int n, double len, uint64_t seed, double slack) {
    Model p;
    p.m = m, p.n = n;
    std::mt19937_64 g(seed);
    std::vector<double> x0(n);
    p.lb.resize(n), p.ub.resize(n), p.integer.resize(n);
    for (int j = 0; j < n; j++) {
        int q = static_cast<int>(g() % 10);
        p.integer[j] = q < 8;
        if (q < 6) {
            p.lb[j] = 0, p.ub[j] = 1, x0[j] = static_cast<double>(g() % 2);
        } else if (q < 8) {
            p.lb[j] = -static_cast<double>(g() % 50);
            p.ub[j] = static_cast<double>(g() % 50);
            x0[j] = p.lb[j] + static_cast<double>(g() % static_cast<uint64_t>(p.ub[j] - p.lb[j] + 1));
        } else {
            p.lb[j] = 0, p.ub[j] = q == 8 ? 100 : kInfinity, x0[j] = unit(g) * 10;
        }
    }
    std::vector<int> mark(n, -1);
    for (int i = 0; i < m; i++) {
        double length = len;
        if (skew) {
            double u = static_cast<double>((g() >> 11) + 1) * 0x1p-53;
            length = std::min(static_cast<double>(n) / 4, len * 0.25 / std::pow(u, 0.8));
        } else {
            length = 1 + static_cast<double>(g() % static_cast<uint64_t>(2 * len - 1));
        }
        int want = std::max(1, static_cast<int>(length));
        size_t first = p.col.size();
        for (int t = 0; t < want; t++) {
            bool hot = skew && g() % 16 == 0;
            int c = static_cast<int>(g() % static_cast<uint64_t>(hot ? std::max(1, n / 1000) : n));
            if (mark[c] == i) continue;
            mark[c] = i;
            p.col.push_back(c);
        }
        std::sort(p.col.begin() + static_cast<std::ptrdiff_t>(first), p.col.end());
        for (size_t t = first; t < p.col.size(); t++) {
            double size = static_cast<double>(1 + g() % 9);  // this draw first,
            p.val.push_back(size * (g() % 4 == 0 ? -1 : 1)); // then this one
        }
        p.start.push_back(static_cast<int64_t>(p.col.size()));
    }
    close_rows(p, g, x0, slack);
    return p;
}

// LEN consecutive binary columns per row.
Model band(int m, int len, uint64_t seed, double slack) {
    Model p;
    p.m = p.n = m;
    std::mt19937_64 g(seed);
    std::vector<double> x0(m);
    p.lb.assign(m, 0), p.ub.assign(m, 1), p.integer.assign(m, 1);
    for (auto &x : x0) x = static_cast<double>(g() % 2);
    for (int i = 0; i < m; i++) {
        int s = std::min(i, m - len);
        for (int t = 0; t < len; t++) p.col.push_back(s + t), p.val.push_back(static_cast<double>(1 + g() % 9));
        p.start.push_back(static_cast<int64_t>(p.col.size()));
    }
    close_rows(p, g, x0, slack);
    return p;
}

// x_(i+1) <= x_i: one sequential round, n Jacobi rounds.
Model cascade(int n) {
    Model p;
    p.n = n, p.m = n - 1;
    p.lb.assign(n, 0), p.ub.assign(n, 100), p.ub[0] = 1, p.integer.assign(n, 0);
    for (int i = 0; i < p.m; i++) {
        p.col.insert(p.col.end(), {i, i + 1}), p.val.insert(p.val.end(), {-1.0, 1.0});
        p.start.push_back(static_cast<int64_t>(p.col.size())), p.lhs.push_back(-kInfinity), p.rhs.push_back(0);
    }
    return p;
}

// x/2 + y = 1, x - y = 1 in [-2,2]: converges by a factor of 1/2 a round to (4/3, 1/3).
Model two_lines() {
    Model p;
    p.m = p.n = 2, p.start = {0, 2, 4}, p.col = {0, 1, 0, 1}, p.val = {0.5, 1, 1, -1};
    p.lhs = p.rhs = {1, 1}, p.lb = {-2, -2}, p.ub = {2, 2}, p.integer = {0, 0};
    return p;
}

// Capacitated facility location, K customers and K sites: demands (i+1) mod 100, capacities 100.
Model facility_location(int k) {
    Model p;
    const int capacity = 100;
    p.n = k * k + k, p.m = 2 * k;
    for (int i = 0; i < k; i++) {
        for (int t = 0; t < k; t++) p.col.push_back(i * k + t), p.val.push_back(1);
        p.start.push_back(static_cast<int64_t>(p.col.size()));
        p.lhs.push_back((i + 1) % capacity), p.rhs.push_back((i + 1) % capacity);
    }
    for (int i = 0; i < k; i++) {
        for (int t = 0; t < k; t++) p.col.push_back(t * k + i), p.val.push_back(1);
        p.col.push_back(k * k + i), p.val.push_back(-capacity);
        p.start.push_back(static_cast<int64_t>(p.col.size())), p.lhs.push_back(-kInfinity), p.rhs.push_back(0);
    }
    p.lb.assign(p.n, 0), p.ub.assign(p.n, kInfinity), p.integer.assign(p.n, 0);
    for (int t = 0; t < k; t++) p.ub[k * k + t] = 1, p.integer[k * k + t] = 1;
    return p;
}

// E empty rows between two ordinary ones.
Model empty_rows(int e) {
    Model p;
    p.n = 4, p.m = e + 2;
    p.lb.assign(4, 0), p.ub.assign(4, 10), p.integer.assign(4, 0);
    p.col = {0, 1}, p.val = {1, 1}, p.start = {0, 2}, p.lhs = {-kInfinity}, p.rhs = {3};
    for (int i = 0; i < e; i++) p.start.push_back(2), p.lhs.push_back(-kInfinity), p.rhs.push_back(i == 255 ? 1e-3 : 5);
    p.col.insert(p.col.end(), {2, 3}), p.val.insert(p.val.end(), {1.0, 1.0});
    p.start.push_back(4), p.lhs.push_back(-kInfinity), p.rhs.push_back(4);
    return p;
}

// Set covering: n binaries; n/2 rows "at least one of" 2, 3, ... 9, 2, ... of them; for each two such rows, which have
// no column in common, the implied row "at least two of" all theirs; then rows "at most k of" eight, with k from a
// hidden point that satisfies every row, until there are that many nonzeros. An eighth of the hidden point is 1.
Model covering(int n, int64_t nonzeros, uint64_t seed) {
    Model p;
    p.n = n;
    std::mt19937_64 g(seed);
    std::vector<int> x0(n), used(n, -1);
    for (int &x : x0) x = g() % 8 == 0;
    auto draw = [&](int mark, bool one) { // a column that is not in use, perhaps one that is 1
        for (;;) {
            const int j = static_cast<int>(g() % static_cast<uint64_t>(n));
            if (used[j] == mark || (one && !x0[j])) continue;
            used[j] = mark;
            return j;
        }
    };
    auto close = [&](double lhs, double rhs) {
        p.start.push_back(static_cast<int64_t>(p.col.size()));
        p.lhs.push_back(lhs), p.rhs.push_back(rhs), p.m++;
    };
    for (int pair = 0; pair < n / 4; pair++) {
        const size_t first = p.col.size();
        for (int row = 0; row < 2; row++) {
            const int length = 2 + (2 * pair + row) % 8;
            for (int k = 0; k < length; k++) p.col.push_back(draw(pair, k == 0));
            close(1, kInfinity);
        }
        for (size_t k = first, end = p.col.size(); k < end; k++) p.col.push_back(p.col[k]);
        close(2, kInfinity);
    }
    for (int mark = n; static_cast<int64_t>(p.col.size()) < nonzeros; mark++) {
        int ones = 0;
        for (int k = 0; k < 8 && static_cast<int64_t>(p.col.size()) < nonzeros; k++) {
            p.col.push_back(draw(mark, false));
            ones += x0[p.col.back()];
        }
        close(-kInfinity, std::max(ones, 1));
    }
    p.val.assign(p.col.size(), 1);
    p.lb.assign(n, 0), p.ub.assign(n, 1), p.integer.assign(n, 1);
    return p;
}

// The numbers after the name, each a positive integer except the slack, which is a fraction.
bool build(const std::string &text, Model &model) {
    std::stringstream stream(text);
    std::string kind, field;
    std::vector<double> v;
    std::getline(stream, kind, ',');
    while (std::getline(stream, field, ',')) {
        char *end = nullptr;
        v.push_back(std::strtod(field.c_str(), &end));
        if (field.empty() || *end || !(v.back() >= 0 && v.back() < 2e9)) return false;
    }
    auto whole = [&](size_t k) { return static_cast<int>(v[k]); };
    auto counts = [&](size_t many) { // whether that many leading numbers are whole and at least 1
        for (size_t k = 0; k < many; k++)
            if (v[k] < 1 || v[k] != std::floor(v[k])) return false;
        return true;
    };
    if ((kind == "rand" || kind == "skew") && (v.size() == 4 || v.size() == 5) && counts(3)) {
        model = random_model(kind == "skew", whole(0), whole(1), v[2], static_cast<uint64_t>(v[3]),
                             v.size() == 5 ? v[4] : 0.02);
    } else if (kind == "band" && (v.size() == 3 || v.size() == 4) && counts(2) && v[1] <= v[0]) {
        model = band(whole(0), whole(1), static_cast<uint64_t>(v[2]), v.size() == 4 ? v[3] : 0.05);
    } else if (kind == "cascade" && v.size() == 1 && counts(1)) {
        model = cascade(whole(0));
    } else if (kind == "twolines" && v.empty()) {
        model = two_lines();
    } else if (kind == "cflp" && v.size() == 1 && counts(1) && v[0] <= 40000) {
        model = facility_location(whole(0));
    } else if (kind == "cover" && v.size() == 3 && counts(2) && v[0] >= 100) {
        model = covering(whole(0), static_cast<int64_t>(v[1]), static_cast<uint64_t>(v[2]));
    } else if (kind == "emptyrows" && v.size() == 1) {
        model = empty_rows(whole(0));
    } else {
        return false;
    }
    return true;
}

template <class T>
T *own(const std::vector<T> &from) {
    T *to = static_cast<T *>(std::malloc(sizeof(T) * std::max<size_t>(1, from.size())));
    if (!to) throw std::bad_alloc();
    std::copy(from.begin(), from.end(), to);
    return to;
}

} // namespace

int mip_generate(const char *name, mip *model, char *error, size_t error_size) {
    std::memset(model, 0, sizeof *model);
    try {
        Model p;
        if (!build(name, p)) {
            std::snprintf(
                error, error_size,
                "gen:%s: no such generated model (rand, skew, band, cascade, twolines, cflp, emptyrows, cover)", name);
            return -1;
        }
        model->matrix.rows = p.m;
        model->matrix.cols = p.n;
        model->matrix.start = own(p.start);
        model->matrix.index = own(p.col);
        model->matrix.value = own(p.val);
        model->lhs = own(p.lhs), model->rhs = own(p.rhs), model->lb = own(p.lb), model->ub = own(p.ub);
        model->integer = own(p.integer);
        return 0;
    } catch (const std::exception &e) {
        mip_free(model);
        std::snprintf(error, error_size, "gen:%s: %s", name, e.what());
        return -1;
    }
}
