/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which executions are followed: of many alike, a subset that was drawn before.
 * All processes of the run share the file and count executions in it. */
#ifndef PERFCAST_QEMU_FOLLOW_PLAN_H
#define PERFCAST_QEMU_FOLLOW_PLAN_H

#include <stdbool.h>
#include <stdint.h>

/* False where the file is no plan. */
bool pq_plan_open(const char* path);
/* Whether this execution is to be followed; where a rule says so, *group and its number in it are set. */
bool pq_plan_follows(char* const* arguments, int* group, int* unit);

#endif
