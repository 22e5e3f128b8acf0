// Planted: each message becomes a list of nodes that are allocated one by one and freed again; mended, one pool is
// reused.
#include <vector>

#include "planted.h"

namespace {

constexpr int kMessages = 700'000;
constexpr size_t kFields = 100;

struct Field {
  uint64_t key;
  uint64_t value;
  Field* next;
};

class Fields {
 public:
  Field* make(uint64_t key, uint64_t value, Field* next) {
    if constexpr (planted::kMended) {
      pool_[used_] = {key, value, next};
      return &pool_[used_++];
    }
    return new Field{key, value, next};
  }
  void release(Field* first) {
    used_ = 0;
    while (!planted::kMended && first != nullptr) {
      Field* next = first->next;
      delete first;
      first = next;
    }
  }

 private:
  std::vector<Field> pool_ = std::vector<Field>(kFields);
  size_t used_ = 0;
};

}  // namespace

int main() {
  planted::Random random(1);
  Fields fields;
  uint64_t checksum = 0;
  for (int message = 0; message < kMessages; ++message) {
    Field* first = nullptr;
    for (size_t i = 0; i < kFields; ++i) first = fields.make(i, random.next(), first);
    for (const Field* field = first; field != nullptr; field = field->next) checksum += field->key ^ field->value;
    fields.release(first);
  }
  return planted::print_checksum(checksum);
}
