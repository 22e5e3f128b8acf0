#include "ai/system/transformer_system.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <new>
#include <utility>

#include "ai/transformer/generation.h"
#include "ai/transformer/transformer_files.h"
#include "base/random.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

std::optional<int64_t> whole_number(std::string_view text) {
  int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

Result<OpenedTransformer> open_for(const TransformerSystemOptions& options, int64_t slots) {
  TransformerOptions with;
  with.precision = options.precision;
  with.threads = options.threads;
  with.slots = slots;
  with.context = options.prompt_tokens + options.new_tokens;
  return open_transformer(options.model, options.seed, with);
}

double deviation_of(std::span<const float> values) {
  double sum = 0, squares = 0;
  for (const float value : values) sum += value;
  const double middle = sum / static_cast<double>(values.size());
  for (const float value : values) squares += (value - middle) * (value - middle);
  return std::sqrt(squares / static_cast<double>(values.size()));
}

}  // namespace

Result<TransformerSystemOptions> parse_transformer_system(std::string_view text,
                                                          const TransformerSystemOptions& defaults,
                                                          const std::string& where) {
  const auto bad = [&](const std::string& found) {
    return usage_error("bad-usage", found, where,
                       "transformer:MODEL, then ,int8 or ,fp32, ,threads=1 to " +
                           std::to_string(kMostTransformerThreads) + " and ,slots=1 to " +
                           std::to_string(kMostTransformerSlots));
  };
  TransformerSystemOptions options = defaults;
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return options;
  const std::vector<std::string> words = split(text.substr(colon + 1), ',');
  if (words.front().empty()) return bad("no model is named");
  options.model = words.front();
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    const size_t equals = word.find('=');
    const std::string key = word.substr(0, equals);
    if (equals == std::string::npos) {
      const auto precision = precision_named(word);
      if (!precision || (*precision != Precision::kFp32 && *precision != Precision::kInt8)) {
        return bad("'" + printable(word) + "' is nothing that a transformer has");
      }
      options.precision = *precision;
      continue;
    }
    const bool threads = key == "threads";
    if (!threads && key != "slots") return bad("'" + printable(key) + "' is nothing that a transformer has");
    const auto number = whole_number(std::string_view(word).substr(equals + 1));
    if (!number || *number < 1 || *number > (threads ? kMostTransformerThreads : kMostTransformerSlots)) {
      return bad("'" + printable(word) + "' can't be");
    }
    if (threads) {
      options.threads = static_cast<int>(*number);
    } else {
      options.slots = *number;
    }
  }
  return options;
}

Result<std::unique_ptr<SystemUnderTest>> TransformerSystem::create(const TransformerSystemOptions& options) {
  if (options.prompt_tokens < 1 || options.new_tokens < 1) {
    return usage_error("bad-usage", "a prompt or an answer without a token", "--prompt-words, --max-tokens",
                       "1 and more; time per output token takes 2 of an answer");
  }
  auto opened = open_for(options, options.slots);
  if (!opened) {
    Error error = opened.error();
    if (error.where == "MODEL") error.where = "--system";
    if (error.where == "context") {
      error.message = std::to_string(options.prompt_tokens) + " tokens and " + std::to_string(options.new_tokens) +
                      " new ones are more than the model has positions for";
      error.where = "--prompt-words, --max-tokens";
      error.expected = "fewer tokens: " + error.expected.substr(0, error.expected.find(',')) + " of both together";
    }
    return error;
  }
  try {
    return std::unique_ptr<SystemUnderTest>(new TransformerSystem(options, std::move(*opened)));
  } catch (const std::bad_alloc&) {  // logits of all slots
    return environment_error(
        "out-of-memory", "there is no memory for the logits of " + std::to_string(options.slots) + " answers at once",
        "--system", "fewer slots");
  }
}

TransformerSystem::TransformerSystem(const TransformerSystemOptions& options, OpenedTransformer opened)
    : options_(options),
      opened_(std::make_unique<OpenedTransformer>(std::move(opened))),
      generation_(std::make_unique<GenerationQueue>(opened_->transformer)) {}

TransformerSystem::~TransformerSystem() = default;

std::string TransformerSystem::name() const {
  const int threads = opened_->transformer.options().threads;
  return opened_->transformer.model().config.name + " " + std::string(info(options_.precision).name) + ", " +
         (opened_->random_weights ? "random weights, " : "") + std::to_string(threads) +
         (threads == 1 ? " thread, " : " threads, ") + std::to_string(options_.slots) + " at once, " +
         std::to_string(options_.prompt_tokens) + " tokens to " + std::to_string(options_.new_tokens);
}

