// Transforms of a square of complex numbers, single precision, with FFTW's estimated plan: fourier_2d SIZE TIMES.
#include <fftw3.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const int size = argc == 3 ? atoi(argv[1]) : 0;
  const int times = argc == 3 ? atoi(argv[2]) : 0;
  if (size <= 0 || times <= 0) {
    fprintf(stderr, "fourier_2d: expected a size and a number of transforms\n");
    return 2;
  }
  const size_t points = (size_t)size * (size_t)size;
  fftwf_complex* data = fftwf_alloc_complex(points);
  if (data == NULL) {
    fprintf(stderr, "fourier_2d: no memory for %zu numbers\n", points);
    return 1;
  }
  // Measured plans differ from machine to machine; the estimated one is the same everywhere.
  const fftwf_plan forward = fftwf_plan_dft_2d(size, size, data, data, FFTW_FORWARD, FFTW_ESTIMATE);
  for (size_t i = 0; i < points; ++i) {
    data[i][0] = 0;
    data[i][1] = 0;
  }
  data[1][0] = 1;
  for (int i = 0; i < times; ++i) fftwf_execute(forward);
  // One transform of a unit impulse is all of magnitude 1, two are the impulse again with the sum of all behind it.
  const double magnitude = hypot(data[size + 1][0], data[size + 1][1]);
  const double expected = times % 2 == 1 ? pow((double)points, (times - 1) / 2) : 0;
  printf("%g\n", magnitude);
  fftwf_destroy_plan(forward);
  fftwf_free(data);
  return fabs(magnitude - expected) <= 1e-3 * fmax(1, expected) ? 0 : 1;
}
