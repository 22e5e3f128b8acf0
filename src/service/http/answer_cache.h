#pragma once
// Answers to requests that came before. An answer hangs on the operation, the body and what the service has read, and
// on nothing else, so the same request gets the same bytes. Answers from files that may change are not for it.

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "service/operation.h"

namespace perfcast::service {

// From any thread.
class AnswerCache {
 public:
  explicit AnswerCache(size_t most_bytes) : most_bytes_(most_bytes) {}

  // Null where the request is new, or was answered from another context.
  std::shared_ptr<const Answer> find(const Operation& operation, const Context& context, std::string_view body);
  // Drops the answers that nobody asked for longest where there is no more room; one too large for an eighth of it is
  // not kept.
  void keep(const Operation& operation, const std::shared_ptr<const Context>& context, std::string_view body,
            const Answer& answer);
  size_t bytes() const;

 private:
  struct Entry {
    const Operation* operation;
    std::string body;
    std::shared_ptr<const Answer> answer;
  };
  using Entries = std::list<Entry>;  // the one that was asked for last first
  using Key = size_t;                // a hash: of several with one hash the last is kept

  static Key key_of(const Operation& operation, std::string_view body);
  static size_t bytes_of(const Entry& entry) { return entry.body.size() + entry.answer->json.size() + sizeof(Entry); }
  void drop(Entries::iterator entry);

  const size_t most_bytes_;
  mutable std::mutex lock_;
  std::shared_ptr<const Context> context_;  // that all entries are from
  Entries entries_;
  std::unordered_map<Key, Entries::iterator> by_key_;
  size_t bytes_ = 0;
};

}  // namespace perfcast::service
