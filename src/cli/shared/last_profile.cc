#include "cli/shared/last_profile.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <optional>

#include "base/file.h"
#include "base/process/process_tree.h"
#include "base/process/spawn.h"
#include "base/text.h"

namespace perfcast::cli {
namespace {

constexpr const char* kLast = "last";
constexpr size_t kWordsShown = 60;
constexpr int kStartField = 22;  // of /proc/PID/stat: when it started
constexpr auto kKept = std::chrono::hours(24 * 90);

std::string name_of(const std::string& key) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return fmt::format("{:016x}.json", hash);
}

// The session that has this terminal: numbers of terminals and of processes are used again. Empty: there is none.
std::string terminal() {
  const Descriptor device(open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (device.get() < 0) return "";
  const pid_t leader = getsid(0);
  const auto stat = read_file("/proc/" + std::to_string(leader) + "/stat", 4096);
  return fmt::format("{} {:.0f}", leader, stat ? stat_number(*stat, kStartField) : 0);
}

std::string folder_of_all() {
  const std::string cache = user_cache_folder();
  return cache.empty() ? cache : cache + "/last";
}

// Of this working folder: of this terminal, and of any. Empty where there is none.
std::string path_here(bool of_terminal) {
  std::error_code problem;
  const std::string all = folder_of_all(), here = std::filesystem::current_path(problem).string();
  const std::string session = of_terminal ? terminal() : "";
  if (all.empty() || problem || (of_terminal && session.empty())) return "";
  return all + "/" + name_of(of_terminal ? here + '\0' + session : here);
}

bool is_there(const std::string& path) {
  std::error_code ignored;
  return !path.empty() && std::filesystem::exists(path, ignored);
}

void remove_old(const std::string& folder) {
  std::error_code problem;
  const auto oldest = std::filesystem::file_time_type::clock::now() - kKept;
  for (const auto& entry : std::filesystem::directory_iterator(folder, problem)) {
    if (entry.last_write_time(problem) < oldest && !problem) std::filesystem::remove(entry.path(), problem);
  }
}

std::optional<double> seconds_of(const std::string& utc) {
  std::tm time{};
  const char* end = strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%SZ", &time);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return static_cast<double>(timegm(&time));
}

std::string age_in_words(double age_s) {
  constexpr std::array<std::pair<double, const char*>, 4> kUnits = {
      {{86400, "day"}, {3600, "hour"}, {60, "minute"}, {1, "second"}}};
  for (const auto& [unit_s, name] : kUnits) {
    const auto count = static_cast<int64_t>(age_s / unit_s);
    if (count > 0) return fmt::format("{} {}{} old", count, name, count == 1 ? "" : "s");
  }
  return "just taken";
}

}  // namespace

std::string last_profile_path() {
  const std::string own = path_here(true);
  return is_there(own) ? own : path_here(false);
}

bool keep_last_profile(const std::string& text) {
  const std::string folder = folder_of_all();
  if (folder.empty()) return false;
  if (!create_private_folders(folder)) return false;
  remove_old(folder);
  const std::string own = path_here(true), any = path_here(false);
  if (!own.empty() && !write_file_atomically(own, text, NewFile::kPrivate)) return false;
  return !any.empty() && write_file_atomically(any, text, NewFile::kPrivate).ok();
}

std::string profile_path(const std::string& given) {
  return given == kLast && !is_there(kLast) ? last_profile_path() : given;
}

Status check_last_profile(const std::string& given) {
  if (given != kLast || is_there(profile_path(given))) return {};
  return usage_error("file-not-found", "no profile was kept in this folder yet", "--profile last",
                     "perfcast profile -- CMD ARGS first, or perfcast predict -- CMD ARGS");
}

std::string profile_in_words(const Profile& profile, double now_s) {
  std::string command = printable(join(profile.command, " "));
  if (command.size() > kWordsShown) command = command.substr(0, kWordsShown - 3) + "...";
  const auto started_s = seconds_of(profile.started_utc);
  return fmt::format("`{}`{}", command, started_s ? ", " + age_in_words(now_s - *started_s) : "");
}

Result<Profile> read_given_profile(const std::string& given, bool quiet) {
  if (Status there = check_last_profile(given); !there) return there.error();
  auto profile = read_profile(profile_path(given));
  if (profile && !quiet && profile_path(given) != given) {
    const auto now_s = static_cast<double>(std::time(nullptr));
    std::fputs(("perfcast: last is " + profile_in_words(*profile, now_s) + "\n").c_str(), stderr);
  }
  return profile;
}

}  // namespace perfcast::cli
