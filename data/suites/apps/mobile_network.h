// Networks of depthwise and pointwise convolutions on oneDNN, in single precision or with 8-bit integers, with weights
// that are drawn at random. Shapes are {1, channels, height, width}.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <dnnl.hpp>
#include <random>
#include <unordered_map>
#include <utility>
#include <vector>

class MobileNetwork {
 public:
  using Dims = dnnl::memory::dims;
  using Tag = dnnl::memory::format_tag;
  using Type = dnnl::memory::data_type;

  struct Convolution {
    std::int64_t channels = 0;
    std::int64_t kernel = 1;
    std::int64_t stride = 1;
    std::int64_t dilation = 1;
    bool depthwise = false;  // then `channels` is that of the input
    bool relu6 = true;
  };

  explicit MobileNetwork(bool integers) : integers_(integers), engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {}

  // The picture goes to input_data() as channels, rows, columns in single precision.
  dnnl::memory input(const Dims& shape) {
    input_ = plain(shape);
    if (!integers_) return input_;
    return reordered(input_, {shape, Type::u8, Tag::nhwc}, 127.0F);
  }
  float* input_data() { return static_cast<float*>(input_.get_data_handle()); }

  dnnl::memory convolution(dnnl::memory from, const Convolution& layer) {
    const Dims in = from.get_desc().dims();
    const std::int64_t channels = layer.depthwise ? in[1] : layer.channels;
    const std::int64_t reach = layer.dilation * (layer.kernel - 1);
    const auto size = [&](std::int64_t side) { return (side + layer.stride - 1) / layer.stride; };
    const Dims out = {1, channels, size(in[2]), size(in[3])};
    const auto padding = [&](std::size_t axis) {
      return std::max<std::int64_t>(0, (out[axis] - 1) * layer.stride + reach + 1 - in[axis]);
    };
    const Dims before = {padding(2) / 2, padding(3) / 2};
    const Dims after = {padding(2) - before[0], padding(3) - before[1]};
    const Dims weight_shape = layer.depthwise ? Dims{channels, 1, 1, layer.kernel, layer.kernel}
                                              : Dims{channels, in[1], layer.kernel, layer.kernel};
    const std::int64_t inputs = layer.kernel * layer.kernel * (layer.depthwise ? 1 : in[1]);
    dnnl::primitive_attr attributes;
    dnnl::post_ops after_sum;
    // Weights of this spread keep the variance of what a layer passes on.
    const float spread = std::sqrt(2.0F / static_cast<float>(inputs));
    const Type out_type = !integers_ ? Type::f32 : layer.relu6 ? Type::u8 : Type::s8;
    if (integers_) attributes.set_output_scales(0, {spread / 42});
    if (layer.relu6) after_sum.append_eltwise(1, dnnl::algorithm::eltwise_clip, 0, integers_ ? 255 : 6);
    attributes.set_post_ops(after_sum);
    const dnnl::convolution_forward::desc wanted(
        dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
        {in, from.get_desc().data_type(), Tag::any}, {weight_shape, integers_ ? Type::s8 : Type::f32, Tag::any},
        {{channels}, integers_ ? Type::s32 : Type::f32, Tag::x}, {out, out_type, Tag::any},
        {layer.stride, layer.stride}, {layer.dilation - 1, layer.dilation - 1}, before, after);
    const dnnl::convolution_forward::primitive_desc plan(wanted, attributes, engine_);
    from = reordered(from, plan.src_desc());

    dnnl::memory weights({weight_shape, Type::f32, layer.depthwise ? Tag::goihw : Tag::oihw}, engine_);
    std::normal_distribution<float> normal(0, integers_ ? 42.0F : spread);
    auto* values = static_cast<float*>(weights.get_data_handle());
    for (std::int64_t i = 0; i < inputs * channels; ++i) values[i] = std::clamp(normal(random_), -127.0F, 127.0F);
    dnnl::memory laid_out(plan.weights_desc(), engine_);
    dnnl::reorder(weights, laid_out).execute(stream_, weights, laid_out);
    dnnl::memory bias(plan.bias_desc(), engine_);
    std::fill_n(static_cast<std::uint8_t*>(bias.get_data_handle()), bias.get_desc().get_size(), std::uint8_t{0});
    dnnl::memory to(plan.dst_desc(), engine_);
    add_step(dnnl::convolution_forward(plan),
             {{DNNL_ARG_SRC, from}, {DNNL_ARG_WEIGHTS, laid_out}, {DNNL_ARG_BIAS, bias}, {DNNL_ARG_DST, to}});
    multiplications_ += inputs * channels * out[2] * out[3];
    return to;
  }

  dnnl::memory separable(const dnnl::memory& from, std::int64_t channels, std::int64_t stride) {
    return convolution(convolution(from, {0, 3, stride, 1, true, true}), {channels});
  }

