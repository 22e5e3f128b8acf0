/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One recency list of lines with a marker at each cache size gives the misses
 * of fully associative LRU caches of all sizes at once, at a cost that does not
 * depend on their size. Exact at first; once a program proves large, only every
 * eighth line (by hash) is followed and each stands for eight. */
#include "lru_stack.h"

#include <stdlib.h>
#include <string.h>

enum {
  SMALLEST_BITS = 12, /* lines of 256 KiB */
  SAMPLE_BITS = 3,
  NODES = 1 << 17, /* lines of 64 MiB in the sample */
  TABLE = NODES * 2,
  EXACT_ACCESSES = 1 << 19
};

struct node {
  uint64_t line;
  uint32_t newer, older; /* 0: none; node 0 is not used */
  uint32_t level;        /* the smallest cache that holds it */
};

struct pq_stack {
  uint32_t size, newest, oldest, free_list;
  unsigned sample_bits;
  uint64_t accesses;
  uint32_t capacity[PQ_N_LARGE]; /* in nodes */
  uint32_t marker[PQ_N_LARGE];   /* the last node inside each cache, 0: not full */
  struct node* nodes;
  uint32_t* table;
};

static uint64_t hash_of(uint64_t line) {
  uint64_t h = line * 0x9e3779b97f4a7c15u;
  return (h ^ (h >> 32)) * 0xd6e8feb86659fd93u;
}
static uint32_t home(uint64_t hash) { return (uint32_t)(hash >> 20) & (TABLE - 1); }

static void set_capacities(struct pq_stack* s) {
  for (unsigned i = 0; i < PQ_N_LARGE; i++) s->capacity[i] = UINT32_C(1) << (SMALLEST_BITS + i - s->sample_bits);
}

struct pq_stack* pq_stack_new(void) {
  struct pq_stack* s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->nodes = calloc(NODES + 1, sizeof *s->nodes);
  s->table = calloc(TABLE, sizeof *s->table);
  if (!s->nodes || !s->table) {
    free(s->nodes);
    free(s->table);
    free(s);
    return NULL;
  }
  set_capacities(s);
  return s;
}

static uint32_t find(const struct pq_stack* s, uint64_t line, uint64_t hash) {
  uint32_t i = home(hash);
  while (s->table[i] && s->nodes[s->table[i]].line != line) i = (i + 1) & (TABLE - 1);
  return s->table[i];
}

static void insert(struct pq_stack* s, uint32_t n, uint64_t hash) {
  uint32_t i = home(hash);
  while (s->table[i]) i = (i + 1) & (TABLE - 1);
  s->table[i] = n;
}

static void erase(struct pq_stack* s, uint32_t n) {
  uint32_t i = home(hash_of(s->nodes[n].line));
  while (s->table[i] != n) i = (i + 1) & (TABLE - 1);
  for (uint32_t j = i;;) { /* close the gap */
    j = (j + 1) & (TABLE - 1);
    if (!s->table[j]) break;
    uint32_t h = home(hash_of(s->nodes[s->table[j]].line));
    if (((j - h) & (TABLE - 1)) >= ((j - i) & (TABLE - 1))) {
      s->table[i] = s->table[j];
      i = j;
    }
  }
  s->table[i] = 0;
}

static void unlink_node(struct pq_stack* s, uint32_t n) {
  struct node* x = &s->nodes[n];
  if (x->newer)
    s->nodes[x->newer].older = x->older;
  else
    s->newest = x->older;
  if (x->older)
    s->nodes[x->older].newer = x->newer;
  else
    s->oldest = x->newer;
}

static void push_front(struct pq_stack* s, uint32_t n) {
  s->nodes[n].newer = 0;
  s->nodes[n].older = s->newest;
  s->nodes[n].level = 0;
  if (s->newest)
    s->nodes[s->newest].newer = n;
  else
    s->oldest = n;
  s->newest = n;
}

/* A node goes in front: the last one of each of the first n caches falls out of it. */
static void shift_markers(struct pq_stack* s, unsigned n) {
  for (unsigned i = 0; i < n && s->marker[i]; i++) {
    struct node* last = &s->nodes[s->marker[i]];
    last->level = i + 1;
    s->marker[i] = last->newer;
  }
}

/* Keeps only the sampled lines and renumbers what they stand for. */
static void start_sampling(struct pq_stack* s) {
  s->sample_bits = SAMPLE_BITS;
  set_capacities(s);
  memset(s->table, 0, TABLE * sizeof *s->table);
  memset(s->marker, 0, sizeof s->marker);
  uint32_t next, position = 0;
  for (uint32_t n = s->newest; n; n = next) {
    next = s->nodes[n].older;
    if (!pq_in_sample(s->nodes[n].line, SAMPLE_BITS)) {
      unlink_node(s, n);
      s->nodes[n].older = s->free_list;
      s->free_list = n;
      continue;
    }
    insert(s, n, hash_of(s->nodes[n].line));
    unsigned level = 0;
    while (position >= s->capacity[level]) level++;
    s->nodes[n].level = level;
    if (++position == s->capacity[level]) s->marker[level] = n;
  }
  s->size = position;
}

static uint32_t new_node(struct pq_stack* s) {
  if (s->size == s->capacity[PQ_N_LARGE - 1]) { /* the oldest leaves the largest cache */
    uint32_t n = s->oldest;
    s->marker[PQ_N_LARGE - 1] = 0;
    erase(s, n);
    unlink_node(s, n);
    s->size--;
    return n;
  }
  if (s->free_list) {
    uint32_t n = s->free_list;
    s->free_list = s->nodes[n].older;
    return n;
  }
  return s->size + 1; /* never freed so far: they are in use from 1 up */
}

unsigned pq_stack_access(struct pq_stack* s, uint64_t line, unsigned* sample_bits) {
  uint64_t hash = hash_of(line);
  if (s->sample_bits == 0 && (++s->accesses == EXACT_ACCESSES || s->size == NODES)) {
    start_sampling(s);
    *sample_bits = SAMPLE_BITS;
    if (!pq_in_sample(line, SAMPLE_BITS)) return 0; /* one access lost */
  }
  uint32_t n = find(s, line, hash);
  if (n) {
    unsigned level = s->nodes[n].level;
    if (n == s->newest) return 0;
    if (s->marker[level] == n) s->marker[level] = s->nodes[n].newer;
    shift_markers(s, level);
    unlink_node(s, n);
    push_front(s, n);
    return level;
  }
  n = new_node(s);
  s->nodes[n].line = line;
  insert(s, n, hash);
  shift_markers(s, PQ_N_LARGE);
  push_front(s, n);
  s->size++;
  for (unsigned i = 0; i < PQ_N_LARGE; i++)
    if (s->size == s->capacity[i]) s->marker[i] = s->oldest;
  return PQ_N_LARGE;
}
