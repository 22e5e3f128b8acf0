#include "profile/suite/harness/codec.h"

#include <bzlib.h>
#include <lz4.h>
#include <lz4frame.h>
#include <zlib.h>
#include <zstd.h>
#ifdef PERFCAST_HAVE_BZIP3
#include <stdint.h>
extern "C" {  // the header of 1.2 does not say so itself
#include <libbz3.h>
}
#endif

#include <algorithm>
#include <cstring>

#include "base/text.h"

namespace perfcast::harness {
namespace {

Error failed(const std::string& library, const std::string& what) {
  return {"codec-failed", library + ": " + what, "", "a complete, unchanged archive of this program"};
}

class Gzip final : public Codec {
 public:
  explicit Gzip(int level) : level_(level) {}

  Result<Buffer> compress(View input) override {
    z_stream stream{};
    if (deflateInit2(&stream, level_, Z_DEFLATED, kGzipWindowBits, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
      return failed("zlib", "deflateInit2 failed");
    }
    Buffer output(deflateBound(&stream, input.size()));
    stream.next_in = const_cast<Bytef*>(input.data());
    stream.avail_in = static_cast<uInt>(input.size());
    stream.next_out = output.data();
    stream.avail_out = static_cast<uInt>(output.size());
    const int result = deflate(&stream, Z_FINISH);
    const size_t written = stream.total_out;
    deflateEnd(&stream);
    if (result != Z_STREAM_END) return failed("zlib", "deflate ended early");
    output.shrink(written);
    return output;
  }

  Result<Buffer> decompress(View input, size_t output_bytes) override {
    z_stream stream{};
    if (inflateInit2(&stream, kGzipWindowBits) != Z_OK) return failed("zlib", "inflateInit2 failed");
    Buffer output(output_bytes);
    stream.next_in = const_cast<Bytef*>(input.data());
    stream.avail_in = static_cast<uInt>(input.size());
    stream.next_out = output.data();
    stream.avail_out = static_cast<uInt>(output.size());
    const int result = inflate(&stream, Z_FINISH);
    const size_t written = stream.total_out;
    inflateEnd(&stream);
    if (result != Z_STREAM_END || written != output_bytes) return failed("zlib", "corrupt data");
    return output;
  }

 private:
  static constexpr int kGzipWindowBits = 15 + 16;  // 16: with gzip's header and checksum
  int level_;
};

class Bzip2 final : public Codec {
 public:
  explicit Bzip2(int level) : level_(level) {}

  Result<Buffer> compress(View input) override {
    Buffer output(input.size() + input.size() / 100 + 600);
    auto written = static_cast<unsigned>(output.size());
    const int result = BZ2_bzBuffToBuffCompress(reinterpret_cast<char*>(output.data()), &written,
                                                const_cast<char*>(reinterpret_cast<const char*>(input.data())),
                                                static_cast<unsigned>(input.size()), level_, 0, 0);
    if (result != BZ_OK) return failed("bzip2", "error " + std::to_string(result));
    output.shrink(written);
    return output;
  }

  Result<Buffer> decompress(View input, size_t output_bytes) override {
    Buffer output(output_bytes);
    auto written = static_cast<unsigned>(output.size());
    const int result = BZ2_bzBuffToBuffDecompress(reinterpret_cast<char*>(output.data()), &written,
                                                  const_cast<char*>(reinterpret_cast<const char*>(input.data())),
                                                  static_cast<unsigned>(input.size()), 0, 0);
    if (result != BZ_OK || written != output_bytes) return failed("bzip2", "corrupt data");
    return output;
  }

 private:
  int level_;
};

class Zstd final : public Codec {
 public:
  explicit Zstd(int level) : level_(level) {}

  Result<Buffer> compress(View input) override {
    Buffer output(ZSTD_compressBound(input.size()));
    const size_t written = ZSTD_compress(output.data(), output.size(), input.data(), input.size(), level_);
    if (ZSTD_isError(written) != 0) return failed("zstd", ZSTD_getErrorName(written));
    output.shrink(written);
    return output;
  }

  Result<Buffer> decompress(View input, size_t output_bytes) override {
    Buffer output(output_bytes);
    const size_t written = ZSTD_decompress(output.data(), output.size(), input.data(), input.size());
    if (ZSTD_isError(written) != 0) return failed("zstd", ZSTD_getErrorName(written));
    if (written != output_bytes) return failed("zstd", "corrupt data");
    return output;
  }

