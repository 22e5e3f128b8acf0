/* A few loops that compilers treat differently, for data/tuning/gcc.json. Prints a check and the seconds of the faster of
 * two rounds. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kCells = 1 << 13, kBodies = 40 };
static uint32_t keys[kCells], sorted[kCells];
static float grid[96][96], next_grid[96][96];
static unsigned char text[1 << 16];
struct body { double x, y, z, vx, vy, vz, mass; };
static struct body bodies[kBodies];

static uint32_t draw(uint32_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  *state ^= *state << 5;
  return *state;
}

static int compare(uint32_t a, uint32_t b) { return (a > b) - (a < b); }

static void sort(uint32_t* v, int n) {
  while (n > 16) {
    uint32_t pivot = v[n / 2];
    int i = -1, j = n;
    for (;;) {
      do ++i; while (compare(v[i], pivot) < 0);
      do --j; while (compare(v[j], pivot) > 0);
      if (i >= j) break;
      uint32_t t = v[i];
      v[i] = v[j];
      v[j] = t;
    }
    sort(v, j + 1);
    v += j + 1;
    n -= j + 1;
  }
  for (int i = 1; i < n; ++i) {
    uint32_t t = v[i];
    int j = i;
    for (; j > 0 && compare(v[j - 1], t) > 0; --j) v[j] = v[j - 1];
    v[j] = t;
  }
}

static float smooth(int rounds) {
  for (int round = 0; round < rounds; ++round) {
    for (int i = 1; i < 95; ++i)
      for (int j = 1; j < 95; ++j)
        next_grid[i][j] = 0.2f * (grid[i][j] + grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] + grid[i][j + 1]);
    memcpy(grid, next_grid, sizeof grid);
  }
  float sum = 0;
  for (int i = 0; i < 96; ++i)
    for (int j = 0; j < 96; ++j) sum += grid[i][j];
  return sum;
}

static uint32_t count_words(void) {
  uint32_t words = 0, hash = 2166136261u, mix = 0;
  int inside = 0;
  for (size_t i = 0; i < sizeof text; ++i) {
    const int letter = (text[i] >= 'a' && text[i] <= 'z') || (text[i] >= 'A' && text[i] <= 'Z');
    if (letter) {
      hash = (hash ^ (text[i] | 32)) * 16777619u;
      inside = 1;
    } else if (inside) {
      ++words;
      mix ^= hash;
      hash = 2166136261u;
      inside = 0;
    }
  }
  return words ^ (mix & 1023);
}

static double move(int steps) {
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < kBodies; ++i) {
      double fx = 0, fy = 0, fz = 0;
      for (int j = 0; j < kBodies; ++j) {
        const double dx = bodies[j].x - bodies[i].x, dy = bodies[j].y - bodies[i].y, dz = bodies[j].z - bodies[i].z;
        const double square = dx * dx + dy * dy + dz * dz + 0.01;
        const double scale = bodies[j].mass / (square * sqrt(square));
        fx += scale * dx;
        fy += scale * dy;
        fz += scale * dz;
      }
      bodies[i].vx += 1e-3 * fx;
      bodies[i].vy += 1e-3 * fy;
      bodies[i].vz += 1e-3 * fz;
    }
    for (int i = 0; i < kBodies; ++i) {
      bodies[i].x += 1e-3 * bodies[i].vx;
      bodies[i].y += 1e-3 * bodies[i].vy;
      bodies[i].z += 1e-3 * bodies[i].vz;
    }
  }
  double energy = 0;
  for (int i = 0; i < kBodies; ++i) energy += bodies[i].mass * (bodies[i].vx * bodies[i].vx + bodies[i].vy * bodies[i].vy);
  return energy;
}

int main(void) {
  uint32_t state = 2463534242u;
  for (int i = 0; i < kCells; ++i) keys[i] = draw(&state);
  for (size_t i = 0; i < sizeof text; ++i) text[i] = draw(&state) % 6 ? 'a' + draw(&state) % 26 : ' ';
  for (int i = 0; i < 96; ++i)
    for (int j = 0; j < 96; ++j) grid[i][j] = (float)(draw(&state) % 100) / 100.0f;
  for (int i = 0; i < kBodies; ++i) {
    double* const at = &bodies[i].x;
    for (int k = 0; k < 6; ++k) at[k] = (double)(draw(&state) % 1000) / 1000.0;
    bodies[i].mass = 1 + (double)(draw(&state) % 10);
  }
  double fastest_s = 1e9, checks[4] = {0};
  for (int round = 0; round < 2; ++round) {
    struct timespec from, to;
    memcpy(sorted, keys, sizeof keys);
    clock_gettime(CLOCK_MONOTONIC, &from);
    sort(sorted, kCells);
    checks[0] = sorted[kCells / 2];
    checks[1] = smooth(150);
    checks[2] = count_words();
    checks[3] = move(80);
    clock_gettime(CLOCK_MONOTONIC, &to);
    const double took_s = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    if (took_s < fastest_s) fastest_s = took_s;
  }
  for (int i = 1; i < kCells; ++i)
    if (sorted[i - 1] > sorted[i]) return 3;
  printf("check: %.0f %.1f %.0f %.3f\nseconds: %.9f\n", checks[0], checks[1], checks[2], checks[3], fastest_s);
  return 0;
}
