// perfcast-harness: compressors and ciphers in memory, a fixed amount of work per run.

#include <malloc.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string>

#include "base/file.h"
#include "base/json.h"
#include "profile/suite/harness/archive.h"
#include "profile/suite/harness/codec.h"
#include "profile/suite/harness/text.h"

namespace perfcast::harness {
namespace {

double seconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct Options {
  CodecRequest codec;
  std::string direction = "compress", input, archive, output = "-", algorithm;
  int64_t repeats = 1, bytes = 10000000, block_bytes = 16384;
  uint64_t seed = kTextSeed;
};

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

// The report of one run; all times are of the measured loop alone.
class Measurement {
 public:
  Measurement() : at_(now()) {}
  Json finish(int64_t work_bytes) const {
    const Times end = now();
    Json json;
    json["schema"] = "perfcast.harness/1";
    json["work_units"] = work_bytes;
    json["work_unit"] = "byte";
    json["user_s"] = end.user_s - at_.user_s;
    json["system_s"] = end.system_s - at_.system_s;
    json["wall_s"] = end.wall_s - at_.wall_s;
    return json;
  }

 private:
  struct Times {
    double user_s, system_s, wall_s;
  };
  static Times now() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return {seconds_of(usage.ru_utime), seconds_of(usage.ru_stime), seconds_of(CLOCK_MONOTONIC)};
  }
  Times at_;
};

Status generate(const Options& options) {
  return write_file_atomically(options.output, generate_text(static_cast<size_t>(options.bytes), options.seed));
}

Result<std::string> read_input(const Options& options) {
  auto text = read_file(options.input, size_t{1} << 30);
  if (text && text->empty())
    return Error{"empty-input", "nothing to compress", options.input, "a file that is not empty"};
  return text;
}

View view_of(const std::string& text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

Status prepare(const Options& options) {
  const auto codec = make_codec(options.codec);
  if (!codec) return codec.error();
  const auto input = read_input(options);
  if (!input) return input.error();
  const auto archive = make_archive(**codec, view_of(*input));
  if (!archive) return archive.error();
  return write_archive(*archive, options.output);
}

Error wrong_result() {
  return {"wrong-result", "the result of the first round has another checksum than the prepared one", "--archive",
          "an archive prepared from the same input, algorithm, level and library"};
}

Status compress(const Options& options) {
  const auto codec = make_codec(options.codec);
  if (!codec) return codec.error();
  const bool forward = options.direction == "compress";
  const auto archive = read_archive(options.archive, !forward);
  if (!archive) return archive.error();
  std::string input;
  if (forward) {
    auto text = read_input(options);
    if (!text) return text.error();
    input = std::move(*text);
  }
  const Measurement measurement;
  for (int64_t round = 0; round < options.repeats; ++round) {
    const auto output = forward ? (*codec)->compress(view_of(input))
                                : (*codec)->decompress(archive->compressed.view(), archive->original_bytes);
    if (!output) return output.error();
    const uint32_t expected = forward ? archive->compressed_checksum : archive->original_checksum;
    if (round == 0 && checksum(output->view()) != expected) return wrong_result();
  }
  Json json = measurement.finish(options.repeats * static_cast<int64_t>(archive->original_bytes));
  json["algorithm"] = options.codec.algorithm;
  json["direction"] = options.direction;
  json["library"] = codec_version(options.codec.algorithm);
  return write_file_atomically(options.output, json.dump() + "\n");
}

Status crypto(const Options& options) {
  const auto step = make_crypto(options.algorithm, static_cast<size_t>(options.block_bytes));
  if (!step) return step.error();
  const Measurement measurement;
  uint8_t folded = 0;
  for (int64_t round = 0; round < options.repeats; ++round) {
    const auto byte = (*step)();
    if (!byte) return byte.error();
    folded ^= *byte;
  }
  Json json = measurement.finish(options.repeats * options.block_bytes);
  json["algorithm"] = options.algorithm;
  json["library"] = crypto_version();
  json["folded"] = folded;
  return write_file_atomically(options.output, json.dump() + "\n");
}

Status list(const Options& options) {
  Json json;
  json["schema"] = "perfcast.harness-list/1";
  for (const std::string& name : codec_names()) json["compressors"][name] = codec_version(name);
  json["crypto"] = crypto_version();
  return write_file_atomically(options.output, to_text(json));
}

void add_codec_options(CLI::App& verb, Options& options) {
  verb.add_option("--algorithm", options.codec.algorithm, "gzip, bzip2, bzip3, zstd or lz4")->required();
  verb.add_option("--level", options.codec.level, "Level; the library's default where absent");
  verb.add_option("--block", options.codec.block_bytes, "Block size in bytes (lz4, bzip3)");
}

int run(int argc, char** argv) {
  Options options;
  std::function<Status()> action;
  CLI::App app("Compressors and ciphers in memory, a fixed amount of work per run.", "perfcast-harness");
  app.require_subcommand(1);

  CLI::App* verb = app.add_subcommand("list", "What is built in, with versions");
  verb->add_option("-o,--output", options.output, "Where the list goes")->capture_default_str();
  verb->callback([&] { action = [&options] { return list(options); }; });

  verb = app.add_subcommand("generate", "Write the text that the suite compresses");
  verb->add_option("--bytes", options.bytes, "Length")->check(CLI::Range(1, 1 << 30))->capture_default_str();
  verb->add_option("--seed", options.seed, "Seed")->capture_default_str();
  verb->add_option("-o,--output", options.output, "Where the text goes")->capture_default_str();
  verb->callback([&] { action = [&options] { return generate(options); }; });

  verb = app.add_subcommand("prepare", "Compress a file, check the round trip, keep the result for `compress`");
  add_codec_options(*verb, options);
  verb->add_option("--input", options.input, "File to compress")->required();
  verb->add_option("-o,--output", options.output, "Where the archive goes")->required();
  verb->callback([&] { action = [&options] { return prepare(options); }; });

  verb = app.add_subcommand("compress", "Compress or decompress a buffer again and again");
  add_codec_options(*verb, options);
  verb->add_option("--direction", options.direction, "compress or decompress")
      ->check(CLI::IsMember({"compress", "decompress"}))
      ->capture_default_str();
  verb->add_option("--input", options.input, "File to compress; not read by decompress");
  verb->add_option("--archive", options.archive, "What `prepare` wrote: the result is checked against it")->required();
  verb->add_option("--repeat", options.repeats, "Rounds")->check(CLI::Range(1, 1000000))->capture_default_str();
  verb->add_option("-o,--output", options.output, "Where the report goes")->capture_default_str();
  verb->callback([&] { action = [&options] { return compress(options); }; });

  verb = app.add_subcommand("openssl", "Encrypt or digest one buffer again and again");
  verb->add_option("--algorithm", options.algorithm, "As OpenSSL names it")->required();
  verb->add_option("--block-bytes", options.block_bytes, "Buffer")->capture_default_str();
  verb->add_option("--repeat", options.repeats, "Buffers")->check(CLI::Range(1, 100000000))->capture_default_str();
  verb->add_option("-o,--output", options.output, "Where the report goes")->capture_default_str();
  verb->callback([&] { action = [&options] { return crypto(options); }; });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? 0 : 2;
  }
  if (const Status status = action(); !status) {
    std::fprintf(stderr, "perfcast-harness: %s\n", to_text(status.error()).c_str());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace perfcast::harness

int main(int argc, char** argv) {
  // A run of the labels is one call in a fresh process: every large buffer is new memory, whose pages fault in. A fixed
  // threshold keeps the allocator from handing out the same pages again in later rounds.
  mallopt(M_MMAP_THRESHOLD, 128 * 1024);
  try {
    return perfcast::harness::run(argc, argv);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "perfcast-harness: internal error: %s\n", problem.what());
    return 1;
  }
}
