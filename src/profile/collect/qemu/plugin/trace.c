/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sampling_state.h"

enum {
  PIECE = 100000,          /* instructions */
  MOST_PIECES = 48,        /* of a process */
  FIRST_INTERVAL = 200000, /* instructions that the first piece stands for */
  LONGEST_INTERVAL = 2500000,
  MOST_BYTES = 8 << 20, /* of a piece: a string instruction may go on and on */
  TEXTS = 1 << 18,      /* bytes that are taken at once */
  VERSION = 1
};
enum { TAG_BLOCK, TAG_BLOCK_AFTER_MISS, TAG_AGAIN, TAG_ACCESS, TAG_BITS = 2 };

struct bytes {
  uint8_t* data;
  size_t size, capacity;
  bool broken; /* no memory */
};

struct piece {
  bool window;
  uint64_t position, stands_for, instructions;
  struct bytes events;
};

struct pq_trace pq_trace;

static struct {
  pthread_mutex_t lock;
  struct piece pieces[MOST_PIECES];
  unsigned n;
  unsigned every, passed_by; /* one in so many windows; windows since the last one taken */
  uint64_t carried;          /* instructions that windows passed by stood for */
  uint64_t interval;         /* of the first phase */
  uint64_t random;
  uint32_t epoch, n_blocks;
  struct piece now;
  struct pq_predictors saved;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .every = 1, .interval = FIRST_INTERVAL};

/* ---- bytes ---- */

static bool room(struct bytes* b, size_t more) {
  if (b->size + more <= b->capacity) return true;
  size_t capacity = b->capacity ? b->capacity * 2 : 1 << 12;
  while (capacity < b->size + more) capacity *= 2;
  uint8_t* data = b->broken ? NULL : realloc(b->data, capacity);
  if (!data) {
    b->broken = true;
    return false;
  }
  b->data = data;
  b->capacity = capacity;
  return true;
}

static void put_byte(struct bytes* b, unsigned value) {
  if (room(b, 1)) b->data[b->size++] = (uint8_t)value;
}

static void put_number(struct bytes* b, uint64_t value) {
  if (!room(b, 10)) return;
  for (; value >= 0x80; value >>= 7) b->data[b->size++] = (uint8_t)(value | 0x80);
  b->data[b->size++] = (uint8_t)value;
}

