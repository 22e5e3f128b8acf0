#include "service/http/answer_cache.h"

#include <functional>
#include <utility>

namespace perfcast::service {

namespace {
constexpr size_t kLargestShare = 8;
}

AnswerCache::Key AnswerCache::key_of(const Operation& operation, std::string_view body) {
  return std::hash<std::string_view>()(body) ^ std::hash<const void*>()(&operation);
}

std::shared_ptr<const Answer> AnswerCache::find(const Operation& operation, const Context& context,
                                                std::string_view body) {
  const Key key = key_of(operation, body);
  const std::lock_guard guard(lock_);
  if (context_.get() != &context) return nullptr;
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  const Entries::iterator entry = found->second;
  if (entry->operation != &operation || entry->body != body) return nullptr;
  entries_.splice(entries_.begin(), entries_, entry);
  return entry->answer;
}

void AnswerCache::keep(const Operation& operation, const std::shared_ptr<const Context>& context, std::string_view body,
                       const Answer& answer) {
  Entry entry{&operation, std::string(body), std::make_shared<const Answer>(answer)};
  const size_t bytes = bytes_of(entry);
  if (bytes > most_bytes_ / kLargestShare) return;
  const Key key = key_of(operation, body);
  const std::lock_guard guard(lock_);
  if (context_ != context) {
    entries_.clear();
    by_key_.clear();
    bytes_ = 0;
    context_ = context;
  }
  if (const auto same = by_key_.find(key); same != by_key_.end()) drop(same->second);
  entries_.push_front(std::move(entry));
  by_key_[key] = entries_.begin();
  bytes_ += bytes;
  while (bytes_ > most_bytes_) drop(std::prev(entries_.end()));
}

void AnswerCache::drop(Entries::iterator entry) {
  bytes_ -= bytes_of(*entry);
  by_key_.erase(key_of(*entry->operation, entry->body));
  entries_.erase(entry);
}

size_t AnswerCache::bytes() const {
  const std::lock_guard guard(lock_);
  return bytes_;
}

}  // namespace perfcast::service
