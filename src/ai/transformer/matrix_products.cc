#include "ai/transformer/matrix_products.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "machine/ceiling/cpu_isa.h"

// oneDNN's threads are GCC's OpenMP's: ours share the work, each calls the library for its own.
extern "C" void omp_set_num_threads(int threads);

namespace perfcast::ai {

namespace {

Error library_failed(const dnnl::error& problem) {
  return {"onednn-failed", std::string("oneDNN: ") + problem.what(), "", "oneDNN 2.6"};
}

}  // namespace

// oneDNN's products of one thread, compiled once for each shape.
class MatrixProducts::Library {
 public:
  explicit Library(int threads) : engine_(dnnl::engine::kind::cpu, 0), scratch_(static_cast<size_t>(threads)) {
    streams_.reserve(static_cast<size_t>(threads));
    for (int thread = 0; thread < threads; ++thread) streams_.emplace_back(engine_);
  }

  struct Shape {
    int64_t rows, inputs, outputs, x_stride, out_stride;
    bool in_bytes;
    auto tie() const { return std::tie(rows, inputs, outputs, x_stride, out_stride, in_bytes); }
    bool operator<(const Shape& other) const { return tie() < other.tie(); }
  };
  struct Product {
    dnnl::matmul matmul;
    dnnl::memory::desc x, weights, out, scratch;
  };

  // Null where the library has no such product; compiles what it meets for the first time. Throws dnnl::error.
  const Product* find(const Shape& shape) {
    const auto found = products_.find(shape);
    if (found != products_.end()) return found->second.get();
    // Without VNNI it sums products of bytes in 16 bits, which overflow.
    std::unique_ptr<Product> product;
    if (!shape.in_bytes || cpu_has("avx512-vnni") || cpu_has("amx-int8")) product = compile(shape);
    return products_.emplace(shape, std::move(product)).first->second.get();
  }

  // From any thread of the team; throws dnnl::error.
  void run(const Product& product, int thread, const void* x, const void* weights, void* out) {
    omp_set_num_threads(1);
    auto& scratch = scratch_[static_cast<size_t>(thread)];
    scratch.require(product.scratch.get_size());
    const auto at = [&](const dnnl::memory::desc& what, const void* where) {
      return dnnl::memory(what, engine_, const_cast<void*>(where));
    };
    dnnl::stream& stream = streams_[static_cast<size_t>(thread)];
    product.matmul.execute(stream, {{DNNL_ARG_SRC, at(product.x, x)},
                                    {DNNL_ARG_WEIGHTS, at(product.weights, weights)},
                                    {DNNL_ARG_DST, at(product.out, out)},
                                    {DNNL_ARG_SCRATCHPAD, at(product.scratch, scratch.data())}});
    stream.wait();
  }

  double scratch_bytes() const {
    double bytes = 0;
    for (const auto& scratch : scratch_) bytes += static_cast<double>(scratch.size());
    return bytes;
  }

 private:
  std::unique_ptr<Product> compile(const Shape& shape) {
    using Memory = dnnl::memory;
    using Type = Memory::data_type;
    using Tag = Memory::format_tag;
    const Memory::desc x({shape.rows, shape.inputs}, shape.in_bytes ? Type::u8 : Type::f32, {shape.x_stride, 1});
    const Memory::desc weights({shape.inputs, shape.outputs}, shape.in_bytes ? Type::s8 : Type::f32,
                               shape.in_bytes ? Tag::BA16a64b4a : Tag::BA16a64b);
    const Memory::desc out({shape.rows, shape.outputs}, shape.in_bytes ? Type::s32 : Type::f32, {shape.out_stride, 1});
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    omp_set_num_threads(1);
    try {
      const dnnl::matmul::primitive_desc description(dnnl::matmul::desc(x, weights, out), attributes, engine_);
      // Its reference implementation takes any layout, and a hundred times as long.
      if (std::string_view(description.impl_info_str()).find("ref") != std::string_view::npos) return nullptr;
      auto product = std::make_unique<Product>();
      *product = {dnnl::matmul(description), x, weights, out, description.scratchpad_desc()};
      return product;
    } catch (const dnnl::error& problem) {
      if (problem.status == dnnl_unimplemented) return nullptr;
      throw;
    }
  }

