#pragma once
// Errors of input, files and hardware travel as values. Asserts are for our own bugs only.
//
//   Result<Profile> read_profile(const std::string& path);
//   auto profile = read_profile("p.json");
//   if (!profile) return profile.error();
//   use(*profile);

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace perfcast {

// What an error means to whoever gets it: codes are for people and tests, kinds steer control flow and exit statuses.
enum class ErrorKind {
  kData,         // a file, a table, a model: the input can't be used
  kUsage,        // what was asked for is no such thing: options, names on the command line
  kEnvironment,  // this machine lacks something: a tool, a permission, memory, room on the disk
  kInterrupted,  // a person or a signal ended it
  kInfeasible,   // understood, and impossible: no plan meets the objective
  kReaderGone,   // nobody reads the result any more, having what it wanted: `perfcast metrics | head`
};

// What was wrong, where, what would be valid, and how to mend it.
struct Error {
  std::string code;      // stable, machine-readable, kebab-case: "file-not-found", "bad-json", "bad-usage", ...
  std::string message;   // one sentence: what was found and why it can't be used
  std::string where;     // file:line, JSON path, option name; empty where there is none
  std::string expected;  // what would be valid, or what to do
  ErrorKind kind = ErrorKind::kData;
};

Error usage_error(std::string code, std::string message, std::string where, std::string expected);
Error environment_error(std::string code, std::string message, std::string where, std::string expected);
Error infeasible_error(std::string code, std::string message, std::string where, std::string expected);
// Code "interrupted".
Error interrupted_error(std::string message, std::string where = "", std::string expected = "");

// "message\n  where: ...\n  expected: ..." for a person.
std::string to_text(const Error& error);

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }

  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

// Success without a value.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}
  bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace perfcast
