#include "fleet/traces/swf_synthetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <unordered_map>

#include "base/random.h"

namespace perfcast::fleet {
namespace {

// Sizes: powers of two in these shares, the rest log-uniform over 1 to 100; the mean is 7.7.
struct Size {
  int32_t cores;
  double share;
};
constexpr std::array<Size, 7> kSizes = {Size{1, 0.31},  Size{2, 0.13},  Size{4, 0.16}, Size{8, 0.17},
                                        Size{16, 0.12}, Size{32, 0.04}, Size{64, 0.01}};

int32_t draw_size(Random& random) {
  double left = random.uniform();
  for (const Size& size : kSizes) {
    if (left < size.share) return size.cores;
    left -= size.share;
  }
  const double cores = std::exp(random.uniform(0, std::log(kSyntheticProcessors + 1.0)));
  return std::clamp(static_cast<int32_t>(cores), 1, kSyntheticProcessors);
}

// Run times: log-normal with this median for a single processor and sigma, a little longer for larger jobs, drawn again
// beyond 60 h. The median is set so that the mean is about 8,900 s.
constexpr double kMedian_s = 1750;
constexpr double kSigma = 2.0;
constexpr double kPerDoubling = 0.03;  // of the logarithm, for each doubling of the size
constexpr double kLongest_s = 60 * 3600;

double draw_run_s(int32_t cores, Random& random) {
  const double median_s = kMedian_s * std::exp(kPerDoubling * std::log2(cores));
  while (true) {
    const double run_s = std::ceil(median_s * std::exp(kSigma * random.normal()));
    if (run_s <= kLongest_s) return run_s;
  }
}

// What users ask for.
constexpr std::array<double, 16> kRequests_s = {60,        120,       300,       600,      900,      1800,
                                                3600,      2 * 3600,  3 * 3600,  4 * 3600, 6 * 3600, 10 * 3600,
                                                15 * 3600, 24 * 3600, 40 * 3600, 60 * 3600};
constexpr double kAtLimit = 0.1;  // share of the jobs that use all they asked for and are killed there

// The request that a job of this length has: the run is a uniform share of it, rounded up to a usual value.
double draw_request_s(double run_s, Random& random) {
  const double share = random.uniform() < kAtLimit ? 1 : 1 - random.uniform();  // (0, 1]
  const auto at = std::lower_bound(kRequests_s.begin(), kRequests_s.end(), run_s / share);
  return at == kRequests_s.end() ? kLongest_s : *at;
}

// Relative intensity of arrivals: by hour of the day and by day of the week (the first is a Monday).
constexpr std::array<double, 24> kHours = {0.35, 0.25, 0.2, 0.2, 0.2, 0.25, 0.4, 0.8, 1.4, 1.8, 1.9, 1.8,
                                           1.6,  1.8,  1.9, 1.9, 1.8, 1.4,  1.0, 0.8, 0.7, 0.7, 0.6, 0.45};
constexpr std::array<double, 7> kDays = {1.15, 1.2, 1.2, 1.2, 1.1, 0.6, 0.55};
constexpr double kBurstiness = 4;  // squared coefficient of variation of the gaps, before day and week stretch them

// Time at which the intensity has summed up to what it would have at a constant 1 a second, and the reverse.
class Calendar {
 public:
  Calendar() {
    double sum = 0;
    for (size_t hour = 0; hour < kWeek; ++hour) sum += weight(hour);
    double upto = 0;
    for (size_t hour = 0; hour < kWeek; ++hour) {
      upto += weight(hour) / sum * kWeek * 3600;
      above_[hour] = upto;
    }
  }
  double time_s(double mass) const {
    const double week_s = kWeek * 3600.0;
    const double weeks = std::floor(mass / week_s);
    const double rest = mass - weeks * week_s;
    auto hour = static_cast<size_t>(std::upper_bound(above_.begin(), above_.end(), rest) - above_.begin());
    hour = std::min(hour, kWeek - 1);
    const double before = hour == 0 ? 0 : above_[hour - 1];
    const double within = (rest - before) / (above_[hour] - before);
    return weeks * week_s + 3600 * (static_cast<double>(hour) + within);
  }