 private:
  int level_;
};

// Frames of linked blocks, as the lz4 program and the bindings write them by default.
class Lz4 final : public Codec {
 public:
  Lz4(int level, LZ4F_blockSizeID_t block) {
    preferences_.compressionLevel = level;
    preferences_.frameInfo.blockSizeID = block;
    preferences_.frameInfo.blockMode = LZ4F_blockLinked;
  }

  Result<Buffer> compress(View input) override {
    LZ4F_preferences_t preferences = preferences_;
    preferences.frameInfo.contentSize = input.size();
    Buffer output(LZ4F_compressFrameBound(input.size(), &preferences));
    const size_t written = LZ4F_compressFrame(output.data(), output.size(), input.data(), input.size(), &preferences);
    if (LZ4F_isError(written) != 0) return failed("lz4", LZ4F_getErrorName(written));
    output.shrink(written);
    return output;
  }

  Result<Buffer> decompress(View input, size_t output_bytes) override {
    LZ4F_dctx* context = nullptr;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)) != 0) {
      return failed("lz4", "no decompression context");
    }
    Buffer output(output_bytes);
    size_t read = 0;
    size_t written = 0;
    size_t hint = 1;
    while (hint != 0 && read < input.size()) {
      size_t source = input.size() - read;
      size_t target = output.size() - written;
      hint = LZ4F_decompress(context, output.data() + written, &target, input.data() + read, &source, nullptr);
      if (LZ4F_isError(hint) != 0 || (source == 0 && target == 0)) break;
      read += source;
      written += target;
    }
    LZ4F_freeDecompressionContext(context);
    if (hint != 0 || written != output_bytes) return failed("lz4", "corrupt data");
    return output;
  }

 private:
  LZ4F_preferences_t preferences_{};
};

#ifdef PERFCAST_HAVE_BZIP3
// Blocks one after another, each behind its compressed and its original size. The library's call for whole buffers
// writes past its own memory in version 1.2.
class Bzip3 final : public Codec {
 public:
  explicit Bzip3(int32_t block_bytes) : block_bytes_(block_bytes) {}

  Result<Buffer> compress(View input) override {
    const State state(bz3_new(block_bytes_), &bz3_free);
    if (state == nullptr) return failed("bzip3", "no memory for its state");
    const auto block_size = static_cast<size_t>(block_bytes_);
    const size_t blocks = (input.size() + block_size - 1) / block_size;
    Buffer output(bz3_bound(input.size()) + blocks * (bz3_bound(block_size) - block_size + sizeof(Sizes)));
    Buffer block(bz3_bound(block_size));
    size_t written = 0;
    for (size_t at = 0; at < input.size(); at += block_size) {
      const size_t count = std::min(block_size, input.size() - at);
      std::copy_n(input.data() + at, count, block.data());
      const int32_t compressed = bz3_encode_block(state.get(), block.data(), static_cast<int32_t>(count));
      if (compressed < 0) return failed("bzip3", bz3_strerror(state.get()));
      const Sizes sizes{static_cast<uint32_t>(compressed), static_cast<uint32_t>(count)};
      std::memcpy(output.data() + written, &sizes, sizeof sizes);
      std::copy_n(block.data(), sizes.compressed, output.data() + written + sizeof sizes);
      written += sizeof sizes + sizes.compressed;
    }
    output.shrink(written);
    return output;
  }

  Result<Buffer> decompress(View input, size_t output_bytes) override {
    const State state(bz3_new(block_bytes_), &bz3_free);
    if (state == nullptr) return failed("bzip3", "no memory for its state");
    const auto block_size = static_cast<size_t>(block_bytes_);
    Buffer output(output_bytes);
    Buffer block(bz3_bound(block_size));
    size_t written = 0;
    while (input.size() >= sizeof(Sizes)) {
      Sizes sizes{};
      std::memcpy(&sizes, input.data(), sizeof sizes);
      input = input.subspan(sizeof sizes);
      if (sizes.compressed > input.size() || sizes.compressed > block.size() || sizes.original > block_size ||
          sizes.original > output_bytes - written) {
        return failed("bzip3", "corrupt data");
      }
      std::copy_n(input.data(), sizes.compressed, block.data());
      if (bz3_decode_block(state.get(), block.data(), static_cast<int32_t>(sizes.compressed),
                           static_cast<int32_t>(sizes.original)) < 0) {
        return failed("bzip3", bz3_strerror(state.get()));
      }
      std::copy_n(block.data(), sizes.original, output.data() + written);
      written += sizes.original;
      input = input.subspan(sizes.compressed);
    }
    if (written != output_bytes || !input.empty()) return failed("bzip3", "corrupt data");
    return output;
  }

