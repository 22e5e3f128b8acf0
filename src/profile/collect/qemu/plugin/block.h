/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Translated blocks: what is known about each before it runs. */
#ifndef PERFCAST_QEMU_BLOCK_H
#define PERFCAST_QEMU_BLOCK_H

#include <stddef.h>

#include "insn.h"

enum { PQ_CHUNK_BITS = 12, PQ_CHUNK = 1 << PQ_CHUNK_BITS, PQ_MAX_CHUNKS = 4096 };

/* How often a vCPU ran a block. For a block that is one repeated string
 * instruction, `again` counts its further iterations (QEMU runs the block once
 * per iteration); for others, the runs directly after itself. */
struct pq_count {
  uint64_t execs, again;
};

/* How an instruction's accesses are reported. */
enum pq_access { PQ_A_LOAD, PQ_A_STORE, PQ_A_WIDE_LOAD, PQ_A_WIDE_STORE, PQ_A_UNKNOWN };
struct pq_watched {
  uint16_t insn; /* its place in the block */
  uint8_t access;
  uint8_t last_byte; /* size - 1, but for unknown ones */
  bool is_string;    /* repeated: a single one may touch any amount of memory */
  bool is_atomic;
};

struct pq_block {
  /* hot: read at every execution */
  struct pq_count* count0; /* of vCPU 0 */
  uint64_t plain;          /* runs in plain phases, all vCPUs together; QEMU adds them up without a call */
  uint64_t pc, fall_through, last_pc;
  uint64_t first_line, last_line;
  uint32_t id;
  uint16_t n_insns, n_accesses, n_lines;
  uint8_t branch;
  bool ends_with_rep, is_rep; /* is_rep: nothing but a repeated string instruction */
  /* cold */
  uint8_t rep_loads, rep_stores, rep_size;
  uint16_t n_watched;
  struct pq_watched* watched; /* instructions that touch memory */
  uint32_t n_bytes;
  uint32_t mapping; /* executed.c: which file its code lies in; 0: not known */
  uint64_t hash;
  struct pq_block* next; /* same bucket */
  struct {               /* trace.c */
    uint8_t* text;       /* its instructions, as they stand in the file */
    uint64_t* last;      /* address of the latest access of each watched one */
    uint32_t text_size, number, epoch;
  } trace;
  struct { /* phases.c: what earlier intervals have, and where its code lies */
    uint64_t executions, iterations;
    uint16_t place;
  } phases;
  uint16_t stat[PQ_N_STATS];
  uint16_t self[PQ_N_SELF];
};

/* The record for this code, new or the one that an earlier translation made.
 * NULL when memory or block numbers ran out. Call under the translation lock. */
struct pq_block* pq_block_find(uint64_t pc, uint32_t n_bytes, uint64_t hash, bool* is_new);

/* Fills a new record. */
void pq_block_analyse(struct pq_block* b, const struct pq_insn* insns, size_t n, uint64_t last_pc);

/* All records made so far; stable addresses, safe to read while others are added. */
uint32_t pq_block_total(void);
struct pq_block* pq_block_at(uint32_t id);
/* The counters of vCPU 0 (one array per chunk). */
struct pq_count* pq_count0_chunk(uint32_t chunk);

#endif
