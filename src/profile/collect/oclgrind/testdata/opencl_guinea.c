// An OpenCL program that the tests measure: opencl_guinea WORK [N]. Every work prints a sum that any device gives.
#define CL_TARGET_OPENCL_VERSION 200
#include <CL/cl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char* kSource =
    // One thread for each point: rows become columns.
    "kernel void turn(global const float* rows, global float* columns, int points, int features) {\n"
    "  int point = get_global_id(0);\n"
    "  if (point >= points) return;\n"
    "  for (int f = 0; f < features; f++) columns[point + points * f] = rows[point * features + f];\n"
    "}\n"
    // k-means: the centre with the least squared distance to each point.
    "kernel void nearest(global const float* columns, int features, int points, int centres, global int* found,\n"
    "                    constant float* centre) {\n"
    "  int point = get_global_id(0), best = -1;\n"
    "  if (point >= points) return;\n"
    "  float least = FLT_MAX;\n"
    "  for (int c = 0; c < centres; c++) {\n"
    "    float distance = 0;\n"
    "    for (int f = 0; f < features; f++) {\n"
    "      float difference = columns[point + f * points] - centre[c * features + f];\n"
    "      distance += difference * difference;\n"
    "    }\n"
    "    if (distance < least) {\n"
    "      least = distance;\n"
    "      best = c;\n"
    "    }\n"
    "  }\n"
    "  found[point] = best;\n"
    "}\n"
    "kernel void fill(global float* to, int count) {\n"
    "  int i = get_global_id(0);\n"
    "  if (i < count) to[i] = 1.0f;\n"
    "}\n"
    "kernel void strided(global const int* from, global int* to, int stride) {\n"
    "  int i = get_global_id(0);\n"
    "  to[i] = from[i * stride];\n"
    "}\n"
    // Each group of 64 adds up its items.
    "kernel void add_up(global const int* from, global int* sums) {\n"
    "  local int part[64];\n"
    "  int i = get_local_id(0);\n"
    "  part[i] = from[get_global_id(0)];\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  for (int step = 32; step > 0; step /= 2) {\n"
    "    if (i < step) part[i] += part[i + step];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  }\n"
    "  if (i == 0) sums[get_group_id(0)] = part[0];\n"
    "}\n"
    "kernel void four(global float4* values) {\n"
    "  int i = get_global_id(0);\n"
    "  values[i] = values[i] * values[i] + (float4)(1, 2, 3, 4);\n"
    "}\n"
    "kernel void count(global int* counter) { atomic_inc(counter); }\n"
    "kernel void endless(global int* to, int from) {\n"
    "  for (int i = from; i != 0; i++) to[get_global_id(0)] += i & 3;\n"
    "}\n"
    "kernel void beyond(global int* to, int by) { to[get_global_id(0) + by] = 1; }\n";

static cl_context context;
static cl_command_queue queue;
static cl_program program;

static void check(cl_int error, const char* what) {
  if (error == CL_SUCCESS) return;
  fprintf(stderr, "opencl_guinea: %s: error %d\n", what, error);
  exit(3);
}

// The first device whose name has `name` in it; empty: the first.
static cl_device_id find_device(const char* name) {
  cl_platform_id platforms[16];
  cl_uint platforms_count = 0;
  check(clGetPlatformIDs(16, platforms, &platforms_count), "platforms");
  for (cl_uint p = 0; p < platforms_count && p < 16; p++) {
    cl_device_id devices[16];
    cl_uint devices_count = 0;
    if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 16, devices, &devices_count) != CL_SUCCESS) continue;
    for (cl_uint d = 0; d < devices_count && d < 16; d++) {
      char found[512] = "";
      clGetDeviceInfo(devices[d], CL_DEVICE_NAME, sizeof found - 1, found, NULL);
      if (strstr(found, name) != NULL) return devices[d];
    }
  }
  fprintf(stderr, "opencl_guinea: no device is called %s\n", name);
  exit(4);
}

static cl_mem buffer(size_t bytes, const void* content) {
  cl_int error = CL_SUCCESS;
  cl_mem made = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &error);
  check(error, "buffer");
  if (content != NULL) check(clEnqueueWriteBuffer(queue, made, CL_TRUE, 0, bytes, content, 0, NULL, NULL), "write");
  return made;
}

static cl_kernel kernel(const char* name) {
  cl_int error = CL_SUCCESS;
  cl_kernel made = clCreateKernel(program, name, &error);
  check(error, name);
  return made;
}

static void set(cl_kernel of, cl_uint index, size_t bytes, const void* value) {
  check(clSetKernelArg(of, index, bytes, value), "argument");
}
#define SET(kernel, index, value) set(kernel, index, sizeof(value), &(value))

static void launch(cl_kernel which, size_t items, size_t group) {
  check(clEnqueueNDRangeKernel(queue, which, 1, NULL, &items, &group, 0, NULL, NULL), "launch");
}

static void print_sum(cl_mem from, size_t count) {
  int* values = malloc(count * sizeof(int));
  check(clEnqueueReadBuffer(queue, from, CL_TRUE, 0, count * sizeof(int), values, 0, NULL, NULL), "read");
  uint64_t sum = 0;
  for (size_t i = 0; i < count; i++) sum += (uint64_t)(uint32_t)values[i] * (i % 1000 + 1);
  printf("%llu\n", (unsigned long long)sum);
  free(values);
}

