// Planted: virtual calls on shapes of eight types in random order, whose targets no CPU can foresee; mended, in order
// of type.
#include <algorithm>
#include <memory>
#include <vector>

#include "planted.h"

namespace {

constexpr size_t kShapes = 30'000;
constexpr int kTypes = 8;
constexpr int kPasses = 4500;

class Shape {
 public:
  Shape(int type, uint32_t size) : type_(type), size_(size) {}
  virtual ~Shape() = default;
  virtual uint64_t area(uint64_t scale) const = 0;
  int type() const { return type_; }

 protected:
  uint64_t size() const { return size_; }

 private:
  int type_;
  uint32_t size_;
};

template <int kType>
class Polygon final : public Shape {
 public:
  explicit Polygon(uint32_t size) : Shape(kType, size) {}
  uint64_t area(uint64_t scale) const override { return (size() + scale) * (kType + 3) + (size() >> kType); }
};

template <int kType = 0>
std::unique_ptr<Shape> make(int type, uint32_t size) {
  if constexpr (kType + 1 < kTypes) {
    if (type != kType) return make<kType + 1>(type, size);
  }
  return std::make_unique<Polygon<kType>>(size);
}

}  // namespace

int main() {
  planted::Random random(1);
  std::vector<std::pair<int, uint32_t>> wanted(kShapes);
  for (auto& [type, size] : wanted) {
    type = static_cast<int>(random.below(kTypes));
    size = static_cast<uint32_t>(random.below(1000));
  }
  if constexpr (planted::kMended) std::sort(wanted.begin(), wanted.end());
  std::vector<std::unique_ptr<Shape>> shapes;
  shapes.reserve(kShapes);
  for (const auto& [type, size] : wanted) shapes.push_back(make(type, size));
  uint64_t checksum = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    for (const auto& shape : shapes) checksum += shape->area(static_cast<uint64_t>(pass));
  }
  return planted::print_checksum(planted::mix(checksum));
}
