/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vcpu.h"

struct pq_vcpu* pq_vcpus[PQ_MAX_VCPUS];
