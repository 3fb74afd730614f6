/* SPDX-License-Identifier: MIT
 *
 * A backend's table of functions, filled by name. C has designators for this; C++17, as which the implementation also
 * compiles, does not.
 */
#ifndef GPUOPT_IMPL_TABLE_H
#define GPUOPT_IMPL_TABLE_H

/* Defines `name`, a constant of this struct type. entries is a macro: entries(SET) expands to SET(member, function) for
 * each function of the backend, in any order. Members that it leaves out are NULL. */
#ifdef __cplusplus
#define GPUOPT__TABLE_SET(member, function) table.member = function;
#define GPUOPT__TABLE(type, name, entries) \
    const type name = [] {                 \
        type table = {};                   \
        entries(GPUOPT__TABLE_SET);        \
        return table;                      \
    }()
#else
#define GPUOPT__TABLE_SET(member, function) .member = function,
#define GPUOPT__TABLE(type, name, entries) const type name = {entries(GPUOPT__TABLE_SET)}
#endif

#endif /* GPUOPT_IMPL_TABLE_H */
