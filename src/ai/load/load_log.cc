#include "ai/load/load_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <utility>

#include "ai/load/field_log.h"
#include "ai/load/system_under_test.h"
#include "base/json.h"

namespace perfcast::ai {
namespace {

void append_number(std::string& text, int64_t value) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  text.append(digits.data(), end.ptr);
}

void append_line(std::string& text, const SampleRecord& record) {
  append_number(text, static_cast<int64_t>(record.id));
  for (const int64_t value : {static_cast<int64_t>(record.index), record.due_ns, record.issued_ns}) {
    text += ',';
    append_number(text, value);
  }
  text += ',';
  if (record.first_token_ns >= 0) append_number(text, record.first_token_ns);
  text += ',';
  append_number(text, record.answered_ns);
  text += ',';
  append_number(text, record.tokens);
  text += record.failed ? ",1\n" : ",0\n";
}

std::string hexadecimal(const std::string& data) {
  static constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string text;
  text.reserve(2 * data.size());
  for (const char byte : data) {
    const auto value = static_cast<unsigned char>(byte);
    text += kDigits[value >> 4];
    text += kDigits[value & 15];
  }
  return text;
}

}  // namespace

bool LoadLog::open(const std::string& name, int& descriptor) {
  const std::string path = folder_ + "/" + name;
  descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (descriptor < 0) failure_ = path + ": " + std::strerror(errno);
  return descriptor >= 0;
}

Result<std::unique_ptr<LoadLog>> LoadLog::create(const std::string& folder, int64_t most_sample_bytes) {
  std::unique_ptr<LoadLog> log(new LoadLog(folder));
  log->began_ns_ = steady_ns();
  log->most_sample_bytes_ = most_sample_bytes;
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) log->failure_ = folder + ": " + problem.message();
  if (!problem && log->open("samples.csv", log->samples_) && log->open("bench_detail.txt", log->detail_) &&
      log->open("bench_accuracy.json", log->accuracy_) && log->open("bench_summary.txt", log->summary_)) {
    std::filesystem::remove(folder + "/result.json", problem);
    log->write_all(log->samples_, std::string(kSamplesHeader) + "\n");
    log->write_all(log->accuracy_, "[");
    return {std::move(log)};
  }
  return environment_error("log-failed", "the log can't be written: " + log->failure_, "--log", "a folder to write to");
}

LoadLog::~LoadLog() {
  for (const int descriptor : {samples_, detail_, accuracy_, summary_}) {
    if (descriptor < 0) continue;
    ::fdatasync(descriptor);
    ::close(descriptor);
  }
}

void LoadLog::write_all(int descriptor, const std::string& text) {
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = ::write(descriptor, text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      if (failure_.empty()) failure_ = folder_ + ": " + std::strerror(errno);
      return;
    }
    written += static_cast<size_t>(count);
  }
}

Status LoadLog::failed() const {
  if (failure_.empty()) return {};
  return environment_error("log-failed", "the log can't be written: " + failure_, "--log", "room for it");
}

void LoadLog::point(const std::string& key, const Json& value, bool is_error) {
  errors_ += is_error ? 1 : 0;
  const bool begins = key == "power_begin", ends = key == "power_end";
  const Json line{{"key", key},
                  {"value", value},
                  {"time_ms", static_cast<double>(steady_ns() - began_ns_) / 1e6},
                  {"namespace", "mlperf::logging"},
                  {"event_type", begins ? "INTERVAL_START"
                                 : ends ? "INTERVAL_END"
                                        : "POINT_IN_TIME"},
                  {"metadata",
                   {{"is_error", is_error},
                    {"is_warning", false},
                    {"file", "load_log.cc"},
                    {"line_no", 0},
                    {"pid", getpid()},
                    {"tid", static_cast<int64_t>(syscall(SYS_gettid))}}}};
  write_all(detail_, ":::MLLOG " + line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

void LoadLog::settings(const LoadSettings& settings, const LoadRules& rules) {
  const auto ns = [](double seconds) { return int64_t{std::llround(seconds * 1e9)}; };
  const auto ms = [](double seconds) { return int64_t{std::llround(seconds * 1e3)}; };
  for (const std::string prefix : {"requested_", "effective_"}) {
    const auto put = [&](const char* key, const Json& value) { point(prefix + key, value); };
    put("scenario", field_name(settings.scenario));
    put("test_mode", field_name(settings.mode));
    put("target_qps", settings.target_qps);
    const bool multi = settings.scenario == LoadScenario::kMultiStream;
    put("samples_per_query", multi ? settings.samples_per_query : 1);
    put("target_latency_percentile", rules.percentile);
    if (rules.max_latency_s) put("target_latency_ns", ns(*rules.max_latency_s));
    put("min_duration_ms", ms(settings.min_duration_s));
    put("max_duration_ms", ms(settings.max_duration_s));
    put("min_query_count", settings.min_queries);
    put("max_query_count", settings.max_queries);
    put("qsl_rng_seed", settings.seeds.data_set);
    put("sample_index_rng_seed", settings.seeds.sample_order);
    put("schedule_rng_seed", settings.seeds.schedule);
    put("performance_sample_count", settings.loaded_samples);
    put("accuracy_sample_count", settings.total_samples);
    put("sample_concatenate_permutation", settings.equal_issue);
    if (!settings.tokens) continue;
    put("use_token_latencies", true);
    if (rules.max_ttft_s) put("server_ttft_latency", ns(*rules.max_ttft_s));
    if (rules.max_tpot_s) put("server_tpot_latency", ns(*rules.max_tpot_s));
  }
}

void LoadLog::add_accuracy(const SampleRecord& record) {
  if (record.failed) return;
  std::string entry = has_accuracy_ ? ",\n" : "\n";
  has_accuracy_ = true;
  entry += fmt::format("{{ \"seq_id\" : {}, \"qsl_idx\" : {}, \"data\" : \"{}\"", record.id, record.index,
                       hexadecimal(record.data));
  if (record.tokens > 0) entry += fmt::format(", \"token_count\" : {}", record.tokens);
  write_all(accuracy_, entry + " }");
}

Status LoadLog::add(std::span<const SampleRecord> records, LoadMode mode) {
  buffer_.clear();
  for (const SampleRecord& record : records) {
    if (mode == LoadMode::kAccuracy) add_accuracy(record);
    if (sample_bytes_ + static_cast<int64_t>(buffer_.size()) < most_sample_bytes_) {
      append_line(buffer_, record);
    } else {
      ++left_out_;
    }
  }
  sample_bytes_ += static_cast<int64_t>(buffer_.size());
  write_all(samples_, buffer_);
  return failed();
}

Status LoadLog::finish(const LoadResult& result, const LoadSummary& summary, const LoadVerdict& verdict,
                       const LoadRules& rules) {
  for (const LoadFault& fault : result.faults) point("error_runtime", fault.code + ": " + fault.message, true);
  for (const auto& [key, value] : field_points(result, summary, verdict)) point(key, value);
  point("num_errors", errors_);
  write_all(summary_, field_summary(result, summary, verdict, rules));
  return failed();
}

Status LoadLog::close() {
  write_all(accuracy_, "\n]\n");
  return failed();
}

}  // namespace perfcast::ai