 private:
  static constexpr size_t kWeek = 168;
  static double weight(size_t hour) { return kHours[hour % 24] * kDays[hour / 24]; }
  std::array<double, kWeek> above_ = {};
};

double draw_gap(Random& random) {  // hyper-exponential with balanced means, as in job_mix.h; mean 1
  const double p = (1 + std::sqrt((kBurstiness - 1) / (kBurstiness + 1))) / 2;
  const double share = random.uniform() < p ? p : 1 - p;
  return -std::log(1 - random.uniform()) / (2 * share);
}

constexpr int32_t kUsers = 200;
// Zipf-like: the k-th user's share falls with 1 / k.
int32_t draw_user(Random& random) {
  return std::min(kUsers - 1, static_cast<int32_t>(std::exp(random.uniform() * std::log(kUsers + 1.0))) - 1);
}

}  // namespace

Result<Workload> synthetic_swf(const SwfSyntheticOptions& options) {
  if (options.jobs < 1 || options.jobs > INT32_MAX || !(options.load > 0) || options.load > 100) {
    return Error{"bad-mix", fmt::format("{} jobs at a load of {}", options.jobs, options.load), "",
                 fmt::format("1 to {} jobs, a load above 0 and up to 100", INT32_MAX)};
  }
  const auto n = static_cast<size_t>(options.jobs);
  Workload workload;
  workload.platforms = {options.platform};
  workload.source =
      fmt::format("synthetic trace like KTH-SP2, {} jobs, load {}, seed {}", n, options.load, options.seed);
  for (int32_t user = 1; user <= kUsers; ++user) workload.owners.push_back(fmt::format("user {}", user));
  workload.jobs.resize(n);
  workload.time_s.resize(n);
  Random random(options.seed);
  double area = 0;  // processor-seconds
  for (size_t i = 0; i < n; ++i) {
    JobRequest& job = workload.jobs[i];
    job.id = static_cast<int64_t>(i) + 1;
    job.cores = draw_size(random);
    job.spread = true;
    double run_s = draw_run_s(job.cores, random);
    job.limit_s = draw_request_s(run_s, random);
    run_s = std::min(run_s, job.limit_s);
    job.owner = draw_user(random);
    workload.time_s[i] = run_s;
    area += run_s * job.cores;
  }
  // The gaps are stretched so that the last arrival gives the load.
  std::vector<double> mass(n);
  double sum = 0;
  for (double& at : mass) at = sum += draw_gap(random);
  const Calendar calendar;
  const double span_s = area / (options.load * kSyntheticProcessors);
  for (size_t i = 0; i < n; ++i) workload.jobs[i].arrival_s = std::floor(calendar.time_s(mass[i] / sum * span_s));
  if (Status checked = check_workload(workload); !checked) return checked.error();
  return workload;
}

Result<std::string> swf_text(const Workload& workload, int64_t max_procs) {
  if (workload.platforms.size() != 1 || workload.time_s.size() != workload.size()) {
    return Error{"bad-workload", fmt::format("{} platforms", workload.platforms.size()), workload.source,
                 "a trace of one platform: the format knows no others"};
  }
  std::string text =
      fmt::format("; Version: 2.2\n; Computer: {}\n; MaxJobs: {}\n; MaxProcs: {}\n",
                  workload.platforms[0].substr(0, workload.platforms[0].find('\n')), workload.size(), max_procs);
  const auto known = [](double value) { return std::isnan(value) ? -1 : value; };
  const auto number = [](const std::vector<std::string>& names, int32_t at, std::string_view kind) -> std::string {
    if (at == kNoIndex) return "-1";
    // "user 12" as its number, other names by their place.
    const std::string& name = names[static_cast<size_t>(at)];
    const bool numbered = name.starts_with(kind) && name.size() > kind.size() && name.size() < kind.size() + 15 &&
                          name.find_first_not_of("0123456789", kind.size()) == std::string::npos;
    return numbered ? name.substr(kind.size()) : fmt::format("{}", at + 1);
  };
  for (size_t i = 0; i < workload.size(); ++i) {
    const JobRequest& job = workload.jobs[i];
    if (job.cores < 1 || std::isnan(workload.time_s[i]) || job.id < 0) {
      return Error{"bad-workload", "it has no processors, no run time or a negative number",
                   fmt::format("job {}", job.id), "jobs with processors and a run time"};
    }
    const double memory_kib = std::isnan(job.memory_bytes) ? -1 : job.memory_bytes / 1024 / job.cores;
    const int64_t preceding = job.after == kNoIndex ? -1 : workload.jobs[static_cast<size_t>(job.after)].id;
    fmt::format_to(std::back_inserter(text), "{} {} -1 {} {} -1 -1 {} {} {} 1 {} -1 {} -1 -1 {} {}\n", job.id,
                   job.arrival_s, workload.time_s[i], job.cores, job.cores, known(job.limit_s), memory_kib,
                   number(workload.owners, job.owner, "user "), number(workload.programs, job.program, "executable "),
                   preceding, job.after == kNoIndex ? -1 : job.think_s);
  }
  return text;
}

}  // namespace perfcast::fleet
