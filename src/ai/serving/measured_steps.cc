#include "ai/serving/measured_steps.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr std::string_view kStepsSchema = "perfcast.engine-steps/1";
constexpr int64_t kMostLimit = int64_t{1} << 40;
constexpr size_t kMostRowTimes = 4096;
constexpr double kMostStep_s = 1e6;

// The table's value at `rows`; outside of it along its last line, or in proportion to the last value.
double at_rows(const std::vector<RowTime>& table, double rows) {
  if (table.empty() || rows <= 0) return 0;
  const auto above = std::find_if(table.begin(), table.end(),
                                  [rows](const RowTime& each) { return static_cast<double>(each.rows) >= rows; });
  if (above == table.begin()) return above->seconds;
  if (above == table.end()) return table.back().seconds * rows / static_cast<double>(table.back().rows);
  const RowTime& below = *(above - 1);
  const double share = (rows - static_cast<double>(below.rows)) / static_cast<double>(above->rows - below.rows);
  return below.seconds + share * (above->seconds - below.seconds);
}

class StepsReader {
 public:
  explicit StepsReader(JsonReader& in) : in_(in) {}

  double amount(JsonReader& in, const char* key, double most) {
    const double value = in.number(key);
    if (value >= 0 && value <= most) return value;
    in.complain(key, human_number(value), "0 to " + human_number(most));
    return 0;
  }

  int64_t count(JsonReader& in, const char* key, int64_t least = 1) {
    const int64_t value = in.integer(key);
    if (value >= least && value <= kMostLimit) return value;
    in.complain(key, std::to_string(value), std::to_string(least) + " or more");
    return least;
  }

  void table(const char* key, std::vector<RowTime>& rows) {
    in_.each(key, kMostRowTimes, [&](const Json& json, const std::string& path) {
      JsonReader each(json, path);
      RowTime time;
      time.rows = count(each, "rows");
      time.seconds = amount(each, "seconds", kMostStep_s);
      keep(each);
      if (!rows.empty() && time.rows <= rows.back().rows) in_.complain(key, "rows that don't ascend", "few rows first");
      if (!(time.seconds > 0)) in_.complain(key, "a step without time", "seconds above 0");
      rows.push_back(time);
    });
    if (rows.empty()) in_.complain(key, "no value", "at least one {\"rows\": N, \"seconds\": S}");
  }

  void keep(const JsonReader& in) {
    for (const std::string& complaint : in.complaints()) complaints_.push_back(complaint);
  }
  Status finish() const {
    if (Status fine = in_.finish(); !fine) return fine;
    if (complaints_.empty()) return {};
    return Error{"bad-json-field", join(complaints_, "; "), in_.path(), "a file that bench serve --calibrate wrote"};
  }

 private:
  JsonReader& in_;
  std::vector<std::string> complaints_;
};

}  // namespace

