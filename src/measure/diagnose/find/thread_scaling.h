#pragma once
// What other numbers of threads make of a command's time.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace perfcast::measure {

struct ThreadPoint {
  int threads = 1;
  std::vector<double> wall_s;  // one for each round
  double median_wall_s = 0, median_cpu_s = 0;
  double seen_threads_count = 0;  // most at once, main thread included; 0: not seen
  // Of the fewest threads' time over this one's; its share of the ideal.
  double speed_up_ratio = 1, efficiency_ratio = 1;
};

// time(n) = one_thread_s * (serial + (1 - serial) / n), by least squares of the relative errors.
struct SerialShare {
  double one_thread_s = 0;
  double serial_ratio = 0, lower = 0, upper = 0;  // 95%; may leave 0 to 1 where the law doesn't hold
};

struct ThreadCurve {
  std::string how;                     // "{threads}", or the variables
  bool is_obeyed = false;              // the number of threads that ran followed
  std::vector<ThreadPoint> points;     // fewest threads first
  std::optional<SerialShare> serial;   // of at least two numbers of threads and three runs
  const ThreadPoint* fastest() const;  // by its median; null where there is none
};

// Where a command's number of threads stands, if it is a word of it; else the environment says it.
inline constexpr std::string_view kThreadsPlace = "{threads}";
bool has_threads_placeholder(const std::vector<std::string>& command);
std::vector<std::string> with_threads(std::vector<std::string> command, int threads);
// OMP_NUM_THREADS and its like.
const std::vector<std::string>& thread_variables();

// Of runs (threads, seconds); absent for fewer than two numbers of threads or three runs.
std::optional<SerialShare> fit_serial_share(const std::vector<std::pair<int, double>>& runs);

}  // namespace perfcast::measure
