/* SPDX-License-Identifier: MIT
 *
 * The whole grid as a group, which is all that the library uses.
 */
#ifndef EMULATED_COOPERATIVE_GROUPS_H
#define EMULATED_COOPERATIVE_GROUPS_H

#include "emulated/kernel.h"

namespace cooperative_groups {

struct grid_group {
    void sync(EMULATED_FROM) const { emulated::sync_grid({"the grid's barrier", file, line}); }
};
inline grid_group this_grid() { return {}; }

} // namespace cooperative_groups

#endif /* EMULATED_COOPERATIVE_GROUPS_H */