Result<MeasuredSteps> parse_measured_steps(std::string_view text, const std::string& source) {
  const auto json = parse_json(text, source);
  if (!json) return json.error();
  JsonReader in(*json, source);
  if (const std::string schema = in.string_or("schema", ""); schema != kStepsSchema) {
    return Error{
        "bad-schema",
        "these are no times of steps" + (schema.empty() ? "" : ": schema '" + printable(schema.substr(0, 60)) + "'"),
        source, "a file of schema perfcast.engine-steps/1: perfcast bench serve MODEL --calibrate FILE writes one"};
  }
  StepsReader read(in);
  MeasuredSteps steps;
  steps.model = in.string("model");
  steps.weights = in.string("weights");
  steps.cpu = in.string_or("cpu", "");
  steps.parameters = read.amount(in, "parameters", 1e18);
  steps.threads = read.count(in, "threads");
  steps.limits.max_sequences = read.count(in, "max_sequences");
  steps.limits.step_tokens = read.count(in, "step_tokens");
  steps.limits.context_tokens = read.count(in, "context_tokens");
  steps.limits.cache_tokens = read.count(in, "cache_tokens");
  steps.limits.prefix_cache = false;
  steps.exact_rows = read.count(in, "exact_rows", 0);
  steps.row_block = read.count(in, "row_block");
  read.table("layers", steps.layers);
  read.table("head", steps.head);
  if (const Json* const attention = in.require_object("attention")) {
    JsonReader of(*attention, in.path("attention"));
    steps.attention = {.sequence_s = read.amount(of, "sequence_s", kMostStep_s),
                       .sequence_key_s = read.amount(of, "sequence_key_s", kMostStep_s),
                       .prompt_s = read.amount(of, "prompt_s", kMostStep_s),
                       .prompt_token_s = read.amount(of, "prompt_token_s", kMostStep_s),
                       .prompt_pair_s = read.amount(of, "prompt_pair_s", kMostStep_s)};
    read.keep(of);
  }
  steps.scale = in.number_or("scale", 1);
  if (!(steps.scale >= 0.01 && steps.scale <= 100)) in.complain("scale", human_number(steps.scale), "0.01 to 100");
  steps.front_end_s = in.number_or("front_end_s", 0);
  if (!(steps.front_end_s >= 0 && steps.front_end_s <= kMostStep_s)) in.complain("front_end_s", "no time", "0 or more");
  steps.checked_steps = in.integer_or("checked_steps", 0);
  steps.log_half_width = in.number_or("log_half_width", 0);
  if (!(steps.log_half_width >= 0 && steps.log_half_width <= 5)) in.complain("log_half_width", "no width", "0 to 5");
  if (Status fine = read.finish(); !fine) return fine.error();
  if (Status fine = check(steps.limits); !fine) {
    Error error = fine.error();
    error.where = in.path(error.where);
    return error;
  }
  return steps;
}

Json to_json(const MeasuredSteps& steps) {
  const auto table = [](const std::vector<RowTime>& rows) {
    Json list = Json::array();
    for (const RowTime& each : rows) list.push_back({{"rows", each.rows}, {"seconds", each.seconds}});
    return list;
  };
  Json json{{"schema", kStepsSchema}, {"model", steps.model}, {"weights", steps.weights}};
  put_known(json, "cpu", steps.cpu);
  json["parameters"] = steps.parameters;
  json["threads"] = steps.threads;
  json["max_sequences"] = steps.limits.max_sequences;
  json["step_tokens"] = steps.limits.step_tokens;
  json["context_tokens"] = steps.limits.context_tokens;
  json["cache_tokens"] = steps.limits.cache_tokens;
  json["exact_rows"] = steps.exact_rows;
  json["row_block"] = steps.row_block;
  json["layers"] = table(steps.layers);
  json["head"] = table(steps.head);
  json["attention"] = {{"sequence_s", steps.attention.sequence_s},
                       {"sequence_key_s", steps.attention.sequence_key_s},
                       {"prompt_s", steps.attention.prompt_s},
                       {"prompt_token_s", steps.attention.prompt_token_s},
                       {"prompt_pair_s", steps.attention.prompt_pair_s}};
  json["scale"] = steps.scale;
  json["front_end_s"] = steps.front_end_s;
  json["checked_steps"] = steps.checked_steps;
  json["log_half_width"] = steps.log_half_width;
  return json;
}

double MeasuredStepTime::seconds(const StepBatch& batch) const {
  const auto filled_up = [this](double rows) {
    const auto block = static_cast<double>(steps_.row_block);
    return rows <= static_cast<double>(steps_.exact_rows) ? rows : std::ceil(rows / block) * block;
  };
  const auto decodes = static_cast<double>(batch.decodes), prefills = static_cast<double>(batch.prefills);
  const AttentionTimes& attention = steps_.attention;
  const double sum = at_rows(steps_.layers, filled_up(batch.tokens())) +
                     at_rows(steps_.head, filled_up(decodes + prefills)) + attention.sequence_s * decodes +
                     attention.sequence_key_s * batch.decode_context_tokens + attention.prompt_s * prefills +
                     attention.prompt_token_s * batch.prefill_tokens + attention.prompt_pair_s * batch.prefill_pairs;
  return std::max(1e-9, scale_ * steps_.scale * sum);
}

}  // namespace perfcast::ai
