"""Inputs of the suite's programs, the same on every machine: make_inputs.py KIND FOLDER [SIZE]."""

import struct
import sys

import numpy


def smooth_noise(random, height, width, octaves):
    """Noise of several scales in [0, 1]: what a photograph of a landscape has for a spectrum."""
    total = numpy.zeros((height, width), numpy.float32)
    weight = 1.0
    cells = 4
    for _ in range(octaves):
        grid = random.rand(cells + 2, cells + 2).astype(numpy.float32)
        rows = numpy.linspace(0, cells, height, endpoint=False)
        columns = numpy.linspace(0, cells, width, endpoint=False)
        top, left = rows.astype(int), columns.astype(int)
        down = (rows - top).astype(numpy.float32)[:, None]
        right = (columns - left).astype(numpy.float32)[None, :]
        above = grid[top][:, left] * (1 - right) + grid[top][:, left + 1] * right
        below = grid[top + 1][:, left] * (1 - right) + grid[top + 1][:, left + 1] * right
        total += weight * (above * (1 - down) + below * down)
        weight *= 0.55
        cells *= 2
    return (total - total.min()) / (total.max() - total.min())


def photograph(height, width, seed):
    """Three colour planes in [0, 1] with smooth regions, edges, texture and the noise of a sensor."""
    random = numpy.random.RandomState(seed)
    relief = smooth_noise(random, height, width, 8)
    detail = smooth_noise(random, height, width, 9)
    sky = numpy.linspace(1, 0, height, dtype=numpy.float32)[:, None]
    water = relief < 0.42
    planes = []
    for tint, base in ((0.9, 0.25), (0.7, 0.35), (0.5, 0.45)):
        land = base + tint * (relief - 0.4) * (0.6 + 0.4 * detail)
        plane = numpy.where(water, 0.2 + 0.5 * sky * (1.2 - tint), land)
        planes.append(plane + random.normal(0, 0.008, plane.shape).astype(numpy.float32))
    for _ in range(60):  # hard edges
        y, x = random.randint(0, height), random.randint(0, width)
        tall, wide = random.randint(8, height // 6), random.randint(8, width // 6)
        for plane in planes:
            plane[y : y + tall, x : x + wide] *= random.uniform(0.5, 1.2)
    return numpy.clip(numpy.stack(planes, axis=-1), 0, 1)


def ppm(folder, size):
    """photo.ppm of SIZE thousand pixels, 3:2."""
    width = int((size * 1500) ** 0.5) // 2 * 2
    height = width * 2 // 3
    pixels = (photograph(height, width, 1) * 255).astype(numpy.uint8)
    with open(folder + "/photo.ppm", "wb") as out:
        out.write(b"P6\n%d %d\n255\n" % (width, height))
        out.write(pixels.tobytes())


def photos(folder, size):
    """photoNN.ppm: SIZE photographs of 3 megapixels."""
    for number in range(size):
        pixels = (photograph(1414, 2120, 20 + number) * 255).astype(numpy.uint8)
        with open("%s/photo%02d.ppm" % (folder, number), "wb") as out:
            out.write(b"P6\n2120 1414\n255\n" + pixels.tobytes())


def views(folder, size):
    """viewN.ppm: SIZE pictures of one scene from a camera that moves sideways: screens of several distances."""
    random = numpy.random.RandomState(7)
    height, width, focal = 720, 1080, 1000
    screens = []  # from the farthest on: distance, what it shows, where
    for distance in (40, 25, 20, 16, 13, 11, 9, 8, 7):
        whole = distance == 40
        tall, wide = (height * 2, width * 2) if whole else (random.randint(150, 420), random.randint(150, 420))
        left = -width if whole else random.randint(-width // 2, width // 2 - 150)
        top = -height if whole else random.randint(-height // 2, height // 2 - 150)
        screens.append((distance, photograph(tall, wide, 40 + distance), left, top))
    for number in range(size):
        picture = numpy.zeros((height, width, 3), numpy.float32)
        for distance, shown, left, top in screens:
            x = numpy.arange(width) - width / 2 + focal * 0.25 * number / distance - left
            y = numpy.arange(height) - height / 2 + focal * 0.04 * number / distance - top
            inside = numpy.ix_((y >= 0) & (y < shown.shape[0] - 1), (x >= 0) & (x < shown.shape[1] - 1))
            x, y = x[(x >= 0) & (x < shown.shape[1] - 1)], y[(y >= 0) & (y < shown.shape[0] - 1)]
            column, row = x.astype(int), y.astype(int)
            right, down = (x - column)[None, :, None], (y - row)[:, None, None]
            above = shown[row][:, column] * (1 - right) + shown[row][:, column + 1] * right
            below = shown[row + 1][:, column] * (1 - right) + shown[row + 1][:, column + 1] * right
            picture[inside] = above * (1 - down) + below * down
        picture += random.normal(0, 0.005, picture.shape)
        with open("%s/view%d.ppm" % (folder, number), "wb") as out:
            out.write(b"P6\n%d %d\n255\n" % (width, height))
            out.write((numpy.clip(picture, 0, 1) * 255).astype(numpy.uint8).tobytes())


SHORT, LONG, BYTE, TEXT, RATIONAL, SIGNED_RATIONAL = 3, 4, 1, 2, 5, 10
SIZES_BYTES = {SHORT: 2, LONG: 4, BYTE: 1, TEXT: 1, RATIONAL: 8, SIGNED_RATIONAL: 8}
FORMATS = {SHORT: "H", LONG: "I", RATIONAL: "I", SIGNED_RATIONAL: "i"}
PIXELS_AT, PIXELS_BYTES = 273, 279


def write_tiff(path, tags, data):
    """An image that is not compressed; `tags` without where its pixels are."""
    tags = sorted(tags + [(PIXELS_AT, LONG, [0]), (PIXELS_BYTES, LONG, [len(data)])])
    values = []
    for _, kind, value in tags:
        packed = value if isinstance(value, bytes) else struct.pack("<%d%s" % (len(value), FORMATS[kind]), *value)
        values.append(packed)
    rest_at = 8 + 2 + 12 * len(tags) + 4
    pixels_at = rest_at + sum((len(value) + 1) // 2 * 2 for value in values if len(value) > 4)
    entries, rest = b"", b""
    for (tag, kind, _), value in zip(tags, values):
        if tag == PIXELS_AT:
            value = struct.pack("<I", pixels_at)
        entries += struct.pack("<HHI", tag, kind, len(value) // SIZES_BYTES[kind])
        if len(value) > 4:
            entries += struct.pack("<I", rest_at + len(rest))
            rest += value + b"\0" * (len(value) % 2)
        else:
            entries += value.ljust(4, b"\0")
    with open(path, "wb") as out:
        out.write(b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries + struct.pack("<I", 0) + rest + data)


def dng(folder, size):
    """photo.dng of SIZE thousand pixels: a raw photograph behind a Bayer filter, 16 bits."""
    width = int((size * 1500) ** 0.5) // 2 * 2
    height = width * 2 // 3 // 2 * 2
    light = photograph(height, width, 2) ** 2.2
    raw = numpy.empty((height, width), numpy.float32)
    raw[0::2, 0::2] = light[0::2, 0::2, 0] * 0.5
    raw[0::2, 1::2] = light[0::2, 1::2, 1]
    raw[1::2, 0::2] = light[1::2, 0::2, 1]
    raw[1::2, 1::2] = light[1::2, 1::2, 2] * 0.6
    matrix = [9020, -2890, -715, -4535, 12436, 2348, -934, 1919, 7086]  # any plausible camera
    tags = [
        (254, LONG, [0]),
        (256, LONG, [width]),
        (257, LONG, [height]),
        (258, SHORT, [16]),
        (259, SHORT, [1]),
        (262, SHORT, [32803]),
        (271, TEXT, b"Own\0"),
        (272, TEXT, b"Generated\0"),
        (274, SHORT, [1]),
        (277, SHORT, [1]),
        (278, LONG, [height]),
        (284, SHORT, [1]),
        (33421, SHORT, [2, 2]),
        (33422, BYTE, bytes([0, 1, 1, 2])),
        (50706, BYTE, bytes([1, 4, 0, 0])),
        (50707, BYTE, bytes([1, 1, 0, 0])),
        (50708, TEXT, b"Own Generated\0"),
        (50714, LONG, [600]),
        (50717, LONG, [15600]),
        (50721, SIGNED_RATIONAL, [part for value in matrix for part in (value, 10000)]),
        (50728, RATIONAL, [5, 10, 1, 1, 6, 10]),
        (50778, SHORT, [21]),
    ]
    write_tiff(folder + "/photo.dng", tags, (600 + raw * 15000).astype("<u2").tobytes())


def panorama(folder, size):
    """Two photographs of SIZE thousand pixels, left.tif and right.tif, that share two fifths of what they show."""
    width = int((size * 1500) ** 0.5) // 2 * 2
    height = width * 2 // 3
    whole = (photograph(height, width * 8 // 5, 6) * 255).astype(numpy.uint8)
    tags = [
        (256, LONG, [width]),
        (257, LONG, [height]),
        (258, SHORT, [8, 8, 8]),
        (259, SHORT, [1]),
        (262, SHORT, [2]),
        (277, SHORT, [3]),
        (278, LONG, [height]),
    ]
    for name, left in (("left", 0), ("right", width * 3 // 5)):
        write_tiff("%s/%s.tif" % (folder, name), tags, whole[:, left : left + width].tobytes())


def wav(folder, size):
    """music.wav of SIZE seconds, stereo, 44100 Hz: chords, a drum and noise."""
    random = numpy.random.RandomState(3)
    rate = 44100
    beat = rate // 4
    time = numpy.arange(beat) / rate
    scale = 110 * 2 ** (numpy.array([0, 2, 3, 5, 7, 8, 10, 12, 14, 15, 17, 19]) / 12)
    with open(folder + "/music.wav", "wb") as out:
        total = size * 4 * beat * 4
        out.write(b"RIFF" + struct.pack("<I", 36 + total) + b"WAVEfmt ")
        out.write(struct.pack("<IHHIIHH", 16, 1, 2, rate, 4 * rate, 4, 16) + b"data" + struct.pack("<I", total))
        for number in range(size * 4):
            sides = numpy.zeros((beat, 2))
            for _ in range(4):
                tone = scale[random.randint(len(scale))] * 2 ** random.randint(0, 3)
                fade = numpy.exp(-time * random.uniform(2, 12))
                wave = sum(numpy.sin(2 * numpy.pi * tone * k * time) / k ** 1.3 for k in range(1, 7))
                place = random.uniform(0.2, 0.8)
                sides += (wave * fade)[:, None] * numpy.array([place, 1 - place])
            drum = random.normal(0, 1, beat) * numpy.exp(-time * (40 if number % 2 else 15))
            sides += 0.5 * drum[:, None] + random.normal(0, 0.02, (beat, 2))
            out.write((numpy.clip(sides * 0.2, -1, 1) * 32767).astype("<i2").tobytes())


def fits(folder, size):
    """SIZE overlapping images of one field of stars, tangent projection, each with a background of its own."""
    random = numpy.random.RandomState(4)
    height, width, degrees = 512, 384, 1 / 3600
    across = max(1, int(size**0.5))
    stars = random.uniform(0, 1, (4000, 2))
    bright = random.pareto(1.2, 4000) * 40
    for number in range(size):
        row, column = divmod(number, across)
        image = random.normal(300 + 20 * number, 6, (height, width))
        image += numpy.linspace(0, random.uniform(-30, 30), width)[None, :]
        # Stars of the common field that fall on this image; neighbours overlap by a fifth.
        top, left = row * height * 0.8, column * width * 0.8
        ys = stars[:, 0] * height * 0.8 * (size // across + 1) - top
        xs = stars[:, 1] * width * 0.8 * (across + 1) - left
        for y, x, flux in zip(ys, xs, bright):
            y0, x0 = int(y), int(x)
            if 4 <= y0 < height - 5 and 4 <= x0 < width - 5:
                dy, dx = numpy.mgrid[y0 - 4 : y0 + 5, x0 - 4 : x0 + 5]
                image[y0 - 4 : y0 + 5, x0 - 4 : x0 + 5] += flux * numpy.exp(-((dy - y) ** 2 + (dx - x) ** 2) / 3)
        cards = [
            ("SIMPLE", "T"),
            ("BITPIX", "-32"),
            ("NAXIS", "2"),
            ("NAXIS1", str(width)),
            ("NAXIS2", str(height)),
            ("CTYPE1", "'RA---TAN'"),
            ("CTYPE2", "'DEC--TAN'"),
            ("CRVAL1", "275.2"),
            ("CRVAL2", "-16.17"),
            ("CRPIX1", "%.3f" % (width * across * 0.4 - left)),
            ("CRPIX2", "%.3f" % (height * across * 0.4 - top)),
            ("CDELT1", "%.12f" % -degrees),
            ("CDELT2", "%.12f" % degrees),
            ("CROTA2", "%.4f" % (0.3 * (number % 3))),
            ("EQUINOX", "2000.0"),
        ]
        header = "".join(("%-8s= %20s" % card).ljust(80) for card in cards) + "END".ljust(80)
        data = image.astype(">f4").tobytes()
        with open("%s/field%02d.fits" % (folder, number), "wb") as out:
            out.write(header.ljust(-(-len(header) // 2880) * 2880).encode())
            out.write(data + b"\0" * (-len(data) % 2880))


def svg(folder, size):
    """SIZE drawings with curves, gradients, text, transparency and blur."""
    for number in range(size):
        random = numpy.random.RandomState(100 + number)
        side = 600 + 100 * (number % 4)

        def point():
            return "%.1f,%.1f" % tuple(random.uniform(0, side, 2))

        def colour():
            return "#%06x" % random.randint(0, 1 << 24)

        parts = []
        for i in range(8):
            parts.append(
                '<linearGradient id="g%d"><stop offset="0" stop-color="%s"/><stop offset="1" stop-color="%s" '
                'stop-opacity="0.6"/></linearGradient>' % (i, colour(), colour())
            )
        parts.append('<filter id="soft"><feGaussianBlur stdDeviation="%d"/></filter>' % random.randint(2, 8))
        parts = ["<defs>" + "".join(parts) + "</defs>"]
        for i in range(300):
            curve = "M%s C%s %s %s S%s %s" % tuple(point() for _ in range(6))
            kind = random.randint(0, 8)
            if kind < 3:
                paint = 'fill="url(#g%d)" fill-opacity="0.5"' % random.randint(0, 8)
            else:
                paint = 'fill="none" stroke="%s" stroke-width="%.1f"' % (colour(), random.uniform(0.5, 6))
            if kind == 3:
                paint += ' stroke-dasharray="6 3"'
            parts.append('<path d="%s" %s/>' % (curve, paint))
            if i % 100 == 0:
                parts.append('<g filter="url(#soft)"><circle cx="%d" cy="%d" r="%d" fill="%s"/></g>'
                             % (*random.randint(0, side, 2), random.randint(20, side // 4), colour()))
            if i % 10 == 0:
                parts.append('<text x="%d" y="%d" font-size="%d" fill="%s">perfcast %d</text>'
                             % (*random.randint(0, side, 2), random.randint(10, 40), colour(), i))
        with open("%s/drawing%02d.svg" % (folder, number), "w") as out:
            out.write('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d">%s</svg>'
                      % (side, side, "\n".join(parts)))


KINDS = {
    "dng": dng,
    "fits": fits,
    "panorama": panorama,
    "photos": photos,
    "ppm": ppm,
    "svg": svg,
    "views": views,
    "wav": wav,
}

if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in KINDS:
        sys.exit("make_inputs.py: expected one of %s, a folder and a size" % ", ".join(KINDS))
    KINDS[sys.argv[1]](sys.argv[2], int(sys.argv[3]))
