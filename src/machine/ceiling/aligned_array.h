#pragma once
// An array that begins on a cache line, and on huge pages where it is large and the system gives them: what a matrix
// deserves, and the same for every rung.

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

namespace perfcast {

template <typename T>
class AlignedArray {
 public:
  AlignedArray() = default;
  // Zeroed. Throws std::bad_alloc where there is no memory.
  explicit AlignedArray(size_t size) : size_(size) {
    constexpr size_t kHuge = size_t{2} << 20;
    const size_t alignment = size * sizeof(T) >= kHuge ? kHuge : 64;
    const size_t bytes = (size * sizeof(T) + alignment - 1) / alignment * alignment;
    if (bytes == 0) return;
    void* memory = std::aligned_alloc(alignment, bytes);
    if (memory == nullptr) throw std::bad_alloc();
    values_.reset(static_cast<T*>(memory));
#if defined(MADV_HUGEPAGE)
    if (alignment == kHuge) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    std::uninitialized_value_construct_n(values_.get(), size);
  }
  // Grows, losing what it held.
  void require(size_t size) {
    if (size > size_) *this = AlignedArray(size);
  }

  T* data() { return values_.get(); }
  const T* data() const { return values_.get(); }
  size_t size() const { return size_; }
  T& operator[](size_t i) { return values_.get()[i]; }
  const T& operator[](size_t i) const { return values_.get()[i]; }
  operator std::span<T>() { return {data(), size_}; }
  operator std::span<const T>() const { return {data(), size_}; }

 private:
  struct Free {
    void operator()(T* values) const { std::free(values); }
  };
  std::unique_ptr<T, Free> values_;
  size_t size_ = 0;
};

}  // namespace perfcast
