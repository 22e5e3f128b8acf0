// Ambient occlusion of three spheres on a plane by random rays: occlusion WIDTH. Double precision.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kSubPixels = 2, kDirections = 8 };

typedef struct {
  double x, y, z;
} Vector;

typedef struct {
  double distance;
  Vector point, normal;
} Hit;

typedef struct {
  Vector centre;
  double radius;
} Sphere;

static const Sphere kSpheres[] = {{{-2.0, 0, -3.5}, 0.5}, {{-0.5, 0, -3.0}, 0.5}, {{1.0, 0, -2.2}, 0.5}};
static const double kGround = -0.5;
static uint64_t state = 88172645463325252U;

static double uniform(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (double)(state >> 11) / 9007199254740992.0;
}

static Vector scaled(Vector a, double s) { return (Vector){a.x * s, a.y * s, a.z * s}; }
static Vector sum(Vector a, Vector b) { return (Vector){a.x + b.x, a.y + b.y, a.z + b.z}; }
static double dot(Vector a, Vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static Vector cross(Vector a, Vector b) {
  return (Vector){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static Vector unit(Vector a) { return scaled(a, 1 / sqrt(dot(a, a))); }

static void meet_sphere(const Sphere* sphere, Vector origin, Vector direction, Hit* hit) {
  const Vector from = sum(origin, scaled(sphere->centre, -1));
  const double half = dot(from, direction);
  const double inside = half * half - dot(from, from) + sphere->radius * sphere->radius;
  if (inside <= 0) return;
  const double distance = -half - sqrt(inside);
  if (distance <= 0 || distance >= hit->distance) return;
  hit->distance = distance;
  hit->point = sum(origin, scaled(direction, distance));
  hit->normal = unit(sum(hit->point, scaled(sphere->centre, -1)));
}

static void meet_ground(Vector origin, Vector direction, Hit* hit) {
  if (fabs(direction.y) < 1e-17) return;
  const double distance = (kGround - origin.y) / direction.y;
  if (distance <= 0 || distance >= hit->distance) return;
  hit->distance = distance;
  hit->point = sum(origin, scaled(direction, distance));
  hit->normal = (Vector){0, 1, 0};
}

static Hit cast(Vector origin, Vector direction) {
  Hit hit = {1e17, {0, 0, 0}, {0, 0, 0}};
  for (size_t i = 0; i < sizeof kSpheres / sizeof kSpheres[0]; ++i) meet_sphere(&kSpheres[i], origin, direction, &hit);
  meet_ground(origin, direction, &hit);
  return hit;
}

// The share of the sky that a point sees.
static double openness(const Hit* at) {
  const Vector normal = at->normal;
  Vector side = fabs(normal.x) < 0.6 ? (Vector){1, 0, 0} : (Vector){0, 1, 0};
  side = unit(cross(side, normal));
  const Vector third = cross(normal, side);
  const Vector origin = sum(at->point, scaled(normal, 1e-4));
  int open = 0;
  for (int i = 0; i < kDirections * kDirections; ++i) {
    const double root = sqrt(uniform());
    const double angle = 6.283185307179586 * uniform();
    const Vector direction = sum(sum(scaled(side, cos(angle) * root), scaled(third, sin(angle) * root)),
                                 scaled(normal, sqrt(1 - root * root)));
    open += cast(origin, direction).distance >= 1e17;
  }
  return (double)open / (kDirections * kDirections);
}

int main(int argc, char** argv) {
  const int width = argc == 2 ? atoi(argv[1]) : 0;
  if (width <= 0) {
    fprintf(stderr, "occlusion: expected a width\n");
    return 2;
  }
  double total = 0;
  for (int y = 0; y < width; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int s = 0; s < kSubPixels * kSubPixels; ++s) {
        const double across = (x + (double)(s % kSubPixels) / kSubPixels) * 2 / width - 1;
        const double up = 1 - (y + (double)(s / kSubPixels) / kSubPixels) * 2 / width;
        const Hit hit = cast((Vector){0, 0, 0}, unit((Vector){across, up, -1}));
        if (hit.distance < 1e17) total += openness(&hit);
      }
    }
  }
  const double mean = total / ((double)width * width * kSubPixels * kSubPixels);
  printf("%.6f\n", mean);
  return mean > 0.3 && mean < 0.6 ? 0 : 1;
}