  // A layer of MobileNetV2: widened, filtered, narrowed, and added to what came in where the shapes agree.
  dnnl::memory inverted(const dnnl::memory& from, std::int64_t widen, std::int64_t channels, std::int64_t stride,
                        std::int64_t dilation) {
    dnnl::memory to = from;
    if (widen > 1) to = convolution(to, {widen * from.get_desc().dims()[1]});
    to = convolution(to, {0, 3, stride, dilation, true, true});
    to = convolution(to, {channels, 1, 1, 1, false, false});
    return to.get_desc().dims() == from.get_desc().dims() ? sum(from, to) : to;
  }

  dnnl::memory sum(const dnnl::memory& a, const dnnl::memory& b) {
    const dnnl::binary::primitive_desc plan(
        dnnl::binary::desc(dnnl::algorithm::binary_add, a.get_desc(), b.get_desc(), b.get_desc()), engine_);
    dnnl::memory to(plan.dst_desc(), engine_);
    add_step(dnnl::binary(plan), {{DNNL_ARG_SRC_0, a}, {DNNL_ARG_SRC_1, b}, {DNNL_ARG_DST, to}});
    return to;
  }

  dnnl::memory joined(const std::vector<dnnl::memory>& parts) {
    std::vector<dnnl::memory::desc> shapes;
    std::unordered_map<int, dnnl::memory> arguments;
    for (const dnnl::memory& part : parts) {
      arguments[DNNL_ARG_MULTIPLE_SRC + static_cast<int>(shapes.size())] = part;
      shapes.push_back(part.get_desc());
    }
    const dnnl::concat::primitive_desc plan(1, shapes, engine_);
    dnnl::memory to(plan.dst_desc(), engine_);
    arguments[DNNL_ARG_DST] = to;
    add_step(dnnl::concat(plan), arguments);
    return to;
  }

  // The mean of each channel.
  dnnl::memory pooled(const dnnl::memory& from) {
    const Dims in = from.get_desc().dims();
    const dnnl::pooling_forward::primitive_desc plan({dnnl::prop_kind::forward_inference,
                                                      dnnl::algorithm::pooling_avg_exclude_padding,
                                                      from.get_desc(),
                                                      {{1, in[1], 1, 1}, from.get_desc().data_type(), Tag::any},
                                                      {1, 1},
                                                      {in[2], in[3]},
                                                      {0, 0},
                                                      {0, 0}},
                                                     engine_);
    dnnl::memory to(plan.dst_desc(), engine_);
    add_step(dnnl::pooling_forward(plan), {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}});
    return to;
  }

  dnnl::memory enlarged(dnnl::memory from, std::int64_t height, std::int64_t width) {
    const Dims in = from.get_desc().dims();
    const dnnl::resampling_forward::primitive_desc plan(
        {dnnl::prop_kind::forward_inference,
         dnnl::algorithm::resampling_linear,
         from.get_desc(),
         {{1, in[1], height, width}, from.get_desc().data_type(), Tag::any}},
        engine_);
    dnnl::memory to(plan.dst_desc(), engine_);
    add_step(dnnl::resampling_forward(plan), {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}});
    return to;
  }

  // Values of a layer after run(): channels, rows, columns in single precision.
  dnnl::memory output(const dnnl::memory& from) {
    return reordered(from, {from.get_desc().dims(), Type::f32, Tag::nchw});
  }
  static const float* values(const dnnl::memory& output) { return static_cast<const float*>(output.get_data_handle()); }

  void run() {
    for (const Step& step : steps_) step.first.execute(stream_, step.second);
    stream_.wait();
  }
  std::int64_t multiplications() const { return multiplications_; }

 private:
  using Step = std::pair<dnnl::primitive, std::unordered_map<int, dnnl::memory>>;

  dnnl::memory plain(const Dims& shape) const { return {{shape, Type::f32, Tag::nchw}, engine_}; }
  void add_step(const dnnl::primitive& step, const std::unordered_map<int, dnnl::memory>& arguments) {
    steps_.emplace_back(step, arguments);
  }
  dnnl::memory reordered(const dnnl::memory& from, const dnnl::memory::desc& wanted, float scale = 1) {
    if (from.get_desc() == wanted) return from;
    dnnl::primitive_attr attributes;
    if (scale != 1) attributes.set_output_scales(0, {scale});
    dnnl::memory to(wanted, engine_);
    add_step(dnnl::reorder(dnnl::reorder::primitive_desc(from, to, attributes)),
             {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
    return to;
  }

  bool integers_;
  dnnl::engine engine_;
  dnnl::stream stream_;
  std::mt19937 random_{1};
  dnnl::memory input_;
  std::vector<Step> steps_;
  std::int64_t multiplications_ = 0;
};
