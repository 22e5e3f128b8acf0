#include "measure/diagnose/find/thread_scaling.h"

#include <algorithm>
#include <cmath>

#include "base/statistics.h"

namespace perfcast::measure {

const std::vector<std::string>& thread_variables() {
  static const std::vector<std::string> names = {
      "OMP_NUM_THREADS",     "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS",  "MKL_NUM_THREADS",
      "NUMEXPR_NUM_THREADS", "RAYON_NUM_THREADS",    "JULIA_NUM_THREADS", "GOMAXPROCS"};
  return names;
}

bool has_threads_placeholder(const std::vector<std::string>& command) {
  return std::any_of(command.begin(), command.end(),
                     [](const std::string& word) { return word.find(kThreadsPlace) != std::string::npos; });
}

std::vector<std::string> with_threads(std::vector<std::string> command, int threads) {
  const std::string number = std::to_string(threads);
  for (std::string& word : command) {
    for (size_t at = word.find(kThreadsPlace); at != std::string::npos;
         at = word.find(kThreadsPlace, at + number.size()))
      word.replace(at, kThreadsPlace.size(), number);
  }
  return command;
}

const ThreadPoint* ThreadCurve::fastest() const {
  const auto least = std::min_element(points.begin(), points.end(), [](const ThreadPoint& a, const ThreadPoint& b) {
    return a.median_wall_s < b.median_wall_s;
  });
  return least == points.end() ? nullptr : &*least;
}

std::optional<SerialShare> fit_serial_share(const std::vector<std::pair<int, double>>& runs) {
  // time / time = 1 = a / time + b / (n time): both sides over the time weigh all numbers of threads alike.
  double aa = 0, ab = 0, bb = 0, ay = 0, by = 0;
  bool differ = false;
  for (const auto& [threads, wall_s] : runs) {
    if (!(wall_s > 0)) return std::nullopt;
    const double u = 1 / wall_s, v = u / threads;
    aa += u * u;
    ab += u * v;
    bb += v * v;
    ay += u;
    by += v;
    differ = differ || threads != runs.front().first;
  }
  const double determinant = aa * bb - ab * ab;
  if (!differ || runs.size() < 3 || !(determinant > 0)) return std::nullopt;
  const double a = (ay * bb - by * ab) / determinant, b = (by * aa - ay * ab) / determinant;
  SerialShare share;
  share.one_thread_s = a + b;
  if (!(share.one_thread_s > 0)) return std::nullopt;
  share.serial_ratio = a / share.one_thread_s;
  double squares = 0;
  for (const auto& [threads, wall_s] : runs) {
    const double residual = 1 - (a + b / threads) / wall_s;
    squares += residual * residual;
  }
  const double freedom = static_cast<double>(runs.size()) - 2;
  const double variance = squares / freedom;
  // s = a / (a + b), by its derivatives.
  const double by_a = b / (share.one_thread_s * share.one_thread_s),
               by_b = -a / (share.one_thread_s * share.one_thread_s);
  const double of_share = variance * (by_a * by_a * bb + by_b * by_b * aa - 2 * by_a * by_b * ab) / determinant;
  const double half = student_quantile(0.975, freedom) * std::sqrt(std::max(0.0, of_share));
  share.lower = share.serial_ratio - half;
  share.upper = share.serial_ratio + half;
  return share;
}

}  // namespace perfcast::measure
