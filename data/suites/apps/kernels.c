// Five numerical kernels on data beyond the caches: kernels SCALE. Fourier transform, relaxation of a grid, Monte
// Carlo, sparse matrix times vector, factorisation of a dense matrix; each does about as many operations as the others.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kTransform = 1 << 18, kGrid = 600, kRows = 50000, kFilled = 500000, kMatrix = 300 };

static uint32_t state = 2463534242U;

static double uniform(void) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state / 4294967296.0;
}

static double* vector(size_t size) {
  double* values = malloc(size * sizeof *values);
  if (values == NULL) {
    fprintf(stderr, "kernels: no memory for %zu numbers\n", size);
    exit(1);
  }
  for (size_t i = 0; i < size; ++i) values[i] = uniform();
  return values;
}

// In place, radix 2, of kTransform complex numbers; `sign` -1 forward, 1 back.
static void transform(double* data, int sign) {
  for (int i = 0, j = 0; i < kTransform - 1; ++i) {
    if (i < j) {
      for (int part = 0; part < 2; ++part) {
        const double held = data[2 * i + part];
        data[2 * i + part] = data[2 * j + part];
        data[2 * j + part] = held;
      }
    }
    int bit = kTransform / 2;
    while (j >= bit) {
      j -= bit;
      bit /= 2;
    }
    j += bit;
  }
  for (int half = 1; half < kTransform; half *= 2) {
    const double angle = sign * 3.141592653589793 / half;
    const double step_real = cos(angle), step_imaginary = sin(angle);
    double real = 1, imaginary = 0;
    for (int k = 0; k < half; ++k) {
      for (int a = k; a < kTransform; a += 2 * half) {
        const int b = a + half;
        const double x = real * data[2 * b] - imaginary * data[2 * b + 1];
        const double y = real * data[2 * b + 1] + imaginary * data[2 * b];
        data[2 * b] = data[2 * a] - x;
        data[2 * b + 1] = data[2 * a + 1] - y;
        data[2 * a] += x;
        data[2 * a + 1] += y;
      }
      const double turned = real * step_real - imaginary * step_imaginary;
      imaginary = real * step_imaginary + imaginary * step_real;
      real = turned;
    }
  }
}

// Largest difference after a transform and its inverse.
static double fourier(int times) {
  double* data = vector(2 * (size_t)kTransform);
  const double first = data[12345];
  for (int i = 0; i < times; ++i) {
    transform(data, -1);
    transform(data, 1);
    for (int k = 0; k < 2 * kTransform; ++k) data[k] /= kTransform;
  }
  const double error = fabs(data[12345] - first);
  free(data);
  return error;
}

static double relax(int times) {
  double* grid = vector((size_t)kGrid * kGrid);
  const double omega = 1.25;
  for (int t = 0; t < times; ++t) {
    for (int i = 1; i < kGrid - 1; ++i) {
      double* row = grid + (size_t)i * kGrid;
      const double* above = row - kGrid;
      const double* below = row + kGrid;
      for (int j = 1; j < kGrid - 1; ++j) {
        row[j] = omega * 0.25 * (above[j] + below[j] + row[j - 1] + row[j + 1]) + (1 - omega) * row[j];
      }
    }
  }
  const double middle = grid[(size_t)kGrid * kGrid / 2 + kGrid / 2];
  free(grid);
  return middle;
}

static double quarter_circle(int64_t points) {
  int64_t inside = 0;
  for (int64_t i = 0; i < points; ++i) {
    const double x = uniform();
    const double y = uniform();
    inside += x * x + y * y <= 1;
  }
  return 4 * (double)inside / (double)points;
}

// The sum of the product; every row holds as many entries, all of them 1.
static double sparse(int times) {
  const int in_row = kFilled / kRows;
  int* columns = malloc(kFilled * sizeof *columns);
  double* values = vector(kFilled);
  double* x = vector(kRows);
  double* y = vector(kRows);
  if (columns == NULL) exit(1);
  for (int i = 0; i < kFilled; ++i) {
    columns[i] = (int)(uniform() * kRows);
    values[i] = 1;
  }
  for (int i = 0; i < kRows; ++i) x[i] = 1;
  double sum = 0;
  for (int t = 0; t < times; ++t) {
    for (int row = 0; row < kRows; ++row) {
      double total = 0;
      for (int i = row * in_row; i < (row + 1) * in_row; ++i) total += values[i] * x[columns[i]];
      y[row] = total;
    }
    sum = y[t % kRows];
  }
  free(columns);
  free(values);
  free(x);
  free(y);
  return sum;
}

// The residual of a solution by factorisation with row pivots.
static double factorise(int times) {
  double* original = vector((size_t)kMatrix * kMatrix);
  double* a = vector((size_t)kMatrix * kMatrix);
  int pivots[kMatrix];
  for (int t = 0; t < times; ++t) {
    for (int i = 0; i < kMatrix * kMatrix; ++i) a[i] = original[i];
    for (int j = 0; j < kMatrix; ++j) {
      int best = j;
      for (int i = j + 1; i < kMatrix; ++i) {
        if (fabs(a[i * kMatrix + j]) > fabs(a[best * kMatrix + j])) best = i;
      }
      pivots[j] = best;
      for (int k = 0; k < kMatrix; ++k) {
        const double held = a[j * kMatrix + k];
        a[j * kMatrix + k] = a[best * kMatrix + k];
        a[best * kMatrix + k] = held;
      }
      for (int i = j + 1; i < kMatrix; ++i) {
        const double factor = a[i * kMatrix + j] /= a[j * kMatrix + j];
        for (int k = j + 1; k < kMatrix; ++k) a[i * kMatrix + k] -= factor * a[j * kMatrix + k];
      }
    }
  }
  double right[kMatrix], solution[kMatrix];
  for (int i = 0; i < kMatrix; ++i) right[i] = solution[i] = i % 7;
  for (int j = 0; j < kMatrix; ++j) {
    const double held = solution[j];
    solution[j] = solution[pivots[j]];
    solution[pivots[j]] = held;
  }
  for (int i = 0; i < kMatrix; ++i) {
    for (int k = 0; k < i; ++k) solution[i] -= a[i * kMatrix + k] * solution[k];
  }
  for (int i = kMatrix - 1; i >= 0; --i) {
    for (int k = i + 1; k < kMatrix; ++k) solution[i] -= a[i * kMatrix + k] * solution[k];
    solution[i] /= a[i * kMatrix + i];
  }
  double worst = 0;
  for (int i = 0; i < kMatrix; ++i) {
    double residual = -right[i];
    for (int k = 0; k < kMatrix; ++k) residual += original[i * kMatrix + k] * solution[k];
    worst = fmax(worst, fabs(residual));
  }
  free(original);
  free(a);
  return worst;
}

int main(int argc, char** argv) {
  const int scale = argc == 2 ? atoi(argv[1]) : 0;
  if (scale <= 0) {
    fprintf(stderr, "kernels: expected a scale\n");
    return 2;
  }
  const double error = fourier(scale);
  const double middle = relax(16 * scale);
  const double pi = quarter_circle((int64_t)6000000 * scale);
  const double row = sparse(50 * scale);
  const double residual = factorise(2 * scale);
  printf("%g %g %g %g %g\n", error, middle, pi, row, residual);
  return error < 1e-9 && middle > 0 && middle < 1 && fabs(pi - 3.14159) < 0.01 && row == kFilled / kRows &&
                 residual < 1e-6
             ? 0
             : 1;
}
