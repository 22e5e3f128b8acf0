#include "ai/system/mlp_system.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <new>
#include <oneapi/dnnl/dnnl.hpp>
#include <utility>

#include "base/random.h"
#include "base/text.h"

extern "C" void omp_set_num_threads(int threads);

namespace perfcast::ai {
namespace {

using dnnl::memory;

constexpr int64_t kWidestLayer = 65536;
constexpr double kMostWeights = 1e9;
constexpr double kTie = 1e-3;  // outputs so close, over the largest, may be told apart differently in fp32

// oneDNN keeps a thread's setting of OpenMP.
dnnl::engine& cpu_engine() {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

}  // namespace

Result<MlpOptions> parse_mlp(std::string_view text, const std::string& where) {
  const auto bad = [&](const std::string& found) {
    return usage_error("bad-usage", found, where, "mlp, mlp:784,512,10 or gemm:512");
  };
  MlpOptions options;
  const size_t colon = text.find(':');
  const bool is_product = text.substr(0, colon) == "gemm";
  if (colon == std::string_view::npos) {
    if (is_product) options.widths = {512, 512};
    return options;
  }
  options.widths.clear();
  double weights = 0;
  for (const std::string& word : split(text.substr(colon + 1), ',')) {
    const bool digits = !word.empty() && word.size() <= 5 && word.find_first_not_of("0123456789") == std::string::npos;
    const int64_t width = digits ? std::stoll(word) : 0;
    if (width < 1 || width > kWidestLayer) return bad("'" + printable(word) + "' is no width of a layer, 1 to 65536");
    if (!options.widths.empty()) weights += static_cast<double>(options.widths.back()) * static_cast<double>(width);
    options.widths.push_back(width);
  }
  if (is_product && options.widths.size() == 1) {
    options.widths.push_back(options.widths.front());
    weights = static_cast<double>(options.widths.front()) * static_cast<double>(options.widths.front());
  }
  if (options.widths.size() < 2 || options.widths.size() > 64) return bad("2 to 64 widths make a network");
  if (weights > kMostWeights) return bad(human_number(weights) + " weights, 1e9 at the most");
  return options;
}

// The weights, and the layers as primitives for each size of a batch.
class MlpSystem::Network {
 public:
  explicit Network(const MlpOptions& options) : options_(options) {
    Random random(options.seed);
    for (size_t i = 0; i + 1 < options.widths.size(); ++i) {
      const auto rows = static_cast<size_t>(options.widths[i]), columns = static_cast<size_t>(options.widths[i + 1]);
      const double scale = std::sqrt(6.0 / static_cast<double>(rows));  // He initialisation, uniform
      std::vector<float> weights(rows * columns);
      for (float& weight : weights) weight = static_cast<float>(random.uniform(-scale, scale));
      weights_.push_back(std::move(weights));
    }
  }

  std::vector<float> input_of(uint32_t index) const {
    Random random(options_.seed ^ (uint64_t{0x9E3779B9} * (index + uint64_t{1})));
    std::vector<float> input(static_cast<size_t>(options_.widths.front()));
    for (float& value : input) value = static_cast<float>(random.uniform(-1, 1));
    return input;
  }

  void prepare(std::span<const uint32_t> samples) {
    for (const uint32_t index : samples) {
      if (!inputs_.contains(index)) inputs_.emplace(index, input_of(index));
    }
    for (int64_t batch = 1; batch < 2 * options_.largest_batch; batch *= 2) layers_of(batch);
  }

  // The largest output's index of each sample.
  void run(std::span<const IssuedSample> batch, std::vector<int64_t>& best) {
    int64_t rows = 1;
    while (rows < static_cast<int64_t>(batch.size())) rows *= 2;
    Layers& layers = layers_of(rows);
    auto* to = static_cast<float*>(layers.values.front().get_data_handle());
    for (const IssuedSample& sample : batch) {
      const std::vector<float>& input = inputs_.at(sample.index);
      to = std::copy(input.begin(), input.end(), to);
    }
    for (size_t i = 0; i < layers.products.size(); ++i) {
      layers.products[i].execute(layers.stream, {{DNNL_ARG_SRC, layers.values[i]},
                                                 {DNNL_ARG_WEIGHTS, layers.weights[i]},
                                                 {DNNL_ARG_DST, layers.values[i + 1]}});
    }
    layers.stream.wait();
    const auto* outputs = static_cast<const float*>(layers.values.back().get_data_handle());
    const auto width = static_cast<size_t>(options_.widths.back());
    best.clear();
    for (size_t row = 0; row < batch.size(); ++row, outputs += width) {
      best.push_back(std::max_element(outputs, outputs + width) - outputs);
    }
  }

  std::vector<double> reference(uint32_t index) const {
    const std::vector<float> input = input_of(index);
    std::vector<double> values(input.begin(), input.end());
    for (size_t layer = 0; layer < weights_.size(); ++layer) {
      const auto columns = static_cast<size_t>(options_.widths[layer + 1]);
      std::vector<double> sums(columns, 0.0);
      for (size_t row = 0; row < values.size(); ++row) {
        const float* const weights = weights_[layer].data() + row * columns;
        for (size_t column = 0; column < columns; ++column) sums[column] += values[row] * weights[column];
      }
      if (layer + 1 < weights_.size()) {
        for (double& sum : sums) sum = std::max(sum, 0.0);
      }
      values = std::move(sums);
    }
    return values;
  }

 private:
  struct Layers {
    dnnl::stream stream;
    std::vector<dnnl::matmul> products;
    std::vector<memory> values, weights;  // values: the input, each layer's output
  };

