"""Array kernels as scientists write them, over numpy: array_kernels.py ROUNDS."""

import sys

import numpy as np


def diffusion(grid, steps):
    for _ in range(steps):
        around = np.roll(grid, 1, 0) + np.roll(grid, -1, 0) + np.roll(grid, 1, 1) + np.roll(grid, -1, 1)
        grid = grid + 0.1 * (around - 4 * grid)
    return grid.sum()


def reaction(u, v, steps):
    for _ in range(steps):
        centre_u, centre_v = u[1:-1, 1:-1], v[1:-1, 1:-1]
        spread_u = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * centre_u
        spread_v = v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:] - 4 * centre_v
        product = centre_u * centre_v * centre_v
        centre_u += 0.16 * spread_u - product + 0.06 * (1 - centre_u)
        centre_v += 0.08 * spread_v + product - 0.122 * centre_v
    return v.sum()


def corners(image):
    dx = (image[1:-1, 2:] - image[1:-1, :-2]) / 2
    dy = (image[2:, 1:-1] - image[:-2, 1:-1]) / 2
    xx, yy, xy = dx * dx, dy * dy, dx * dy
    return ((xx * yy - xy * xy) - 0.04 * (xx + yy) ** 2).max()


def distances(a, b):
    return np.sqrt(((a[:, None, :] - b[None, :, :]) ** 2).sum(-1)).sum()


def arcs(a, b):
    between = np.cos(a[:, 0]) * np.cos(b[:, 0]) * np.sin((a[:, 1] - b[:, 1]) / 2) ** 2
    haversine = np.sin((a[:, 0] - b[:, 0]) / 2) ** 2 + between
    return (2 * np.arctan2(np.sqrt(haversine), np.sqrt(1 - haversine))).sum()


def clusters(points, count, steps):
    centres = points[:count].copy()
    for _ in range(steps):
        nearest = np.argmin(((points[:, None, :] - centres[None, :, :]) ** 2).sum(-1), axis=1)
        for k in range(count):
            members = points[nearest == k]
            if len(members):
                centres[k] = members.mean(0)
    return centres.sum()


def julia(size, limit):
    inside = 0
    for row in range(size):
        for column in range(size):
            z, n = complex(-1.5 + 3 * column / size, -1 + 2 * row / size), 0
            while abs(z) < 2 and n < limit:
                z, n = z * z + (-0.8 + 0.156j), n + 1
            inside += n == limit
    return inside


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def likelihood(x, mean, width):
    return (np.log(1 / (np.sqrt(2 * np.pi) * width)) - (x - mean) ** 2 / (2 * width**2)).sum()


def groups(values):
    order = np.argsort(values, kind="mergesort")
    ordered = values[order]
    edges = np.flatnonzero(np.diff(ordered)) + 1
    return len(np.unique(values)) + edges[len(edges) // 2] + np.cumsum(ordered)[-1]


def pairwise_in_python(points):
    total = 0.0
    for i in range(len(points)):
        for j in range(i):
            total += abs(points[i, 0] - points[j, 0])
    return total


def convolution(image, kernel):
    out = np.zeros_like(image[2:, 2:])
    for dy in range(3):
        for dx in range(3):
            out += kernel[dy, dx] * image[dy : dy + out.shape[0], dx : dx + out.shape[1]]
    return out.sum()


def main():
    checksum = 0.0
    for round_number in range(int(sys.argv[1])):
        random = np.random.RandomState(round_number)
        image = random.rand(600, 800)
        points = random.rand(40000, 3)
        values = random.rand(400000)
        checksum += diffusion(random.rand(200, 200), 60)
        checksum += reaction(np.ones((200, 200)), random.rand(200, 200) * 0.2, 60)
        checksum += corners(image) + convolution(image, random.rand(3, 3))
        checksum += distances(points[:400], points[400:800]) + arcs(points[:20000], points[20000:])
        checksum += clusters(points[:5000], 16, 5) + julia(60, 60)
        checksum += rosenbrock(values) + likelihood(values, 0.5, 0.3)
        checksum += groups(random.randint(0, 5000, 200000)) + pairwise_in_python(points[:250])
        checksum += (points[:, :2] @ random.rand(2, 50)).sum() + np.fft.fft(values[: 1 << 17]).real[1]
    print("%.6e" % checksum)
    if not np.isfinite(checksum):
        sys.exit("array_kernels.py: the sum is no number")


main()
