#pragma once
// Jobs drawn from programs: which program each runs, when it comes and how long its input makes it; and forecasts made
// wrong on purpose, to see how good a forecast must be to pay.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/jobs/workload.h"

namespace perfcast::fleet {

// One program (or kind of job): a row of run times, one for each of the mix's platforms; NaN: can't run there.
struct MixProgram {
  std::string name;
  double weight = 1;  // share of the jobs, in proportion; from 0
  int32_t cores = 1;
  int32_t gpus = 0;
  bool spread = false;
  double memory_bytes = kUnknown;
  std::vector<double> time_s;                                       // [J]
  std::vector<double> forecast_s, lower_s, upper_s, energy_joules;  // [J] or empty
  // Where nobody measured the times, so that time_s is what is forecast: a sample's true times are time_s * exp(root
  // z), z standard normal, drawn once for a sample. Programs are taken to err alike, as they do where a host was taken
  // for another CPU: on the safe side. [J x J], row by row; empty: the times are known.
  std::vector<double> log_error_root;
};

struct ProgramMix {
  std::vector<std::string> platforms;  // J
  std::vector<MixProgram> programs;
  std::string source;                   // for people
  std::vector<std::string> notes = {};  // likewise; those of each workload drawn
};

// When jobs come.
struct Arrivals {
  enum class Kind : uint8_t {
    kBatch,     // all at 0 s
    kInterval,  // one each 1 / rate, the first at 0 s
    kPoisson,
    // Renewals with hyper-exponential gaps: two phases with balanced means, which meet the rate and the gaps' squared
    // coefficient of variation exactly (W. Whitt, Bell System Technical Journal 63(1), 1984): phase 1 has probability
    // p = (1 + sqrt((c2 - 1) / (c2 + 1))) / 2 and rate 2 p rate, phase 2 has 2 (1 - p) rate.
    kBursty,
  };
  Kind kind = Kind::kPoisson;
  double rate_per_s = kUnknown;   // mean; not used by kBatch
  double squared_variation = 10;  // of kBursty's gaps: 1 is Poisson
};

struct MixOptions {
  int64_t jobs = 1000;
  Arrivals arrivals;
  // Each job's times, forecasts, bounds and energy are multiplied by exp(sigma z - sigma^2 / 2), z normal: another
  // input to the same program. Its mean is 1, so that the load stays as it is.
  double length_sigma = 0;
  uint64_t seed = 1;
};

// Programs, arrivals, lengths and true times have a stream of random numbers each: a change of one leaves the others as
// they were. "bad-mix": no program or platform, no weight, a negative one, rows of another size, no rate, a variation
// below 1;
// check_workload's errors.
Result<Workload> draw_jobs(const ProgramMix& mix, const MixOptions& options);

struct PerturbOptions {
  double error_ratio = 0;  // mean absolute relative error of the forecasts: 0.2 is 20%
  bool per_job = false;    // an error drawn for each job, instead of one for each program and platform
  uint64_t seed = 1;
};

// Forecasts anew from the true times: forecast = time * exp(sigma z), z normal, one z for each (program, platform) as
// a model errs on a program rather than on a run of it; jobs without a program draw their own. The 90% interval is that
// of the error: forecast * exp(-+1.645 sigma). With an error of 0 the forecast is the time. A time of 0 s is forecast
// as kLeastForecast_s, for a forecast is above 0. "bad-mix": an error that is negative or above 100 (10,000%).
Status perturb_forecasts(Workload& workload, const PerturbOptions& options);

inline constexpr double kLeastForecast_s = 1e-6;

// E|exp(sigma z) - 1| = exp(sigma^2 / 2) erf(sigma / sqrt(2)): E[exp(sigma z); z > 0] = exp(sigma^2 / 2) Phi(sigma) and
// E[exp(sigma z); z < 0] = exp(sigma^2 / 2) Phi(-sigma), and the two ones cancel.
double mean_absolute_error_of(double sigma);
// The sigma whose mean absolute relative error is `error_ratio`, from 0 on; by bisection, to the last digits.
double sigma_of_error(double error_ratio);

}  // namespace perfcast::fleet
