// Textures and a mesh are compressed as games take them: ASTC (astcenc), DXT5 (squish), the mesh with Draco:
// asset_textures PICTURE.ppm SIDE. Two textures of SIDE x SIDE are taken from the picture.
#define ASTCENC_DYNAMIC_LIBRARY
#include <astcenc.h>
#include <draco/compression/decode.h>
#include <draco/compression/encode.h>
#include <draco/mesh/triangle_soup_mesh_builder.h>
#include <squish.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "picture.h"

namespace {

using Texture = std::vector<std::uint8_t>;  // four bytes a pixel

double decibels(const Texture& a, const Texture& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return 10 * std::log10(255.0 * 255.0 * static_cast<double>(a.size()) / (sum + 1));
}

double astc(Texture& texture, unsigned side) {
  astcenc_config config;
  if (astcenc_config_init(ASTCENC_PRF_LDR, 6, 6, 1, ASTCENC_PRE_MEDIUM, 0, &config) != ASTCENC_SUCCESS) return 0;
  astcenc_context* context = nullptr;
  if (astcenc_context_alloc(&config, 1, &context) != ASTCENC_SUCCESS) return 0;
  void* slice = texture.data();
  astcenc_image image{side, side, 1, ASTCENC_TYPE_U8, &slice};
  const astcenc_swizzle swizzle{ASTCENC_SWZ_R, ASTCENC_SWZ_G, ASTCENC_SWZ_B, ASTCENC_SWZ_A};
  const unsigned blocks = (side + 5) / 6;
  std::vector<std::uint8_t> packed(static_cast<std::size_t>(blocks) * blocks * 16);
  Texture unpacked(texture.size());
  void* out = unpacked.data();
  astcenc_image result{side, side, 1, ASTCENC_TYPE_U8, &out};
  const bool done =
      astcenc_compress_image(context, &image, &swizzle, packed.data(), packed.size(), 0) == ASTCENC_SUCCESS &&
      astcenc_decompress_image(context, packed.data(), packed.size(), &result, &swizzle, 0) == ASTCENC_SUCCESS;
  astcenc_context_free(context);
  return done ? decibels(texture, unpacked) : 0;
}

double dxt5(const Texture& texture, int side) {
  std::vector<std::uint8_t> packed(static_cast<std::size_t>(squish::GetStorageRequirements(side, side, squish::kDxt5)));
  squish::CompressImage(texture.data(), side, side, packed.data(), squish::kDxt5 | squish::kColourRangeFit);
  Texture unpacked(texture.size());
  squish::DecompressImage(unpacked.data(), side, side, packed.data(), squish::kDxt5);
  return decibels(texture, unpacked);
}

// The picture as a relief of `side` x `side` points; how many triangles came back.
std::size_t mesh(const Texture& texture, int stride, int side) {
  draco::TriangleSoupMeshBuilder builder;
  builder.Start(2 * (side - 1) * (side - 1));
  const int places = builder.AddAttribute(draco::GeometryAttribute::POSITION, 3, draco::DT_FLOAT32);
  const auto point = [&](int x, int y) {
    const std::size_t at = (static_cast<std::size_t>(y) * stride + x) * 4;
    return std::vector<float>{static_cast<float>(x), static_cast<float>(y), static_cast<float>(texture[at]) / 8};
  };
  int face = 0;
  for (int y = 0; y + 1 < side; ++y) {
    for (int x = 0; x + 1 < side; ++x) {
      const auto a = point(x, y), b = point(x + 1, y), c = point(x, y + 1), d = point(x + 1, y + 1);
      builder.SetAttributeValuesForFace(places, draco::FaceIndex(face++), a.data(), b.data(), c.data());
      builder.SetAttributeValuesForFace(places, draco::FaceIndex(face++), b.data(), d.data(), c.data());
    }
  }
  const std::unique_ptr<draco::Mesh> made = builder.Finalize();
  draco::Encoder encoder;
  encoder.SetSpeedOptions(3, 3);
  encoder.SetAttributeQuantization(draco::GeometryAttribute::POSITION, 12);
  draco::EncoderBuffer buffer;
  if (!made || !encoder.EncodeMeshToBuffer(*made, &buffer).ok()) return 0;
  draco::DecoderBuffer in;
  in.Init(buffer.data(), buffer.size());
  draco::Decoder decoder;
  auto decoded = decoder.DecodeMeshFromBuffer(&in);
  return decoded.ok() ? decoded.value()->num_faces() : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Picture picture = argc == 3 ? read_ppm(argv[1]) : Picture{};
  const int side = argc == 3 ? std::atoi(argv[2]) / 4 * 4 : 0;
  if (side < 64 || picture.width < 2 * side || picture.height < side) {
    std::fprintf(stderr, "asset_textures: expected a picture and a side of 64 or more that fits into it twice\n");
    return 2;
  }
  double worst_astc = 100, worst_dxt5 = 100;
  std::size_t triangles = 0;
  for (int number = 0; number < 2; ++number) {
    Texture texture;
    for (int y = 0; y < side; ++y) {
      for (int x = 0; x < side; ++x) {
        const std::uint8_t* pixel = picture.at(number * side + x, y);
        texture.insert(texture.end(), {pixel[0], pixel[1], pixel[2], static_cast<std::uint8_t>(number * (x ^ y))});
      }
    }
    worst_astc = std::min(worst_astc, astc(texture, static_cast<unsigned>(side)));
    worst_dxt5 = std::min(worst_dxt5, dxt5(texture, side));
    triangles += mesh(texture, side, side / 4);
  }
  std::printf("ASTC %.1f dB, DXT5 %.1f dB, %zu triangles\n", worst_astc, worst_dxt5, triangles);
  return worst_astc > 20 && worst_dxt5 > 15 && triangles > 0 ? 0 : 1;
}