  dnnl::engine engine_;
  std::vector<dnnl::stream> streams_;
  std::vector<AlignedArray<std::byte>> scratch_;
  std::map<Shape, std::unique_ptr<Product>> products_;
};

struct MatrixProducts::Pair {
  const Library::Product *usual, *last;  // null where the library has none
};

MatrixProducts::MatrixProducts(ThreadTeam& team, const TransformerKernels& kernels, int64_t most_rows,
                               int64_t most_inputs)
    : team_(team),
      kernels_(kernels),
      bytes_(static_cast<size_t>(padded_rows(most_rows) * padded_depth(most_inputs, true))),
      row_scales_(static_cast<size_t>(padded_rows(most_rows))) {}

MatrixProducts::~MatrixProducts() = default;

// Of all calls of the library but the last, which may be narrower.
MatrixProducts::Pair MatrixProducts::products_of(const PackedMatrix& weights, int64_t x_stride, int64_t rows,
                                                 int64_t out_stride) {
  if (!library_) library_ = std::make_unique<Library>(team_.threads());
  const int64_t panels = weights.panels(), step = panels_of_call(panels);
  const int64_t calls = (panels + step - 1) / step;
  const bool bytes = weights.in_bytes();
  const auto product_of = [&](int64_t call) {
    return library_->find({padded_rows(rows), bytes ? weights.padded_inputs() : weights.inputs(),
                           std::min(step, panels - call * step) * kPanelColumns,
                           bytes ? weights.padded_inputs() : x_stride, out_stride, bytes});
  };
  return {product_of(0), product_of(calls - 1)};
}

Status MatrixProducts::prepare(const PackedMatrix& weights, int64_t x_stride, int64_t most_rows, int64_t out_stride) {
  if (most_rows < kManyRows) return {};
  try {
    for (int64_t rows = kRowBlock; rows <= padded_rows(most_rows); rows += kRowBlock) {
      products_of(weights, x_stride, rows, out_stride);
    }
  } catch (const dnnl::error& problem) {
    return library_failed(problem);
  }
  return {};
}

Status MatrixProducts::multiply(const PackedMatrix& weights, const float* x, int64_t x_stride, int64_t rows, float* out,
                                int64_t out_stride) {
  if (rows == 0) return {};
  if (weights.in_bytes()) round_rows(weights, x, x_stride, rows);
  if (rows < kManyRows) {
    multiply_few(weights, x, x_stride, rows, out, out_stride);
    return {};
  }
  const int64_t panels = weights.panels(), step = panels_of_call(panels);
  const int64_t calls = (panels + step - 1) / step;
  const bool bytes = weights.in_bytes();
  try {
    const Pair products = products_of(weights, x_stride, rows, out_stride);
    if (products.usual == nullptr || products.last == nullptr) {
      multiply_few(weights, x, x_stride, rows, out, out_stride);
      return {};
    }
    std::atomic<dnnl_status_t> failed = dnnl_success;
    team_.run(calls, [&](int64_t call, int thread) {
      const int64_t panel = call * step;
      try {
        library_->run(call + 1 < calls ? *products.usual : *products.last, thread,
                      bytes ? static_cast<const void*>(bytes_.data()) : x,
                      bytes ? static_cast<const void*>(weights.signed_bytes(panel)) : weights.floats(panel),
                      out + panel * kPanelColumns);
      } catch (const dnnl::error& problem) {
        failed = problem.status;
      }
    });
    if (failed != dnnl_success) throw dnnl::error(failed, "a product failed");
  } catch (const dnnl::error& problem) {
    return library_failed(problem);
  }
  if (!bytes) return {};
  team_.run(rows, [&](int64_t row, int) {
    float* const line = out + row * out_stride;
    kernels_.scale_sums(reinterpret_cast<const int32_t*>(line), weights.padded_outputs(), weights.scales(0),
                        row_scales_[static_cast<size_t>(row)], line);
  });
  return {};
}

void MatrixProducts::multiply_few(const PackedMatrix& weights, const float* x, int64_t x_stride, int64_t rows,
                                  float* out, int64_t out_stride) {
  const int64_t inputs = weights.inputs(), byte_stride = weights.padded_inputs();
  team_.run(weights.panels(), [&](int64_t panel, int) {
    for (int64_t row = 0; row < rows; row += kTileRows) {
      const int64_t tile = std::min(kTileRows, rows - row);
      float* const to = out + row * out_stride + panel * kPanelColumns;
      if (weights.in_bytes()) {
        kernels_.byte_product(weights.signed_bytes(panel), byte_stride, weights.scales(panel),
                              bytes_.data() + row * byte_stride, byte_stride, row_scales_.data() + row, tile, to,
                              out_stride);
      } else {
        kernels_.product(weights.floats(panel), kPanelColumns, inputs, kPanelColumns, x + row * x_stride, x_stride,
                         tile, to, out_stride);
      }
    }
  });
}

void MatrixProducts::round_rows(const PackedMatrix& weights, const float* x, int64_t x_stride, int64_t rows) {
  const int64_t stride = weights.padded_inputs();
  const auto round_row = [&](int64_t row, int) {
    uint8_t* const to = bytes_.data() + row * stride;
    row_scales_[static_cast<size_t>(row)] = kernels_.quantise(x + row * x_stride, weights.inputs(), to);
    std::fill(to + weights.inputs(), to + stride, static_cast<uint8_t>(kByteZero));
  };
  if (rows >= kManyRows) return team_.run(rows, round_row);
  for (int64_t row = 0; row < rows; ++row) round_row(row, 0);
}

double MatrixProducts::scratch_bytes_for(int64_t most_rows, int64_t most_inputs) {
  const auto rows = static_cast<double>(padded_rows(most_rows));
  return rows * (static_cast<double>(padded_depth(most_inputs, true)) + sizeof(float));
}

double MatrixProducts::scratch_bytes() const {
  return static_cast<double>(bytes_.size()) + static_cast<double>(row_scales_.size()) * sizeof(float) +
         (library_ ? library_->scratch_bytes() : 0);
}

}  // namespace perfcast::ai
