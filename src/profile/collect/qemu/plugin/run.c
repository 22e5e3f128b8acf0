/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run.h"

struct pq_count pq_runs_of(const struct pq_run* run, const struct pq_block* b) {
  const uint32_t chunk = b->id >> PQ_CHUNK_BITS, at = b->id & (PQ_CHUNK - 1);
  struct pq_count c = pq_count0_chunk(chunk)[at];
  for (unsigned v = 1; v < run->n_vcpus; v++) {
    if (!pq_vcpus[v] || !pq_vcpus[v]->counts[chunk]) continue;
    c.execs += pq_vcpus[v]->counts[chunk][at].execs;
    c.again += pq_vcpus[v]->counts[chunk][at].again;
  }
  if (c.execs) c.again += (uint64_t)((double)b->plain * ((double)c.again / (double)c.execs) + 0.5);
  c.execs += b->plain;
  return c;
}

struct pq_executions pq_executions_of(const struct pq_run* run, const struct pq_block* b) {
  const struct pq_count c = pq_runs_of(run, b);
  if (!b->is_rep) return (struct pq_executions){c.execs, 0};
  return (struct pq_executions){c.execs - c.again, c.again};
}
