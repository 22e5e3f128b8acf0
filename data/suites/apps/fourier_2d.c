// Transforms of a square of complex numbers, single precision, with FFTW by a stored plan: fourier_2d SIZE TIMES PLAN.
#include <fftw3.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const int size = argc == 4 ? atoi(argv[1]) : 0;
  const int times = argc == 4 ? atoi(argv[2]) : 0;
  if (size <= 0 || times <= 0 || times % 2 == 0) {
    fprintf(stderr, "fourier_2d: expected a size, an odd number of transforms and a file with a plan\n");
    return 2;
  }
  const size_t points = (size_t)size * (size_t)size;
  fftwf_complex* data = fftwf_alloc_complex(points);
  if (data == NULL) {
    fprintf(stderr, "fourier_2d: no memory for %zu numbers\n", points);
    return 1;
  }
  // Plans that are measured differ from machine to machine, and from run to run: one such plan serves for all.
  fftwf_plan forward = NULL;
  if (fftwf_import_wisdom_from_filename(argv[3])) {
    forward = fftwf_plan_dft_2d(size, size, data, data, FFTW_FORWARD, FFTW_MEASURE | FFTW_WISDOM_ONLY);
  }
  if (forward == NULL) {
    fprintf(stderr, "fourier_2d: %s: no plan for this size by this version of FFTW; expected FFTW 3.3.10 on x86-64\n",
            argv[3]);
    return 1;
  }
  for (size_t i = 0; i < points; ++i) {
    data[i][0] = 0;
    data[i][1] = 0;
  }
  data[1][0] = 1e-30F;
  for (int i = 0; i < times; ++i) fftwf_execute(forward);
  // A unit impulse becomes numbers of magnitude 1; two transforms give it back, multiplied by the number of points.
  const double magnitude = hypot((double)data[size + 1][0], (double)data[size + 1][1]);
  const double expected = 1e-30 * pow((double)points, (times - 1) / 2.0);
  printf("%g\n", magnitude);
  fftwf_destroy_plan(forward);
  fftwf_free(data);
  return fabs(magnitude - expected) <= 1e-3 * expected ? 0 : 1;
}
