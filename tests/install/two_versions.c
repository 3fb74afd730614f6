/* SPDX-License-Identifier: MIT
 *
 * For shared_test.sh. With PLUGIN: a library that is linked with another version of gpuopt. Without: a program that is
 * linked with this version and opens, one by one, the files of its arguments, with RTLD_GLOBAL or, after "local", with
 * RTLD_LOCAL. It prints the version that it sees itself, and that which each file sees; it opens and closes each file
 * twice. A file is such a plugin or a libgpuopt.so.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "gpuopt.h"

#ifdef PLUGIN
int plugin_version(void);
int plugin_version(void) {
    gpuopt_context *context;
    if (gpuopt_context_create(NULL, &context)) return -1;
    gpuopt_context_destroy(context);
    return gpuopt_version_number();
}
#else
typedef int version_call(void);

static int version_of(const char *file, int flags) {
    void *library = dlopen(file, RTLD_NOW | flags), *found = NULL;
    version_call *call;
    int version;
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return -1;
    }
    found = dlsym(library, "plugin_version");
    if (!found) found = dlsym(library, "gpuopt_version_number");
    if (!found) return -2;
    memcpy(&call, &found, sizeof call);
    version = call();
    dlclose(library);
    return version;
}

int main(int argc, char **argv) {
    int flags = RTLD_GLOBAL, i;
    printf("%d", gpuopt_version_number());
    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "local") == 0) flags = RTLD_LOCAL;
        else printf(" %d %d", version_of(argv[i], flags), version_of(argv[i], flags));
    }
    printf(" %d\n", gpuopt_version_number());
    return 0;
}
#endif