static void put_signed(struct bytes* b, int64_t value) {
  put_number(b, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static void put_text(struct bytes* b, const char* text) {
  const size_t n = strlen(text);
  put_number(b, n);
  if (!room(b, n)) return;
  memcpy(b->data + b->size, text, n);
  b->size += n;
}

/* ---- what blocks are made of ---- */

static void put_registers(struct bytes* b, const uint8_t* registers, unsigned n) {
  put_byte(b, n);
  for (unsigned i = 0; i < n; i++) put_byte(b, registers[i]);
}

static void put_insn(struct bytes* b, const struct pq_insn* i, unsigned size) {
  put_byte(b, i->op);
  put_byte(b, size);
  put_byte(b, (unsigned)(i->vec_fp | i->mem_unknown << 1 | i->zero_idiom << 2 | i->is_rep << 3 | i->undecoded << 4 |
                         i->mul_wide << 5));
  put_byte(b, i->vec_words);
  put_byte(b, (unsigned)(i->fp_size | i->div_size << 4)); /* each at most 8 */
  put_byte(b, i->n_load);
  if (i->n_load) put_number(b, i->load_size);
  put_byte(b, i->n_store);
  if (i->n_store) put_number(b, i->store_size);
  put_registers(b, i->src, i->n_src);
  put_registers(b, i->addr, i->n_addr);
  put_registers(b, i->dst, i->n_dst);
}

/* Blocks are many and never go: their texts lie side by side. */
static uint8_t* keep_text(const struct bytes* text) {
  static uint8_t* free_from;
  static size_t left;
  if (text->broken) return NULL;
  if (text->size > left) {
    const size_t size = text->size > TEXTS ? text->size : TEXTS;
    uint8_t* more = malloc(size);
    if (!more) return NULL;
    free_from = more;
    left = size;
  }
  uint8_t* kept = free_from;
  memcpy(kept, text->data, text->size);
  free_from += text->size;
  left -= text->size;
  return kept;
}

void pq_trace_remember(struct pq_block* b, const struct pq_insn* insns, const uint8_t* sizes, size_t n) {
  static struct bytes text; /* under the lock, as the texts are */
  text.size = 0;
  text.broken = false;
  put_number(&text, n);
  for (size_t i = 0; i < n; i++) put_insn(&text, &insns[i], sizes[i]);
  b->trace.text = keep_text(&text);
  b->trace.text_size = (uint32_t)text.size;
}

/* ---- pieces ---- */

static void give_up_every_second(void) {
  unsigned kept = 0;
  for (unsigned i = 0; i < state.n; i++) {
    if (i % 2 == 0) {
      state.pieces[kept++] = state.pieces[i];
    } else {
      state.pieces[kept - 1].stands_for += state.pieces[i].stands_for;
      free(state.pieces[i].events.data);
    }
  }
  state.n = kept;
  state.every *= 2;
  state.interval *= 2;
}

static void keep_piece(void) {
  struct piece* p = &state.now;
  if (!p->instructions || p->events.broken) {
    free(p->events.data);
  } else {
    if (state.n == MOST_PIECES) give_up_every_second();
    state.pieces[state.n++] = *p;
  }
  memset(p, 0, sizeof *p);
}

/* In the first phase a piece lies anywhere in its interval. */
static void draw_in_interval(struct pq_vcpu* v, uint64_t from) {
  v->trace_from = from;
  v->trace_due = from + pq_random(&state.random) % (state.interval - PIECE);
}

static void stop(void) {
  struct pq_vcpu* v = pq_trace.owner;
  struct pq_predictors* p = v->predictors;
  pq_trace.owner = NULL;
  p->simulating = state.saved.simulating;
  p->phase = state.saved.phase;
  p->left = state.saved.left;
  p->pause = state.saved.pause;
  const bool window = state.now.window;
  const uint64_t next = v->trace_from + state.interval;
  keep_piece();
  if (window) {
    v->trace_due = UINT64_MAX;
  } else {
    const bool grows = pq_sampling.on && state.interval < LONGEST_INTERVAL;
    if (grows) state.interval = state.interval * 2 < LONGEST_INTERVAL ? state.interval * 2 : LONGEST_INTERVAL;
    draw_in_interval(v, next);
  }
}

void pq_trace_stop(void) {
  pthread_mutex_lock(&state.lock);
  if (pq_trace.owner) stop();
  pthread_mutex_unlock(&state.lock);
}

void pq_trace_window(uint64_t stands_for) {
  state.carried += stands_for;
  state.passed_by++;
}

void pq_trace_phase(struct pq_vcpu* v) {
  v->trace_due = UINT64_MAX;
  if (!pq_trace.on) return;
  if (pq_sampling.phase == PQ_FIRST) draw_in_interval(v, v->passed.instructions);
  /* the thread that comes first has the window's piece */
  if (pq_sampling.phase == PQ_WINDOW && state.carried && state.passed_by >= state.every)
    v->trace_due = v->passed.instructions;
}

void pq_trace_begin(struct pq_vcpu* v) {
  v->trace_due = UINT64_MAX;
  pthread_mutex_lock(&state.lock);
  const bool window = pq_sampling.phase == PQ_WINDOW;
  if (!pq_trace.owner && (!window || state.carried)) {
    struct pq_predictors* p = v->predictors;
    memset(&state.now, 0, sizeof state.now);
    state.now.window = window;
    state.now.position = v->passed.instructions;
    state.now.stands_for = window ? state.carried : state.interval;
    if (window) state.carried = state.passed_by = 0;
    state.epoch++;
    /* every branch of the piece, in the count of which nothing else is made */
    state.saved.simulating = p->simulating;
    state.saved.phase = p->phase;
    state.saved.left = p->left;
    state.saved.pause = p->pause;
    p->simulating = true;
    p->phase = 0;
    p->left = UINT64_MAX;
    pq_trace.owner = v;
  } else if (!window) {
    draw_in_interval(v, v->passed.instructions); /* another thread's piece is being taken: later */
  }
  pthread_mutex_unlock(&state.lock);
}

static void block_event(struct pq_block* b, unsigned tag) {
  struct bytes* events = &state.now.events;
  if (b->trace.epoch != state.epoch) {
    b->trace.epoch = state.epoch;
    if (b->trace.last) memset(b->trace.last, 0, b->n_watched * sizeof *b->trace.last);
  }
  if (!b->trace.number) {
    b->trace.number = ++state.n_blocks;
    if (b->n_watched) b->trace.last = calloc(b->n_watched, sizeof *b->trace.last);
  }
  put_number(events, (uint64_t)(b->trace.number - 1) << TAG_BITS | tag);
}

void pq_trace_block(struct pq_block* b, bool missed, bool again) {
  if (!b->trace.text) { /* no memory for it: the piece can't go on */
    pq_trace_stop();
    return;
  }
  if (state.now.instructions >= PIECE || state.now.events.size > MOST_BYTES) {
    pq_trace_stop();
    return;
  }
  if (!state.now.instructions) missed = again = false; /* nothing was before it */
  block_event(b, again ? TAG_AGAIN : missed ? TAG_BLOCK_AFTER_MISS : TAG_BLOCK);
  if (!again) state.now.instructions += b->n_insns;
}

void pq_trace_access(struct pq_block* b, const struct pq_watched* w, uint64_t address, unsigned found, unsigned is) {
  struct bytes* events = &state.now.events;
  if (!b->trace.last || b->trace.epoch != state.epoch || w < b->watched || w >= b->watched + b->n_watched) return;
  const unsigned slot = (unsigned)(w - b->watched);
  put_number(events, ((uint64_t)slot << 1 | (found != 0)) << TAG_BITS | TAG_ACCESS);
  if (found) put_byte(events, found);
  if (w->access == PQ_A_UNKNOWN) put_byte(events, is);
  put_signed(events, (int64_t)(address - b->trace.last[slot]));
  b->trace.last[slot] = address;
}

void pq_trace_forked(void) {
  pthread_mutex_init(&state.lock, NULL);
  if (pq_trace.owner) stop();
  for (unsigned i = 0; i < state.n; i++) free(state.pieces[i].events.data);
  state.n = state.passed_by = 0;
  state.every = 1;
  state.carried = 0;
  state.interval = FIRST_INTERVAL;
  state.random ^= (uint64_t)getpid() << 32;
}

/* ---- the file ---- */

static void put_block(struct bytes* out, const struct pq_block* b) {
  put_number(out, b->trace.number - 1);
  put_number(out, b->pc);
  put_byte(out, b->branch);
  put_number(out, b->n_watched);
  for (unsigned i = 0; i < b->n_watched; i++) {
    put_number(out, b->watched[i].insn);
    put_byte(out, b->watched[i].access);
    put_byte(out, b->watched[i].last_byte);
  }
  if (!room(out, b->trace.text_size)) return;
  memcpy(out->data + out->size, b->trace.text, b->trace.text_size);
  out->size += b->trace.text_size;
}

static void put_classes(struct bytes* out) {
  static const char* const classes[] = {
#define NAME(id, name) name,
      PQ_CLASSES(NAME)
#undef NAME
  };
  put_number(out, PQ_N_CLASSES);
  for (unsigned i = 0; i < PQ_N_CLASSES; i++) put_text(out, classes[i]);
}

static bool write_all(const char* path, const struct bytes* out) {
  FILE* f = out->broken ? NULL : fopen(path, "we");
  if (!f) return false;
  bool ok = fwrite(out->data, 1, out->size, f) == out->size;
  ok = fclose(f) == 0 && ok;
  if (!ok) unlink(path);
  return ok;
}

bool pq_trace_write(const char* path, enum pq_arch arch) {
  pq_trace_stop();
  struct bytes out = {0};
  put_text(&out, "perfcast-trace");
  put_number(&out, VERSION);
  put_text(&out, arch == PQ_X86_64 ? "x86_64" : "aarch64");
  put_classes(&out);
  put_number(&out, state.n_blocks);
  for (uint32_t id = 0, n = pq_block_total(); id < n; id++)
    if (pq_block_at(id)->trace.number) put_block(&out, pq_block_at(id));
  put_number(&out, state.n);
  for (unsigned i = 0; i < state.n; i++) {
    const struct piece* p = &state.pieces[i];
    put_byte(&out, p->window);
    put_number(&out, p->position);
    put_number(&out, p->stands_for);
    put_number(&out, p->instructions);
    put_number(&out, p->events.size);
    if (!room(&out, p->events.size)) break;
    memcpy(out.data + out.size, p->events.data, p->events.size);
    out.size += p->events.size;
  }
  const bool ok = write_all(path, &out);
  free(out.data);
  return ok;
}
