#include "ai/audit/claim_lexicon.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>

#include "base/text.h"

namespace perfcast::ai {
namespace {

// Words that a count stands behind ("batch 8") or before ("8 users").
constexpr std::pair<std::string_view, const char*> kCounts[] = {{"batch", "batch"},
                                                                {"bs", "batch"},
                                                                {"batchsize", "batch"},
                                                                {"concurrency", "concurrency"},
                                                                {"concurrent", "concurrency"},
                                                                {"users", "concurrency"},
                                                                {"user", "concurrency"},
                                                                {"clients", "concurrency"},
                                                                {"streams", "concurrency"},
                                                                {"sequence", "sequence"},
                                                                {"seq", "sequence"},
                                                                {"context", "sequence"},
                                                                {"ctx", "sequence"},
                                                                {"input", "input_tokens"},
                                                                {"prompt", "input_tokens"},
                                                                {"isl", "input_tokens"},
                                                                {"output", "output_tokens"},
                                                                {"osl", "output_tokens"},
                                                                {"threads", "threads"},
                                                                {"devices", "devices"},
                                                                {"gpus", "devices"},
                                                                {"gpu", "devices"},
                                                                {"tpus", "devices"},
                                                                {"accelerators", "devices"},
                                                                {"tp", "devices"},
                                                                {"tensor-parallel", "devices"},
                                                                {"cards", "devices"},
                                                                {"chips", "devices"}};

constexpr ClaimWord kMeanings[] = {{"prefill", "phase", "prefill"},
                                   {"decode", "phase", "decode"},
                                   {"decoding", "phase", "decode"},
                                   {"training", "phase", "training"},
                                   {"per-user", "scope", "per-user"},
                                   {"aggregate", "scope", "system"},
                                   {"total", "scope", "system"},
                                   {"speculative", "speculative", "true"},
                                   {"offload", "offload", "true"},
                                   {"2:4", "sparsity", "2:4"},
                                   {"sparse", "sparsity", "2:4"},
                                   {"sparsity", "sparsity", "2:4"},
                                   {"dense", "sparsity", "dense"},
                                   {"mean", "statistic", "mean"},
                                   {"average", "statistic", "mean"},
                                   {"median", "statistic", "p50"},
                                   {"p50", "statistic", "p50"},
                                   {"p90", "statistic", "p90"},
                                   {"p95", "statistic", "p95"},
                                   {"p99", "statistic", "p99"},
                                   {"e2e", "latency_definition", "end-to-end"},
                                   {"end-to-end", "latency_definition", "end-to-end"},
                                   {"kernel", "latency_definition", "kernel"},
                                   {"naive", "rung", "naive"},
                                   {"vllm", "libraries", "vLLM"},
                                   {"sglang", "libraries", "SGLang"},
                                   {"tensorrt-llm", "libraries", "TensorRT-LLM"},
                                   {"trt-llm", "libraries", "TensorRT-LLM"},
                                   {"tensorrt", "libraries", "TensorRT"},
                                   {"llama.cpp", "libraries", "llama.cpp"},
                                   {"pytorch", "libraries", "PyTorch"},
                                   {"jax", "libraries", "JAX"},
                                   {"cublas", "libraries", "cuBLAS"},
                                   {"cutlass", "libraries", "CUTLASS"},
                                   {"python", "language", "Python"},
                                   {"c++", "language", "C++"},
                                   {"cuda", "language", "CUDA"},
                                   {"rust", "language", "Rust"},
                                   {"ttft", "time", "first_token"},
                                   {"first-token", "time", "first_token"},
                                   {"tpot", "time", "token_time"},
                                   {"itl", "time", "token_time"},
                                   {"inter-token", "time", "token_time"},
                                   {"per-token", "time", "token_time"},
                                   {"latency", "time", "latency"}};

constexpr std::pair<std::string_view, const char*> kPrecisions[] = {{"float32", "fp32"},  {"single-precision", "fp32"},
                                                                    {"float16", "fp16"},  {"16-bit", "fp16"},
                                                                    {"bfloat16", "bf16"}, {"fp-16", "fp16"},
                                                                    {"fp-8", "fp8"},      {"8-bit", "w8a8"},
                                                                    {"4-bit", "int4"},    {"awq", "w4a16"},
                                                                    {"gptq", "w4a16"}};

constexpr std::string_view kFillers[] = {
    "we",         "get",       "serves",  "serve",   "can",    "does",     "sxm",      "sxm4",     "sxm5",
    "card",       "about",     "around",  "some",    "reach",  "run",      "running",  "on",       "with",
    "at",         "in",        "a",       "an",      "the",    "of",       "and",      "using",    "for",
    "gets",       "to",        "is",      "reaches", "runs",   "achieves", "delivers", "up",       "size",
    "tokens",     "token",     "per",     "model",   "flight", "length",   "only",     "requests", "inference",
    "throughput", "precision", "weights", "it",      "speed",  "nvidia",   "amd",      "google",   "time",
    "single",     "one",       "over",    "=",       "-",      "faster",   "speedup"};

// Parts of a unit by the spelling that claim_units.h has.
constexpr std::pair<std::string_view, std::string_view> kUnitParts[] = {{"tok", "tokens"},
                                                                        {"toks", "tokens"},
                                                                        {"token", "tokens"},
                                                                        {"t", "tokens"},
                                                                        {"ktok", "ktokens"},
                                                                        {"image", "images"},
                                                                        {"img", "images"},
                                                                        {"imgs", "images"},
                                                                        {"fps", "images/s"},
                                                                        {"sample", "samples"},
                                                                        {"query", "queries"},
                                                                        {"request", "queries"},
                                                                        {"requests", "queries"},
                                                                        {"req", "queries"},
                                                                        {"reqs", "queries"},
                                                                        {"rps", "queries/s"},
                                                                        {"sequence", "sequences"},
                                                                        {"inference", "inferences"},
                                                                        {"sec", "s"},
                                                                        {"second", "s"},
                                                                        {"seconds", "s"},
                                                                        {"tps", "tokens/s"},
                                                                        {"qps", "queries/s"},
                                                                        {"millisecond", "ms"},
                                                                        {"milliseconds", "ms"},
                                                                        {"msec", "ms"},
                                                                        {"microseconds", "us"},
                                                                        {"\xc2\xb5s", "us"},
                                                                        {"minutes", "min"},
                                                                        {"hours", "h"},
                                                                        {"flops", "FLOP/s"},
                                                                        {"gflops", "GFLOP/s"},
                                                                        {"tflops", "TFLOP/s"},
                                                                        {"teraflops", "TFLOP/s"},
                                                                        {"pflops", "PFLOP/s"},
                                                                        {"petaflops", "PFLOP/s"},
                                                                        {"tops", "TOP/s"},
                                                                        {"pops", "POP/s"},
                                                                        {"gbps", "GB/s"},
                                                                        {"tbps", "TB/s"}};

std::string canonical_part(const std::string& part) {
  const std::string lower = lower_case(part);
  for (const auto& [spelling, unit] : kUnitParts) {
    if (lower == spelling) return std::string(unit);
  }
  return part;
}

}  // namespace

size_t number_length(std::string_view word) {
  size_t end = 0;
  while (end < word.size() &&
         (std::isdigit(static_cast<unsigned char>(word[end])) != 0 ||
          (end > 0 && end + 1 < word.size() && (word[end] == ',' || word[end] == '.' || word[end] == '\'') &&
           std::isdigit(static_cast<unsigned char>(word[end + 1])) != 0))) {
    ++end;
  }
  return end;
}

std::vector<std::string> words_of_claim(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i], next = i + 1 < text.size() ? text[i + 1] : ' ';
    const bool in_number = i > 0 && std::isdigit(static_cast<unsigned char>(text[i - 1])) != 0 &&
                           std::isdigit(static_cast<unsigned char>(next)) != 0;
    if (text.substr(i).starts_with("\xc3\x97")) {
      plain += 'x';
      ++i;
      continue;
    }
    const bool parts = std::string_view("();=@~\"\t\n\r").find(c) != std::string_view::npos ||
                       ((c == ',' || c == ':') && !in_number) ||
                       (c == '.' && std::isspace(static_cast<unsigned char>(next)) != 0);
    plain += parts ? ' ' : c;
  }
  std::vector<std::string> words;
  for (const std::string& word : split(plain, ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

bool is_claim_plural(std::string_view word) {
  return word == "gpus" || word == "tpus" || word == "accelerators" || word == "devices" || word == "cards" ||
         word == "chips";
}

bool is_claim_comparison(std::string_view word) {
  for (const std::string_view one :
       {"faster", "quicker", "higher", "more", "better", "speedup", "speed-up", "over", "than", "as", "the"}) {
    if (word == one) return true;
  }
  return false;
}

std::optional<ClaimUnitName> claim_unit_named(const std::string& text) {
  ClaimUnitName found{};
  std::vector<std::string> parts;
  for (const std::string& part : split(text, '/')) parts.push_back(canonical_part(part));
  while (parts.size() > 1) {
    const std::string last = lower_case(parts.back());
    if (last == "user" || last == "stream") {
      found.per_user = true;
    } else if (last == "gpu" || last == "device" || last == "chip") {
      found.per_device = true;
    } else {
      break;
    }
    parts.pop_back();
  }
  if (parts.size() == 2 && parts[1] == "tokens" && claim_unit_scale(ClaimMetric::kTokenTime, parts[0])) {
    found.metric = ClaimMetric::kTokenTime;
    found.unit = parts[0];
    return found;
  }
  const std::string unit = join(parts, "/");
  for (size_t i = 0; i < kClaimMetrics; ++i) {
    const auto metric = static_cast<ClaimMetric>(i);
    for (const std::string& known : split(claim_unit_names(metric), ',')) {
      if (unit.empty() || lower_case(trim(known)) != lower_case(unit) || unit == "ratio") continue;
      found.metric = metric;
      found.unit = std::string(trim(known));
      return found;
    }
  }
  return std::nullopt;
}

std::vector<std::string> claim_unit_spellings() {
  std::vector<std::string> names;
  for (size_t i = 0; i < kClaimMetrics; ++i) {
    for (const std::string& unit : split(claim_unit_names(static_cast<ClaimMetric>(i)), ',')) {
      names.emplace_back(trim(unit));
    }
  }
  names.emplace_back("tok/s");
  return names;
}

const char* claim_count_named(std::string_view word) {
  for (const auto& [name, field] : kCounts) {
    if (name == word) return field;
  }
  return nullptr;
}

const ClaimWord* claim_word_named(std::string_view word) {
  for (const ClaimWord& each : kMeanings) {
    if (each.word == word) return &each;
  }
  return nullptr;
}

std::string_view claim_precision_spelled(std::string_view word) {
  for (const auto& [spelling, name] : kPrecisions) {
    if (spelling == word) return name;
  }
  return "";
}

bool is_claim_filler(std::string_view word) {
  return std::find(std::begin(kFillers), std::end(kFillers), word) != std::end(kFillers);
}

bool is_prose(std::string_view word) {
  constexpr size_t kShort = 4;
  return word.size() <= kShort &&
         std::all_of(word.begin(), word.end(), [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
}

std::vector<std::string> claim_lexicon() {
  std::vector<std::string> words;
  for (const auto& [word, field] : kCounts) words.emplace_back(word);
  for (const ClaimWord& each : kMeanings) words.emplace_back(each.word);
  return words;
}

}  // namespace perfcast::ai
