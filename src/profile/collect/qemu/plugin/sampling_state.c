/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sampling_state.h"

struct pq_sampling pq_sampling = {.first = 10000000, .window = 3000000, .share = 0.15, .at_first_ms = 400, .seed = 1};
