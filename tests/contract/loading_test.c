/* SPDX-License-Identifier: MIT
 *
 * On a real GPU, a step loads no kernel: _create has done so. CUDA loads kernels one at a time and keeps them, so every
 * problem runs in a separate process. There the driver reports, for each function of the family's module, whether it is
 * loaded, before the first step and after the last. The module is found by the first kernel for which _create reads the
 * attributes (cudaFuncGetAttributes, which the linker's --wrap leads here).
 *
 * This covers neither kernels that these problems do not launch, nor cuBLAS and cuSOLVER, which have separate modules.
 * On the emulated GPU every test notices a launch of a kernel that _create has not loaded. The device's free memory
 * would show less: it comes in pieces of megabytes, which one more kernel seldom uses up.
 */
#define _POSIX_C_SOURCE 200809L /* setenv, fork */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/contract/problems.h"
#include "tests/support/green.h"

/* Exit codes of a process. */
enum { FINE, ALL_LOADED, FAULT, OLD_CUDA };
static const char *const endings[] = {"no kernel was loaded by a step", "all kernels were loaded by _create", "a fault",
                                      "CUDA is older than 12.4"};
static int ending[PROBLEMS];

/* ---- The module of a family ---- */

static const void *first_kernel; /* the first kernel with its attributes read */

cudaError_t __real_cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *kernel);
cudaError_t __wrap_cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *kernel) {
    if (!first_kernel) first_kernel = kernel;
    return __real_cudaFuncGetAttributes(attributes, kernel);
}

#if CUDA_VERSION >= 12040

enum { MOST = 1 << 14 };
static CUfunction function[MOST]; /* of the module */
static unsigned functions;

static struct {
    CUresult (*module_of)(CUmodule *, CUfunction);
    CUresult (*count)(unsigned *, CUmodule);
    CUresult (*enumerate)(CUfunction *, unsigned, CUmodule);
    CUresult (*is_loaded)(CUfunctionLoadingState *, CUfunction);
    CUresult (*load)(CUfunction);
    CUresult (*name)(const char **, CUfunction);
} driver;

static int find(void *function_pointer, const char *name, unsigned version) {
    void *found = test_driver_function(name, version);
    memcpy(function_pointer, &found, sizeof found);
    return found != NULL;
}

static int find_driver(void) {
    return find(&driver.module_of, "cuFuncGetModule", 11000) &&
           find(&driver.count, "cuModuleGetFunctionCount", 12040) &&
           find(&driver.enumerate, "cuModuleEnumerateFunctions", 12040) &&
           find(&driver.is_loaded, "cuFuncIsLoaded", 12040) && find(&driver.load, "cuFuncLoad", 12040) &&
           find(&driver.name, "cuFuncGetName", 12030);
}

/* Lists the functions of the module, whether they are loaded or not. */
static const char *list_functions(void) {
    cudaFunction_t first;
    CUmodule module;
    if (!first_kernel) return "_create asks for no kernel's attributes";
    if (cudaGetFuncBySymbol(&first, first_kernel) || driver.module_of(&module, first)) return "no module";
    if (driver.count(&functions, module) || functions > MOST) return "the number of functions";
    return driver.enumerate(function, functions, module) ? "the functions" : NULL;
}

static int is_loaded(unsigned k) {
    CUfunctionLoadingState state;
    return driver.is_loaded(&state, function[k]) == CUDA_SUCCESS && state == CU_FUNCTION_LOADING_STATE_LOADED;
}

/* ---- In a separate process ---- */

/* Solves a problem; NULL if no step has loaded a kernel. */
static const char *solve(gpuopt_context *context, const problem *p, int *end) {
    static unsigned char before[MOST];
    const family *f = &families[p->kind->family];
    const char *fault, *name = "?";
    void *handle;
    int number, more = 1;
    unsigned k, spare = 0;
    first_kernel = NULL; /* not one of the context's */
    if (f->create(context, &p->desc, &handle)) return "create";
    if ((fault = list_functions())) return fault;
    for (k = 0; k < functions; k++) before[k] = (unsigned char)is_loaded(k);
    for (number = 0; more && number < 10000; number++)
        if (problem_step(p, handle, number, &more)) return "a step";
    if (!p->kind->check(p, handle)) return "the answer";
    for (k = 0; k < functions; k++) {
        if (!before[k]) spare = k + 1;
        if (is_loaded(k) == before[k]) continue;
        driver.name(&name, function[k]);
        printf("loaded by a step: %s\n", name);
        fault = "a step has loaded a kernel";
    }
    f->destroy(handle);
    *end = spare ? FINE : ALL_LOADED;
    /* Loading is noticed when it happens. */
    if (!fault && spare && (driver.load(function[spare - 1]) || !is_loaded(spare - 1))) fault = "loading is not seen";
    return fault;
}

static int run(int k) {
    gpuopt_context_desc desc;
    gpuopt_context *context;
    const char *fault;
    int end = FAULT;
    setenv("CUDA_MODULE_LOADING", "LAZY", 1);
    if (!find_driver()) return OLD_CUDA;
    test_backend(test_backend_name, 1, &desc);
    if (gpuopt_context_create(&desc, &context)) return FAULT;
    make_problems(NULL);
    fault = solve(context, &problems[k], &end);
    if (!fault) gpuopt_context_destroy(context);
    if (fault) printf("%s of size %d: %s\n", problems[k].kind->name, (int)problems[k].size, fault);
    fflush(stdout);
    return fault ? FAULT : end;
}

#else

static int run(int k) {
    (void)k;
    return OLD_CUDA;
}

#endif

/* ---- Tests ---- */

static void steps_load_nothing(void **state) {
    int k, fine = 0;
    (void)state;
    if (ending[0] == OLD_CUDA) {
        print_message("SKIPPED: whether steps load kernels: %s\n", endings[OLD_CUDA]);
        skip();
    }
    for (k = 0; k < PROBLEMS; k++) {
        print_message("problem %d: %s\n", k, endings[ending[k]]);
        assert_true(ending[k] == FINE || ending[k] == ALL_LOADED);
        fine += ending[k] == FINE;
    }
    assert_true(fine > 0); /* else the driver reports every function as loaded */
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(steps_load_nothing)};

int main(int argc, char **argv) {
    int k, status;
    if (argc > 1) test_backend_name = argv[1];
    for (k = 0; k < PROBLEMS; k++) { /* before this process uses CUDA */
        pid_t child = fork();
        if (child == 0) _exit(run(k));
        ending[k] = FAULT;
        if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) <= OLD_CUDA)
            ending[k] = WEXITSTATUS(status);
    }
    return test_main(argc, argv, __FILE__, tests, sizeof tests / sizeof *tests);
}
