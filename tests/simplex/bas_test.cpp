/* SPDX-License-Identifier: MIT
 *
 * The reader of basis files. Bases at which CLP's and GLPK's simplex methods end or are stopped are written by CLP
 * itself and in the formats of GLPK and HiGHS. They are read back unchanged, and give the verdict of exact rationals.
 * Faults of a file are reported with their line.
 */
#include <coin/ClpSimplex.hpp>
#include <glpk.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <unistd.h>

#include "gpuopt.h"
#include "gpuopt/search.h"

extern "C" {
#include "examples/io/bas.h"
#include "tests/simplex/changes.h"
#include "tests/simplex/exact.h"
#include "tests/support/support.h"
}

namespace {

/* ---- Files ---- */

/* A file that is there as long as this. */
class File {
  public:
    explicit File(const std::string &text = "") {
        const int file = mkstemp(path_);
        assert_true(file >= 0);
        assert_int_equal(write(file, text.data(), text.size()), static_cast<ssize_t>(text.size()));
        close(file);
    }
    File(const File &) = delete;
    File &operator=(const File &) = delete;
    ~File() { unlink(path_); }
    const char *path() const { return path_; }

  private:
    char path_[32] = "/tmp/gpuopt_bas_XXXXXX";
};

using statuses = std::vector<uint8_t>;

/* Names as of fixed format, some of which could be numbers or keywords. */
char *name_of(char letter, int32_t k) {
    static const char *const odd[] = {"XU", "ENDATA", "12", "-3.5", "NAME", "BS"};
    char *name = static_cast<char *>(malloc(16));
    if (k < 6 && letter == 'C') snprintf(name, 16, "%s", odd[k]);
    else snprintf(name, 16, "%c%d", letter, static_cast<int>(k));
    return name;
}

void give_names(mip *m) {
    m->col_name = static_cast<char **>(calloc(static_cast<size_t>(m->matrix.cols) + 1, sizeof(char *)));
    m->row_name = static_cast<char **>(calloc(static_cast<size_t>(m->matrix.rows) + 1, sizeof(char *)));
    for (int32_t k = 0; k < m->matrix.cols; k++) m->col_name[k] = name_of('C', k);
    for (int32_t k = 0; k < m->matrix.rows; k++) m->row_name[k] = name_of('R', k);
}

/* In the format of GLPK until 4.52: rows that are not basic go with basic columns, in fixed columns. */
std::string as_glpk(const mip &m, const statuses &status) {
    std::string text = "* Problem:    \nNAME          M\n";
    char line[100];
    const int32_t n = m.matrix.cols;
    int32_t i = 0;
    for (int32_t j = 0; j < n; j++) {
        if (status[j] == GPUOPT_VARIABLE_BASIC) {
            while (i < m.matrix.rows && status[n + i] == GPUOPT_VARIABLE_BASIC) i++;
            assert_true(i < m.matrix.rows);
            snprintf(line, sizeof line, " %s %-8s  %s\n", status[n + i] == GPUOPT_VARIABLE_AT_UPPER ? "XU" : "XL",
                     m.col_name[j], m.row_name[i]);
            i++;
        } else {
            snprintf(line, sizeof line, " %s %s\n", status[j] == GPUOPT_VARIABLE_AT_UPPER ? "UL" : "LL", m.col_name[j]);
        }
        text += line;
    }
    return text + "ENDATA\n";
}

std::string as_highs(const mip &m, const statuses &status, bool named) {
    static const char digits[] = {'1', '0', '2', '3'};
    std::string text = named ? "HiGHS_basis_file v2\nValid\n" : "HiGHS v1\nValid\n";
    for (int part = 0; part < 2; part++) {
        const int32_t count = part ? m.matrix.rows : m.matrix.cols;
        text += (part ? "# Rows " : "# Columns ") + std::to_string(count) + "\n";
        for (int32_t k = 0; k < count; k++) {
            if (named) text += std::string((part ? m.row_name : m.col_name)[k]) + " ";
            text += digits[status[part * m.matrix.cols + k]];
            text += named ? "\n" : " ";
        }
        if (!named) text += "\n";
    }
    return text;
}

/* ---- Solvers ---- */

gpuopt_simplex_variable of_clp(ClpSimplex::Status status, double low) {
    switch (status) {
    case ClpSimplex::basic: return GPUOPT_VARIABLE_BASIC;
    case ClpSimplex::atUpperBound: return GPUOPT_VARIABLE_AT_UPPER;
    default: return low > -1e20 ? GPUOPT_VARIABLE_AT_LOWER : GPUOPT_VARIABLE_AT_ZERO;
    }
}

/* After some iterations of either method; CLP writes the file, too. */
statuses by_clp(uint64_t *seed, const mip &m, const char *path) {
    ClpSimplex clp;
    const gpuopt_matrix &a = m.columns;
    std::vector<CoinBigIndex> start(a.start, a.start + a.cols + 1);
    std::vector<std::string> rows(m.row_name, m.row_name + a.rows), cols(m.col_name, m.col_name + a.cols);
    statuses status;
    clp.setLogLevel(0);
    clp.loadProblem(a.cols, a.rows, start.data(), a.index, a.value, m.lb, m.ub, m.cost, m.lhs, m.rhs);
    clp.setOptimizationDirection(m.maximize ? -1 : 1);
    clp.copyNames(rows, cols);
    clp.setMaximumIterations(test_random_int(seed, 0, 1) ? 1000 : static_cast<int>(test_random_int(seed, 0, 4)));
    if (test_random_int(seed, 0, 1)) clp.primal();
    else clp.dual();
    for (int32_t k = 0; k < a.cols; k++) status.push_back(of_clp(clp.getColumnStatus(k), m.lb[k]));
    for (int32_t k = 0; k < a.rows; k++) status.push_back(of_clp(clp.getRowStatus(k), m.lhs[k]));
    assert_int_equal(
        clp.writeBasis(path, test_random_int(seed, 0, 1) != 0, static_cast<int>(test_random_int(seed, 0, 1))), 0);
    return status;
}

int glpk_kind(double low, double high) {
    const bool below = low > -1e20, above = high < 1e20;
    return low == high ? GLP_FX : below && above ? GLP_DB : below ? GLP_LO : above ? GLP_UP : GLP_FR;
}

gpuopt_simplex_variable of_glpk(int status) {
    return status == GLP_BS   ? GPUOPT_VARIABLE_BASIC
           : status == GLP_NU ? GPUOPT_VARIABLE_AT_UPPER
           : status == GLP_NF ? GPUOPT_VARIABLE_AT_ZERO
                              : GPUOPT_VARIABLE_AT_LOWER;
}

statuses by_glpk(uint64_t *seed, const mip &m) {
    glp_prob *p = glp_create_prob();
    glp_smcp how;
    const gpuopt_matrix &a = m.columns;
    statuses status;
    glp_set_obj_dir(p, m.maximize ? GLP_MAX : GLP_MIN);
    glp_add_rows(p, a.rows);
    glp_add_cols(p, a.cols);
    for (int32_t i = 0; i < a.rows; i++) glp_set_row_bnds(p, i + 1, glpk_kind(m.lhs[i], m.rhs[i]), m.lhs[i], m.rhs[i]);
    for (int32_t j = 0; j < a.cols; j++) {
        std::vector<int> index(1);
        std::vector<double> value(1);
        for (int64_t k = a.start[j]; k < a.start[j + 1]; k++) {
            index.push_back(a.index[k] + 1);
            value.push_back(a.value[k]);
        }
        glp_set_col_bnds(p, j + 1, glpk_kind(m.lb[j], m.ub[j]), m.lb[j], m.ub[j]);
        glp_set_obj_coef(p, j + 1, m.cost[j]);
        glp_set_mat_col(p, j + 1, static_cast<int>(index.size()) - 1, index.data(), value.data());
    }
    glp_init_smcp(&how);
    how.msg_lev = GLP_MSG_OFF;
    how.meth = test_random_int(seed, 0, 1) ? GLP_PRIMAL : GLP_DUAL;
    if (test_random_int(seed, 0, 1)) how.it_lim = static_cast<int>(test_random_int(seed, 0, 4));
    glp_simplex(p, &how);
    for (int32_t j = 0; j < a.cols; j++) status.push_back(of_glpk(glp_get_col_stat(p, j + 1)));
    for (int32_t i = 0; i < a.rows; i++) status.push_back(of_glpk(glp_get_row_stat(p, i + 1)));
    glp_delete_prob(p);
    return status;
}

/* ---- What must hold ---- */

int outcomes[9];

/* The files of these formats have no word for a nonbasic variable at 0 without a lower bound. */
uint8_t without_zero(uint8_t status) {
    return status == GPUOPT_VARIABLE_AT_ZERO ? static_cast<uint8_t>(GPUOPT_VARIABLE_AT_LOWER) : status;
}

/* Reads the file: the basis is this one. */
void check_read(const mip &m, const char *path, const statuses &wanted, const char *who) {
    statuses found(wanted.size() + 1, 77);
    char error[300] = "";
    if (bas_read(path, &m, found.data(), error, sizeof error)) fail_msg("%s: %s", who, error);
    assert_int_equal(found.back(), 77);
    for (size_t k = 0; k < wanted.size(); k++)
        if (without_zero(found[k]) != without_zero(wanted[k]))
            fail_msg("%s: variable %d of %d columns is %d, not %d", who, static_cast<int>(k),
                     static_cast<int>(m.matrix.cols), found[k], wanted[k]);
}

/* The verdict is the exact one, if there is one; an optimal basis leads to it. */
void check_verdict(gpuopt_context *context, const mip &m, const statuses &basis, const char *who, int trial) {
    gpuopt_simplex_desc desc = tableau_desc(&m);
    gpuopt_simplex *simplex = simplex_create(context, &desc);
    gpuopt_simplex_info info = {};
    const exact_answer exact = exact_solve(&m, basis.data());
    info.struct_size = sizeof info;
    if (gpuopt_simplex_set_basis(simplex, GPUOPT_HOST, basis.data()))
        fail_msg("%s, trial %d: the basis is refused", who, trial);
    assert_int_equal(gpuopt_simplex_verify_basis(simplex, &info), GPUOPT_OK);
    outcomes[info.outcome]++;
    if (info.outcome != GPUOPT_MORE && info.outcome != exact.outcome)
        fail_msg("%s, trial %d: %s, but exactly %s", who, trial, gpuopt_outcome_string(info.outcome),
                 gpuopt_outcome_string(exact.outcome));
    if (info.outcome == GPUOPT_MORE && exact.outcome == GPUOPT_OPTIMAL && exact.pivots == 0)
        fail_msg("%s, trial %d: the basis is optimal", who, trial);
    if (info.outcome == GPUOPT_OPTIMAL && !(std::fabs(info.objective - exact.objective) <= 1e-9))
        fail_msg("%s, trial %d: %.17g, but exactly %.17g", who, trial, info.objective, exact.objective);
    gpuopt_simplex_destroy(simplex);
}

void check_basis(gpuopt_context *context, const mip &m, const statuses &basis, const char *who, int trial) {
    const File glpk(as_glpk(m, basis)), first(as_highs(m, basis, false)), second(as_highs(m, basis, true));
    check_read(m, glpk.path(), basis, "as GLPK writes");
    check_read(m, first.path(), basis, "as HiGHS wrote");
    check_read(m, second.path(), basis, "as HiGHS writes");
    check_verdict(context, m, basis, who, trial);
}

void bases_of_other_solvers(void **) {
    gpuopt_context *context = test_context(nullptr);
    uint64_t seed = 11;
    int from_clp = 0;
    memset(outcomes, 0, sizeof outcomes);
    glp_term_out(GLP_OFF);
    for (int trial = 0; trial < 1500; trial++) {
        mip m = changes_model(&seed, static_cast<int32_t>(test_random_int(&seed, 1, 7)),
                              static_cast<int32_t>(test_random_int(&seed, 1, 9)));
        const File file;
        give_names(&m);
        const statuses clp = by_clp(&seed, m, file.path());
        if (std::count(clp.begin(), clp.end(), GPUOPT_VARIABLE_BASIC) == m.matrix.rows) { /* not always */
            check_read(m, file.path(), clp, "by CLP");
            check_basis(context, m, clp, "CLP's basis", trial);
            from_clp++;
        }
        check_basis(context, m, by_glpk(&seed, m), "GLPK's basis", trial);
        mip_free(&m);
    }
    assert_true(outcomes[GPUOPT_OPTIMAL] > 300 && outcomes[GPUOPT_INFEASIBLE] > 300);
    assert_true(outcomes[GPUOPT_UNBOUNDED] > 30 && outcomes[GPUOPT_MORE] > 300);
    assert_true(from_clp > 1000);
    glp_free_env();
    gpuopt_context_destroy(context);
}

/* ---- Files by hand ---- */

/* Columns a, b c (its spaces do not count), d; rows r, s. */
mip small() {
    static const char *const cols[] = {"a", "bc", "d"}, *const rows[] = {"r", "s"};
    static const double entries[] = {1, 2, 0, 0, 1, 1}, cost[] = {1, 1, 1}, side[] = {1, 1}, lb[] = {0, 0, 0},
                        ub[] = {9, 9, 9};
    mip m = model_of(2, 3, entries, cost, side, side, lb, ub);
    m.col_name = static_cast<char **>(calloc(4, sizeof(char *)));
    m.row_name = static_cast<char **>(calloc(3, sizeof(char *)));
    for (int k = 0; k < 3; k++) m.col_name[k] = strdup(cols[k]);
    for (int k = 0; k < 2; k++) m.row_name[k] = strdup(rows[k]);
    return m;
}

/* The statuses as digits of gpuopt_simplex_variable, or the fault, behind the path. */
std::string read(const std::string &text) {
    mip m = small();
    const File file(text);
    uint8_t status[5];
    char error[300] = "";
    std::string result;
    if (bas_read(file.path(), &m, status, error, sizeof error)) {
        assert_int_equal(strncmp(error, file.path(), strlen(file.path())), 0);
        result = error + strlen(file.path());
    } else {
        for (uint8_t s : status) result += static_cast<char>('0' + s);
    }
    mip_free(&m);
    return result;
}

void expect(const char *text, const char *wanted) {
    const std::string found = read(text);
    if (found != wanted) fail_msg("'%s'\n gives '%s' instead of '%s'", text, found.c_str(), wanted);
}

void formats(void **) {
    expect("NAME\nENDATA\n", "11100");
    expect("* a comment\nNAME m FREE\n XU a s\n UL bc\nENDATA\nbehind the end", "02102");
    expect("XL a r\r\n\r\nXU bc s\r\nENDATA", "00112");
    expect(" XU d r 3.5\n UL a _dummy_ 9\n BS bc _dummy_ 0\nENDATA\n", "23020");
    expect(" FR d\n LL a\n UL s\n BS bc\nENDATA\n", "10302");
    expect(" XU b c       r\nENDATA\n", "10120"); /* fixed columns */
    expect("HiGHS v1\nValid\n# Columns 3\n0 1\n\n1\n# Rows 2\n 2 4\n", "10021");
    expect("HiGHS_basis_file v2\nValid\n# Columns 3\nd 1\nb c 2\na 3\n# Rows 2\ns 0\nr 1 \n", "32001");
    expect("HiGHS_basis_file v2\nValid\n# Columns 3\na 1\nb_c 2\nd 1\n# Rows 2\nr 0\ns 2\n", "02012");
}

void errors(void **) {
    expect("", ":0: no basis in it (empty?)");
    expect("NAME\n XU a r\n", ":2: the file ends without ENDATA (truncated?)");
    expect("NAME\n XU a q\nENDATA\n", ":2: the model has no such column or row: <q>");
    expect("NAME\n XU r a\nENDATA\n", ":2: the model has no such column or row: <r>");
    expect("NAME\n XU a\nENDATA\n", ":2: not understood: < XU a>");
    expect("NAME\n ZZ a\nENDATA\n", ":2: not understood: < ZZ a>");
    expect("NAME\n UL a\n LL a\nENDATA\n", ":3: this comes twice: <a>");
    expect("NAME\n XU a r\n XL d r\nENDATA\n", ":3: this comes twice: <r>");
    expect("NAME\n BS a\n\nENDATA\n", ":4: 3 variables are basic, but the model has 2 rows");
    expect("NAME\n UL a\n LL r\nENDATA\n", ":4: 1 variables are basic, but the model has 2 rows");
    expect("NAME\n UL a\x01\nENDATA\n", ":2: the line has a control character in it");
    expect("\\ LP\nmin\n", ": this is in LP format, not an MPS file");
    expect("HiGHS v3\nValid\n", ":1: not understood: <HiGHS v3>");
    expect("HiGHS v1\nNone\n", ":2: HiGHS had no basis to write");
    expect("HiGHS v1\nValid\n# Columns 4\n", ":3: the model has another number of columns: <4>");
    expect("HiGHS v1\nValid\n# Columns 3\n1 1 0\n# Rows 99999999999999999999\n",
           ":5: the model has another number of rows: <99999999999999999999>");
    expect("HiGHS v1\nValid\n# Columns 3\n1 1 5\n", ":4: a status is 0 to 4, not this: <5>");
    expect("HiGHS v1\nValid\n# Columns 3\n1 1 10\n", ":4: a status is 0 to 4, not this: <10>");
    expect("HiGHS v1\nValid\n# Columns 3\n1 1 0 0\n", ":4: not understood: <1 1 0 0>");
    expect("HiGHS v1\nValid\n# Columns 3\n1 1\n", ":4: the file ends too early (truncated?)");
    expect("HiGHS v1\nValid\n# Columns 3\n1 1 0\n# Rows 2\n0 1\n",
           ":6: 3 variables are basic, but the model has 2 rows");
    expect("HiGHS_basis_file v2\nValid\n# Columns 3\na 1\nd 1\nx 0\n", ":6: the model has no such column or row: <x>");
    expect("HiGHS_basis_file v2\nValid\n# Columns 3\na 1\nd 1\nd 0\n", ":6: this comes twice: <d>");
    expect("HiGHS_basis_file v2\nValid\n# Columns 3\na 1\nd\n", ":5: a status is 0 to 4, not this: <d>");
    mip m = small();
    char error[300] = "";
    uint8_t status[5];
    assert_int_equal(bas_read("/nothing/there", &m, status, error, sizeof error), -1);
    assert_string_equal(error, "/nothing/there: cannot be opened: No such file or directory");
    mip_free(&m);
}

const struct CMUnitTest tests[] = {
    cmocka_unit_test(bases_of_other_solvers),
    cmocka_unit_test(formats),
    cmocka_unit_test(errors),
};

} // namespace

TEST_MAIN(tests)
