/* SPDX-License-Identifier: MIT */
#include "emulated/api.h"
