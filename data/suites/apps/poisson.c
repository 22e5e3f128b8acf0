// Jacobi sweeps over the 19-point stencil of a Poisson equation for the pressure in curvilinear coordinates, with
// coefficients that are stored for every point: poisson SWEEPS. Single precision, 128 x 64 x 64 points.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { kX = 65, kY = 65, kZ = 129 };

typedef float Field[kX][kY][kZ];

static Field pressure, next, source, boundary;
static Field diagonal[4], mixed[3], upwind[3];

static void set_up(void) {
  for (int i = 0; i < kX; ++i) {
    const float height = (float)(i * i) / (float)((kX - 1) * (kX - 1));
    for (int j = 0; j < kY; ++j) {
      for (int k = 0; k < kZ; ++k) {
        pressure[i][j][k] = height;
        source[i][j][k] = 0;
        boundary[i][j][k] = 1;
        for (int c = 0; c < 3; ++c) {
          diagonal[c][i][j][k] = 1;
          mixed[c][i][j][k] = 0;
          upwind[c][i][j][k] = 1;
        }
        diagonal[3][i][j][k] = 1.0F / 6;
      }
    }
  }
}

static float sweep(float relaxation) {
  float change = 0;
  for (int i = 1; i < kX - 1; ++i) {
    for (int j = 1; j < kY - 1; ++j) {
      for (int k = 1; k < kZ - 1; ++k) {
        const float sum = diagonal[0][i][j][k] * pressure[i + 1][j][k] + diagonal[1][i][j][k] * pressure[i][j + 1][k] +
                          diagonal[2][i][j][k] * pressure[i][j][k + 1] +
                          mixed[0][i][j][k] * (pressure[i + 1][j + 1][k] - pressure[i + 1][j - 1][k] -
                                               pressure[i - 1][j + 1][k] + pressure[i - 1][j - 1][k]) +
                          mixed[1][i][j][k] * (pressure[i][j + 1][k + 1] - pressure[i][j - 1][k + 1] -
                                               pressure[i][j + 1][k - 1] + pressure[i][j - 1][k - 1]) +
                          mixed[2][i][j][k] * (pressure[i + 1][j][k + 1] - pressure[i - 1][j][k + 1] -
                                               pressure[i + 1][j][k - 1] + pressure[i - 1][j][k - 1]) +
                          upwind[0][i][j][k] * pressure[i - 1][j][k] + upwind[1][i][j][k] * pressure[i][j - 1][k] +
                          upwind[2][i][j][k] * pressure[i][j][k - 1] + source[i][j][k];
        const float residual = (sum * diagonal[3][i][j][k] - pressure[i][j][k]) * boundary[i][j][k];
        change += residual * residual;
        next[i][j][k] = pressure[i][j][k] + relaxation * residual;
      }
    }
  }
  for (int i = 1; i < kX - 1; ++i) {
    for (int j = 1; j < kY - 1; ++j) {
      for (int k = 1; k < kZ - 1; ++k) pressure[i][j][k] = next[i][j][k];
    }
  }
  return change;
}

int main(int argc, char** argv) {
  const int sweeps = argc == 2 ? atoi(argv[1]) : 0;
  if (sweeps <= 0) {
    fprintf(stderr, "poisson: expected a number of sweeps\n");
    return 2;
  }
  set_up();
  const float first = sweep(0.8F);
  float last = first;
  for (int i = 1; i < sweeps; ++i) last = sweep(0.8F);
  printf("%e %e\n", (double)first, (double)last);
  // The iteration converges: each sweep changes less than the first.
  return isfinite(last) && (sweeps == 1 || last < first) ? 0 : 1;
}
