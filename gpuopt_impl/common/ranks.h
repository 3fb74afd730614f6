/* SPDX-License-Identifier: MIT
 *
 * Shared by the families with handles that work in a group: the group of a handle, and agreement of ranks on a status.
 * Uses the group's public calls.
 */
#ifndef GPUOPT_IMPL_RANKS_H
#define GPUOPT_IMPL_RANKS_H

#include "bytes.h"
#include "checks.h"

/* Fills info for the group that a descriptor for `context` names; NULL: one rank. ARGUMENT: *group belongs to another
 * context; sets *group to NULL. */
static gpuopt_status gpuopt__ranks_of(const gpuopt_context *context, const char *call, gpuopt_group **group,
                                      gpuopt_group_info *info) {
    memset(info, 0, sizeof *info);
    info->struct_size = sizeof *info;
    info->count = 1;
    if (!*group) return GPUOPT_OK;
    gpuopt_group_get_info(*group, info);
    if (info->context == context) return GPUOPT_OK;
    *group = NULL;
    return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "the group is of another context");
}

static int gpuopt__ranks_lost(gpuopt_group *group) {
    gpuopt_group_info info;
    gpuopt_desc_init(&info, sizeof info);
    gpuopt_group_get_info(group, &info);
    return info.broken;
}

/* For what a group cannot do yet. */
static gpuopt_status gpuopt__ranks_refuse(const gpuopt_context *context, const char *call, const gpuopt_group *group,
                                          const char *fault) {
    return group ? gpuopt__refuse(context, GPUOPT_ERROR_UNSUPPORTED, call, fault) : GPUOPT_OK;
}

/* Adds up `count` numbers of all ranks. */
static gpuopt_status gpuopt__ranks_sum(gpuopt_group *group, int64_t count, int64_t *number) {
    return gpuopt_group_all_reduce(group, GPUOPT_REDUCE_SUM, count, number, NULL);
}

/* A failure of the device concerns only this rank; the other ranks cannot continue without it. */
static gpuopt_status gpuopt__ranks_give_up(gpuopt_group *group, gpuopt_status status) {
    gpuopt_group_abort(group);
    return status;
}

/* Whether all ranks have reached this call with an equal hash; else logs the reason and returns the same status on all.
 * Without a group: the status of this rank. */
static gpuopt_status gpuopt__ranks_agree(const gpuopt_context *context, gpuopt_group *group, const char *call,
                                         gpuopt_status status, uint64_t hash) {
    gpuopt_group_info info;
    int64_t least[3], who;
    gpuopt_status agreed;
    if (!group) return status;
    gpuopt_desc_init(&info, sizeof info);
    gpuopt_group_get_info(group, &info);
    if (status == GPUOPT_ERROR_DEVICE) return gpuopt__ranks_give_up(group, status);
    hash >>= 1; /* so that it and its negative fit in int64 */
    least[0] = status ? (int64_t)status * 65536 + info.rank : 0;
    least[1] = (int64_t)hash;
    least[2] = -(int64_t)hash;
    agreed = gpuopt_group_all_reduce(group, GPUOPT_REDUCE_MIN, 3, least, NULL);
    if (agreed) return agreed;
    if (least[0] < 0) {
        who = least[0] & 65535;
        agreed = (gpuopt_status)((least[0] - who) / 65536);
        if (who != info.rank)
            gpuopt__log(context, 0, "%s: on rank %d: %s", call, (int)who, gpuopt_status_string(agreed));
        return agreed;
    }
    if (least[1] == -least[2]) return GPUOPT_OK;
    return gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "the ranks were given different arguments");
}

#endif /* GPUOPT_IMPL_RANKS_H */
