/* SPDX-License-Identifier: GPL-2.0-or-later */
#define _GNU_SOURCE
#include "follow_plan.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct rule {
  uint64_t hash;
  uint32_t total, followed, offset, group;
  uint32_t seen; /* shared by all processes */
  uint32_t padding;
};

static struct rule* rules;
static uint64_t n_rules;

bool pq_plan_open(const char* path) {
  int file = open(path, O_RDWR | O_CLOEXEC);
  struct stat facts;
  if (file < 0 || fstat(file, &facts) || facts.st_size < 16) {
    if (file >= 0) close(file);
    return false;
  }
  char* all = mmap(NULL, (size_t)facts.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (all == MAP_FAILED || memcmp(all, "pqplan1", 8)) return false;
  memcpy(&n_rules, all + 8, sizeof n_rules);
  if (n_rules > ((uint64_t)facts.st_size - 16) / sizeof *rules) return false;
  rules = (struct rule*)(all + 16);
  return true;
}

static uint64_t hash_of(char* const* arguments) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (; *arguments; arguments++) {
    for (const char* c = *arguments; *c; c++) hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    hash *= 0x100000001b3u;
  }
  return hash;
}

static struct rule* find(uint64_t hash) {
  uint64_t low = 0, high = n_rules;
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (rules[middle].hash < hash)
      low = middle + 1;
    else
      high = middle;
  }
  return low < n_rules && rules[low].hash == hash ? &rules[low] : NULL;
}

bool pq_plan_follows(char* const* arguments, int* group, int* unit) {
  struct rule* rule = find(hash_of(arguments));
  if (!rule || !rule->total) return true;
  /* evenly spaced: the k-th of `total` where k * followed passes a multiple of total */
  uint64_t k = (uint64_t)__atomic_fetch_add(&rule->seen, 1, __ATOMIC_RELAXED) + rule->offset;
  bool follows = k % rule->total * rule->followed % rule->total < rule->followed;
  if (follows) {
    *group = (int)rule->group;
    *unit = (int)((uint64_t)(rule - rules) + k);
  }
  return follows;
}