  Layers& layers_of(int64_t rows) {
    const auto known = layers_.find(rows);
    if (known != layers_.end()) return known->second;
    using Type = memory::data_type;
    using Tag = memory::format_tag;
    dnnl::engine& engine = cpu_engine();
    Layers made;
    made.stream = dnnl::stream(engine);
    made.values.emplace_back(memory::desc({rows, options_.widths.front()}, Type::f32, Tag::ab), engine);
    for (size_t i = 0; i < weights_.size(); ++i) {
      const int64_t in = options_.widths[i], out = options_.widths[i + 1];
      const memory::desc source({rows, in}, Type::f32, Tag::ab), target({rows, out}, Type::f32, Tag::ab);
      dnnl::primitive_attr attributes;
      if (i + 1 < weights_.size()) {
        dnnl::post_ops relu;
        relu.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
        attributes.set_post_ops(relu);
      }
      const dnnl::matmul::desc product(source, memory::desc({in, out}, Type::f32, Tag::any), target);
      const dnnl::matmul::primitive_desc description(product, attributes, engine);
      made.products.emplace_back(description);
      made.weights.push_back(packed(i, description.weights_desc(), made.stream));
      made.values.emplace_back(target, engine);
    }
    return layers_.emplace(rows, std::move(made)).first->second;
  }

  // A layer's weights in the layout that a primitive asks for; batches that ask for the same share them.
  memory packed(size_t layer, const memory::desc& wanted, dnnl::stream& stream) {
    for (const auto& [packed_layer, weights] : packed_) {
      if (packed_layer == layer && weights.get_desc() == wanted) return weights;
    }
    const memory::desc plain({options_.widths[layer], options_.widths[layer + 1]}, memory::data_type::f32,
                             memory::format_tag::ab);
    memory given(plain, cpu_engine(), weights_[layer].data());
    memory made(wanted, cpu_engine());
    dnnl::reorder(given, made).execute(stream, given, made);
    stream.wait();
    packed_.emplace_back(layer, made);
    return made;
  }

  MlpOptions options_;
  std::vector<std::vector<float>> weights_;  // row by row, a row for each input
  std::map<uint32_t, std::vector<float>> inputs_;
  std::map<int64_t, Layers> layers_;
  std::vector<std::pair<size_t, memory>> packed_;
};

MlpSystem::MlpSystem(MlpOptions options) : options_(std::move(options)) {}

MlpSystem::~MlpSystem() = default;

std::string MlpSystem::name() const {
  std::string text = options_.widths.size() == 2 ? "gemm" : "mlp";
  for (const int64_t width : options_.widths) text.append(text.size() > 4 ? "," : ":").append(std::to_string(width));
  return text + " fp32, batches of up to " + std::to_string(options_.largest_batch);
}

Status MlpSystem::start(std::span<const uint32_t> samples, ResponseSink& sink) {
  try {
    omp_set_num_threads(options_.threads);
    if (!network_) network_ = std::make_unique<Network>(options_);
    network_->prepare(samples);
  } catch (const dnnl::error& problem) {
    return Error{"library-failed", std::string("oneDNN: ") + problem.what(), "", ""};
  } catch (const std::bad_alloc&) {
    return environment_error("out-of-memory", "there is no memory for the network and its inputs", "--system",
                             "a smaller network, or fewer --samples");
  }
  const std::lock_guard guard(lock_);
  sink_ = &sink;
  if (!thread_.joinable()) thread_ = std::jthread([this](const std::stop_token& stop) { follow(stop); });
  return {};
}

void MlpSystem::issue(std::span<const IssuedSample> query) {
  {
    const std::lock_guard guard(lock_);
    queue_.insert(queue_.end(), query.begin(), query.end());
  }
  changed_.notify_all();
}

void MlpSystem::finish() {
  std::unique_lock lock(lock_);
  queue_.clear();
  changed_.wait(lock, [this] { return !is_busy_; });
  sink_ = nullptr;
}

Status MlpSystem::compute(std::span<const IssuedSample> batch, std::vector<int64_t>& best) {
  try {
    network_->run(batch, best);
  } catch (const dnnl::error& problem) {
    return Error{"library-failed", std::string("oneDNN: ") + problem.what(), "", ""};
  }
  return {};
}

void MlpSystem::follow(const std::stop_token& stop) {
  omp_set_num_threads(options_.threads);
  std::vector<IssuedSample> batch;
  std::vector<int64_t> best;
  std::unique_lock lock(lock_);
  while (changed_.wait(lock, stop, [this] { return !queue_.empty(); })) {
    const auto count = std::min<int64_t>(static_cast<int64_t>(queue_.size()), options_.largest_batch);
    batch.assign(queue_.begin(), queue_.begin() + count);
    queue_.erase(queue_.begin(), queue_.begin() + count);
    is_busy_ = true;
    ResponseSink* const sink = sink_;
    lock.unlock();
    if (const Status computed = compute(batch, best); !computed) {
      sink->broke(computed.error());
    } else {
      const int64_t at_ns = steady_ns();
      for (size_t i = 0; i < batch.size(); ++i) {
        const std::string answer = std::to_string(best[i]);
        sink->complete(batch[i].id, {0, answer, at_ns});
      }
    }
    lock.lock();
    is_busy_ = false;
    changed_.notify_all();
  }
}

std::optional<bool> MlpSystem::is_right(uint32_t index, std::string_view data) {
  if (!network_) return std::nullopt;
  const std::vector<double> outputs = network_->reference(index);
  const auto best = std::max_element(outputs.begin(), outputs.end());
  const std::string text(data);
  if (text.empty() || text.size() > 6 || text.find_first_not_of("0123456789") != std::string::npos) return false;
  const auto chosen = static_cast<size_t>(std::stoul(text));
  if (chosen >= outputs.size()) return false;
  return outputs[chosen] >= *best - kTie * std::abs(*best);
}

}  // namespace perfcast::ai
