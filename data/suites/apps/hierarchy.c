// The area under (1 - x) / (1 + x) between bounds that are drawn nearer by halving the interval with the largest error,
// again and again: hierarchy INTERVALS ROUNDS. Single precision; the memory grows with the answer's quality.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  float left, width;
  float low, high;  // squares of the grid certainly under, and at most under the curve
  float error;
} Interval;

static float curve(float x) { return (1 - x) / (1 + x); }

static Interval interval(float left, float width, float grid) {
  const float cells = width * grid;
  Interval made = {left, width, cells * floorf(curve(left + width) * grid), cells * ceilf(curve(left) * grid), 0};
  made.error = made.high - made.low;
  return made;
}

// The heap's largest error comes first.
static void sink(Interval* heap, size_t count) {
  const Interval held = heap[0];
  size_t at = 0;
  while (2 * at + 1 < count) {
    size_t child = 2 * at + 1;
    if (child + 1 < count && heap[child + 1].error > heap[child].error) ++child;
    if (heap[child].error <= held.error) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = held;
}

static void rise(Interval* heap, size_t at) {
  const Interval held = heap[at];
  while (at > 0 && heap[(at - 1) / 2].error < held.error) {
    heap[at] = heap[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  heap[at] = held;
}

int main(int argc, char** argv) {
  const size_t most = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
  const int rounds = argc == 3 ? atoi(argv[2]) : 0;
  if (most < 2 || rounds <= 0) {
    fprintf(stderr, "hierarchy: expected a number of intervals and of rounds\n");
    return 2;
  }
  Interval* heap = malloc(most * sizeof *heap);
  if (heap == NULL) return 1;
  const float grid = 16384;
  double low = 0, high = 0;
  for (int round = 0; round < rounds; ++round) {
    // From few intervals to many: every size of memory has its turn.
    for (size_t size = 64; size <= most; size *= 4) {
      size_t count = 1;
      heap[0] = interval(0, 1, grid);
      while (count < size) {
        const Interval widest = heap[0];
        heap[0] = interval(widest.left, widest.width / 2, grid);
        sink(heap, count);
        heap[count] = interval(widest.left + widest.width / 2, widest.width / 2, grid);
        rise(heap, count++);
      }
      low = high = 0;
      for (size_t i = 0; i < count; ++i) {
        low += heap[i].low;
        high += heap[i].high;
      }
    }
  }
  free(heap);
  low /= (double)grid * grid;
  high /= (double)grid * grid;
  printf("%.6f %.6f\n", low, high);
  const double exact = 2 * log(2) - 1;
  return low <= exact && exact <= high && high - low < 0.01 ? 0 : 1;
}