static void kmeans(int points) {
  const int features = 30, centres = 5;
  float* rows = malloc(sizeof(float) * (size_t)(points * features));
  uint32_t state = 1;
  for (int i = 0; i < points * features; i++) {
    state = state * 1664525u + 1013904223u;
    rows[i] = (float)(state >> 24);  // whole numbers: sums are exact on any device
  }
  cl_mem by_row = buffer(sizeof(float) * (size_t)(points * features), rows),
         by_column = buffer(sizeof(float) * (size_t)(points * features), NULL),
         found = buffer(sizeof(int) * (size_t)points, NULL), centre = buffer(sizeof(float) * features * centres, rows);
  cl_kernel turn = kernel("turn"), nearest = kernel("nearest");
  SET(turn, 0, by_row);
  SET(turn, 1, by_column);
  SET(turn, 2, points);
  SET(turn, 3, features);
  launch(turn, (size_t)points, 16);
  SET(nearest, 0, by_column);
  SET(nearest, 1, features);
  SET(nearest, 2, points);
  SET(nearest, 3, centres);
  SET(nearest, 4, found);
  SET(nearest, 5, centre);
  launch(nearest, (size_t)points, 16);
  print_sum(found, (size_t)points);
  free(rows);
}

int main(int count, char** arguments) {
  const char* work = count > 1 ? arguments[1] : "";
  const int n = count > 2 ? atoi(arguments[2]) : 0;
  cl_device_id device = find_device(strcmp(work, "device") == 0 && count > 2 ? arguments[2] : "");
  cl_int error = CL_SUCCESS;
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
  check(error, "context");
  queue = clCreateCommandQueueWithProperties(context, device, NULL, &error);
  check(error, "queue");
  program = clCreateProgramWithSource(context, 1, &kSource, NULL, &error);
  check(error, "program");
  check(clBuildProgram(program, 1, &device, "", NULL, NULL), "build");

  static int numbers[4096];
  for (int i = 0; i < 4096; i++) numbers[i] = i * 7 % 1001;
  cl_mem from = buffer(sizeof numbers, numbers), to = buffer(sizeof numbers, numbers);
  if (strcmp(work, "kmeans") == 0) {
    kmeans(n);
  } else if (strcmp(work, "nothing") == 0) {
    printf("0\n");
  } else if (strcmp(work, "fill") == 0 || strcmp(work, "device") == 0) {  // 256 items, N of which write
    cl_kernel fill = kernel("fill");
    const int written = n > 0 ? n : 8;
    SET(fill, 0, to);
    SET(fill, 1, written);
    launch(fill, 256, 256);
    print_sum(to, 256);
  } else if (strcmp(work, "fill_often") == 0) {  // N times
    cl_kernel fill = kernel("fill");
    const int written = 8;
    SET(fill, 0, to);
    SET(fill, 1, written);
    for (int i = 0; i < n; i++) launch(fill, 16, 16);
    print_sum(to, 16);
  } else if (strcmp(work, "fork") == 0) {  // after a kernel; the child does nothing, and ends as programs do
    cl_kernel fill = kernel("fill");
    const int written = 8;
    SET(fill, 0, to);
    SET(fill, 1, written);
    launch(fill, 16, 16);
    clFinish(queue);
    const pid_t child = fork();
    if (child == 0) exit(0);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) return 6;
  } else if (strcmp(work, "endless") == 0) {  // nearly: 2000 rounds in each of a million groups
    cl_kernel endless = kernel("endless");
    const int rounds = -2000;
    cl_mem many = buffer((size_t)1 << 22, NULL);
    SET(endless, 0, many);
    SET(endless, 1, rounds);
    launch(endless, (size_t)1 << 20, 1);
  } else if (strcmp(work, "strided") == 0) {
    cl_kernel strided = kernel("strided");
    SET(strided, 0, from);
    SET(strided, 1, to);
    SET(strided, 2, n);
    launch(strided, 128, 64);
    print_sum(to, 128);
  } else if (strcmp(work, "add_up") == 0) {  // N times
    cl_kernel add_up = kernel("add_up");
    SET(add_up, 0, from);
    SET(add_up, 1, to);
    for (int i = 0; i < n; i++) launch(add_up, 4096, 64);
    print_sum(to, 64);
  } else if (strcmp(work, "four") == 0) {
    cl_kernel four = kernel("four");
    float values[64];
    for (int i = 0; i < 64; i++) values[i] = (float)i;
    cl_mem vectors = buffer(sizeof values, values);
    SET(four, 0, vectors);
    launch(four, 16, 16);
    print_sum(vectors, 64);
  } else if (strcmp(work, "count") == 0) {
    cl_kernel counting = kernel("count");
    const int zero = 0;
    cl_mem counter = buffer(sizeof zero, &zero);
    SET(counting, 0, counter);
    launch(counting, 64, 64);
    print_sum(counter, 1);
  } else if (strcmp(work, "beyond") == 0) {  // writes N numbers beyond the buffer's beginning
    cl_kernel beyond = kernel("beyond");
    SET(beyond, 0, to);
    SET(beyond, 1, n);
    launch(beyond, 1, 1);
    print_sum(to, 64);
  } else if (strcmp(work, "empty") == 0) {  // a launch without work items
    const size_t none = 0;
    cl_kernel counting = kernel("count");
    SET(counting, 0, to);
    printf("%d\n", clEnqueueNDRangeKernel(queue, counting, 1, NULL, &none, NULL, 0, NULL, NULL));
  } else if (strcmp(work, "huge") == 0) {  // more memory than any device has
    clCreateBuffer(context, CL_MEM_READ_WRITE, (size_t)1 << 46, NULL, &error);
    check(error, "huge buffer");
  } else if (strcmp(work, "shared") == 0) {  // virtual memory that host and device share
    if (clSVMAlloc(context, CL_MEM_READ_WRITE, 4096, 0) == NULL) {
      fprintf(stderr, "opencl_guinea: no shared virtual memory\n");
      return 5;
    }
  } else {
    fprintf(stderr, "opencl_guinea: unknown work '%s'\n", work);
    return 2;
  }
  clFinish(queue);
  return 0;
}