 private:
  using State = std::unique_ptr<bz3_state, void (*)(bz3_state*)>;
  struct Sizes {
    uint32_t compressed, original;
  };
  int32_t block_bytes_;
};
#endif

Result<int> level_within(const CodecRequest& request, int low, int high, int fallback) {
  const int level = request.level.value_or(fallback);
  if (level >= low && level <= high) return level;
  return Error{"bad-level", "no level " + std::to_string(level) + " of " + request.algorithm, "--level",
               std::to_string(low) + " to " + std::to_string(high)};
}

Error bad_block(int64_t block, const std::string& expected) {
  return {"bad-block", "no block of " + std::to_string(block) + " bytes", "--block", expected};
}

}  // namespace

std::vector<std::string> codec_names() {
  std::vector<std::string> names{"bzip2", "gzip", "lz4", "zstd"};
#ifdef PERFCAST_HAVE_BZIP3
  names.insert(names.begin() + 1, "bzip3");
#endif
  return names;
}

std::string codec_version(const std::string& name) {
  if (name == "gzip") return std::string("zlib ") + zlibVersion();
  if (name == "bzip2") return std::string("libbz2 ") + BZ2_bzlibVersion();
  if (name == "zstd") return std::string("libzstd ") + ZSTD_versionString();
  if (name == "lz4") return std::string("liblz4 ") + LZ4_versionString();
#ifdef PERFCAST_HAVE_BZIP3
  if (name == "bzip3") return std::string("libbzip3 ") + bz3_version();
#endif
  return "";
}

Result<std::unique_ptr<Codec>> make_codec(const CodecRequest& request) {
  const std::string& name = request.algorithm;
  std::unique_ptr<Codec> codec;
  const auto no_block = [&]() -> Status {
    if (!request.block_bytes) return {};
    return bad_block(*request.block_bytes, "no --block: only lz4 and bzip3 take one");
  };
  if (name == "gzip" || name == "bzip2" || name == "zstd") {
    if (const Status status = no_block(); !status) return status.error();
    const auto level = level_within(request, 1, name == "zstd" ? ZSTD_maxCLevel() : 9,
                                    name == "gzip"    ? 6
                                    : name == "bzip2" ? 9
                                                      : 3);
    if (!level) return level.error();
    if (name == "gzip") codec = std::make_unique<Gzip>(*level);
    if (name == "bzip2") codec = std::make_unique<Bzip2>(*level);
    if (name == "zstd") codec = std::make_unique<Zstd>(*level);
  } else if (name == "lz4") {
    // The library takes any level and treats those above 12 as 12; 16 is its bindings' name of the highest.
    const auto level = level_within(request, 0, 16, 0);
    if (!level) return level.error();
    LZ4F_blockSizeID_t block = LZ4F_default;
    switch (request.block_bytes.value_or(0)) {
      case 0:
        break;
      case 65536:
        block = LZ4F_max64KB;
        break;
      case 262144:
        block = LZ4F_max256KB;
        break;
      case 1048576:
        block = LZ4F_max1MB;
        break;
      case 4194304:
        block = LZ4F_max4MB;
        break;
      default:
        return bad_block(*request.block_bytes, "65536, 262144, 1048576 or 4194304");
    }
    codec = std::make_unique<Lz4>(*level, block);
  }
#ifdef PERFCAST_HAVE_BZIP3
  if (name == "bzip3") {
    if (request.level) return Error{"bad-level", "bzip3 has no levels", "--level", "--block alone"};
    const int64_t block = request.block_bytes.value_or(int64_t{16} << 20);
    if (block < 66560 || block > (int64_t{511} << 20)) return bad_block(block, "66560 to 535822336");
    codec = std::make_unique<Bzip3>(static_cast<int32_t>(block));
  }
#endif
  if (codec == nullptr) {
    return Error{"unknown-algorithm", "no compressor \"" + printable(name) + "\"", "--algorithm",
                 "one of: " + join(codec_names(), ", ")};
  }
  return codec;
}

uint32_t checksum(View bytes) {
  return static_cast<uint32_t>(crc32_z(crc32_z(0, nullptr, 0), bytes.data(), bytes.size()));
}

}  // namespace perfcast::harness