std::vector<int32_t> TransformerSystem::prompt_of(uint32_t index) const {
  Random random(options_.seed ^ (uint64_t{0x9E3779B9} * (index + uint64_t{1})));
  const auto vocab = static_cast<double>(opened_->transformer.model().config.vocab);
  std::vector<int32_t> prompt(static_cast<size_t>(options_.prompt_tokens));
  for (int32_t& token : prompt) token = static_cast<int32_t>(random.uniform() * vocab);
  return prompt;
}

Status TransformerSystem::start(std::span<const uint32_t> /*samples*/, ResponseSink& sink) {
  const std::lock_guard guard(lock_);
  sink_ = &sink;
  if (!thread_.joinable()) thread_ = std::jthread([this](const std::stop_token& stop) { follow(stop); });
  return {};
}

void TransformerSystem::issue(std::span<const IssuedSample> query) {
  {
    const std::lock_guard guard(lock_);
    queue_.insert(queue_.end(), query.begin(), query.end());
  }
  changed_.notify_all();
}

void TransformerSystem::finish() {
  std::unique_lock lock(lock_);
  queue_.clear();
  is_ending_ = true;
  changed_.wait(lock, [this] { return !is_busy_; });
  is_ending_ = false;
  sink_ = nullptr;
}

void TransformerSystem::follow(const std::stop_token& stop) {
  std::unique_lock lock(lock_);
  while (changed_.wait(lock, stop, [this] { return !queue_.empty() && !is_ending_; })) answer_all(lock, stop);
}

void TransformerSystem::answer_all(std::unique_lock<std::mutex>& lock, const std::stop_token& stop) {
  is_busy_ = true;
  std::vector<IssuedSample> taken;
  bool broke = false;
  while (!broke && !is_ending_ && !stop.stop_requested() && !(queue_.empty() && generation_->is_idle())) {
    taken.clear();
    taken.swap(queue_);
    ResponseSink& sink = *sink_;
    lock.unlock();
    Status done = add(taken);
    if (done) done = take_step(sink);
    broke = !done;
    if (broke) sink.broke(done.error());
    lock.lock();
  }
  generation_->clear();
  answers_.clear();
  queue_.clear();
  is_busy_ = false;
  changed_.notify_all();
}

Status TransformerSystem::add(std::span<const IssuedSample> samples) {
  for (const IssuedSample& sample : samples) {
    const auto number = generation_->add({prompt_of(sample.index), options_.new_tokens, {}});
    if (!number) return number.error();
    answers_[*number].id = sample.id;
  }
  return {};
}

Status TransformerSystem::take_step(ResponseSink& sink) {
  return generation_->step([&](size_t request, int64_t index, int32_t token) {
    const auto found = answers_.find(request);
    Answer& answer = found->second;
    sink.token(answer.id);
    answer.data.append(index == 0 ? "" : " ").append(std::to_string(token));
    if (index + 1 < options_.new_tokens) return true;
    sink.complete(answer.id, {0, answer.data, 0});
    answers_.erase(found);
    return false;
  });
}

std::optional<bool> TransformerSystem::is_right(uint32_t index, std::string_view data) {
  if (judging_error_) return std::nullopt;
  if (!judge_) {
    auto opened = open_for(options_, 1);
    if (!opened) {
      judging_error_ = opened.error();
      return std::nullopt;
    }
    judge_ = std::make_unique<OpenedTransformer>(std::move(*opened));
  }
  Transformer& transformer = judge_->transformer;
  const std::vector<std::string> words = split(data, ' ');
  if (static_cast<int64_t>(words.size()) != options_.new_tokens) return false;
  // In a batch sums have another order, and a byte may be rounded to its neighbour.
  const double tie_deviations = options_.precision == Precision::kInt8 ? 0.1 : 1e-3;
  std::vector<float> logits(static_cast<size_t>(transformer.model().config.vocab));
  std::vector<int32_t> tokens = prompt_of(index);
  transformer.shorten(0);
  for (const std::string& word : words) {
    const SlotTokens step{0, tokens};
    if (const Status passed = transformer.prefill({&step, 1}, logits); !passed) {
      judging_error_ = passed.error();
      return std::nullopt;
    }
    const auto token = whole_number(word);
    if (!token || *token < 0 || *token >= static_cast<int64_t>(logits.size())) return false;
    const double logit = logits[static_cast<size_t>(*token)];
    // Of one number that is none the deviation is none either, and nothing is near the largest.
    const double least = *std::max_element(logits.begin(), logits.end()) - tie_deviations * deviation_of(logits);
    if (!(logit >= least)) return false;
    tokens.assign(1, static_cast<int32_t>(*token));
  }
  return true;
}

}  // namespace perfcast::ai
