#pragma once
// Use case: forecast this profile. How a program that was measured somewhere would run on every platform that a bundle
// knows: relative times, seconds and cost where they can be told, and why.

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "program/explain/attribution.h"
#include "program/explain/forecast_attribution.h"
#include "program/explain/host_match.h"
#include "program/explain/prices.h"
#include "program/forecast/forecast_energy.h"
#include "program/forecast/instance_forecast.h"
#include "program/model/forecast/forecaster.h"

namespace perfcast {
struct CoreDesign;
}

namespace perfcast::program {

inline constexpr const char* kForecastSchema = "perfcast.forecast/1";

// Errors about a field say so in `where`: "reference", "measured", "filter", "host", "explain-platform",
// "explain-against", "measured-energy", "power-model", "frequencies", "frequencies-of".
struct ForecastRequest {
  std::string host;  // platform, as find_platform(), that the profile was taken on; empty: by its CPU's facts
  std::string reference = "mean";                          // "mean", "host", or as find_platform()
  std::vector<std::pair<std::string, double>> measured_s;  // platform, as find_platform(), and its seconds
  std::vector<std::string> filters;                        // as parse_platform_filters()
  size_t top = 0;                                          // 0: all
  bool instances = false;
  InstanceUse use;
  double within_ratio = 1.2;  // how much slower than the fastest instance a compromise may be
  // Absent: platforms by time, instances by cost where it is known.
  enum class Sort { kTime, kCost, kName, kEnergy };
  std::optional<Sort> sort;
  bool strict = false;  // a measured time out of line with the others is an error, not a note
  std::optional<PriceList> prices;
  bool reasons = true;           // what the forecast comes from: attribution and features of the report
  bool explain = false;          // takes the forecast apart, input by input
  std::string explain_platform;  // of which that is told first, as find_platform(); empty: the first of the rows
  std::string explain_against;   // what sets that apart from this platform, likewise; empty: from the mean
  std::optional<EnergyQuestion> energy;         // joules beside seconds
  std::optional<FrequencyRequest> frequencies;  // time and joules over the clock of one platform
  // What cycles go to is held against the profile's counts by these; null: told as its pieces have it.
  std::shared_ptr<const std::vector<CoreDesign>> core_designs;
  const HostMatcher* hosts = nullptr;  // of the bundle's platforms; null: each profile's host is looked up anew
};

// Whether `a` comes before `b` in a list; what is unknown comes last.
bool instance_order(const InstanceRow& a, const InstanceRow& b, std::optional<ForecastRequest::Sort> sort);

struct PlatformRow {
  Platform platform;
  double rpv = 1, lower = 1, upper = 1;  // relative to the reference; 90% interval
  // The interval of the seconds: of this platform's time against that of the platform that was timed, whose own is 0;
  // of several, against the mean of their log times. A host that is not known by its name may be any CPU of the core
  // design (matched by CPU family and model) or line of designs (nearest only) that it was taken for: then the spread
  // of training times between such platforms is added, for the matched platform too.
  std::optional<double> time_s, time_lower_s, time_upper_s;
  bool is_host = false, is_measured = false;
  std::vector<InstanceRow> instances;    // where asked for, or where prices are known
  std::optional<double> cost;            // of one run on the cheapest instance
  std::optional<PlatformEnergy> energy;  // where it was asked for and the platform's power is known
  std::string energy_missing;            // why there is none, where it was asked for
};

// What a model makes of the program on a core design that platforms of the report carry.
struct CoreDesignRow {
  std::string design;
  double cycles_per_instruction = 0;
  CoreBoundRatios cycles_ratio_by_bound;
  std::string fastest_platform;  // of those that carry it
  bool is_host = false;
  bool is_own = true;            // of the program's own instruction set
  bool memory_is_least = false;  // its pieces missed waits for memory: raised to the least that the counts allow
};

// Of a workload: see workload_forecast.h.
struct WorkloadProgram {
  std::string program;
  double runs = 1;        // in one round
  double time_ratio = 0;  // of a round's time, the mean over the platforms
  bool in_distribution = true;
  std::string nearest;  // training program; empty: none
};

// A forecast taken apart. Platforms by their index in ForecastReport::forecast_ids.
struct ForecastBreakdown {
  ForecastAttribution attribution;
  size_t platform = 0;
  std::optional<size_t> against;  // absent: the mean over the platforms
};

struct ForecastReport {
  std::string program;
  std::vector<WorkloadProgram> programs;  // of a workload; empty: one program
  std::string bundle, model;
  std::string reference;       // platform id or "mean"
  std::string reference_name;  // for people
  bool in_distribution = true;
  std::vector<ProfileWarning> warnings;
  std::vector<std::string> outside;  // codes of the warnings that are why it is out of distribution
  std::vector<Neighbour> nearest;
  std::string host_cpu;  // verbatim
  std::optional<HostMatch> host;
  std::optional<Platform> host_platform;
  std::vector<std::string> host_runners_up;  // names; empty where the match is sure
  std::optional<double> host_time_s;
  // "cpu" or "wall" time of the native run, "mixed" where a workload's programs differ in that, or "measured"; empty
  // without seconds.
  std::string time_basis;
  std::string unanswered;  // why the question that was asked has no number at all; empty: it has some
  std::vector<std::string> notes;
  std::string out_of_line;        // the note that a measured time or energy can't be right; empty: none
  std::vector<PlatformRow> rows;  // fastest first
  Attribution attribution;
  std::vector<FeatureStanding> features;       // most unusual first
  std::optional<ForecastBreakdown> breakdown;  // where the request asked for it
  std::vector<std::string> forecast_ids;       // platforms in the order of the attribution's vectors
  std::vector<std::string> forecast_names;     // likewise
  std::vector<CoreDesignRow> core_designs;     // in the order of their fastest platforms; empty for older profiles
  std::string currency;                        // of prices and costs; empty: not told
  std::string price_source;                    // for people; empty without prices
  std::string price_date, price_regions;       // as PriceList has them
  int64_t types_left_out = 0;                  // with prices and not chosen from: shared or burstable vCPUs
  std::optional<ForecastRequest::Sort> sort;   // as asked for
  InstanceChoice choice;                       // of the instances with prices
  double threads = 1;                          // that the program keeps busy, or would: see InstanceForecaster
  std::optional<EnergySummary> energy;         // where it was asked for
  std::optional<FrequencyReport> frequencies;  // likewise
  // Prices for what is no instance type of the bundle, in the order of their file; absent without prices.
  std::optional<std::vector<Price>> unmatched_prices;
};

// Unless accepted, error "program-failed" for the profile of a run that failed, or that does not say how it ended.
// Errors "runs-differ", "sanitizer", "emulator-memory", "work-done-once" and "too-little-seen" where the profile has no
// counts for that reason.
Status check_success(const Profile& profile, bool accept_failure);

// What can be found wrong in a request before there is a profile: its filters, measured times and reference.
Status check_request(const Forecaster& forecaster, const ForecastRequest& request);

// The same whatever the order of what was measured. Errors: "unknown-platform", "ambiguous-platform", "unknown-host"
// (reference host without a match), "bad-usage" (filters, measured times), "contradicting-times" (a measured time out
// of line, in a strict request), "no-platform" (the filters leave none), and what Forecaster::forecast() says.
Result<ForecastReport> forecast_program(const Forecaster& forecaster, const Profile& profile,
                                        const ForecastRequest& request);

// A report with what its intervals are made of, for sums over programs. Platforms in the order of the bundle.
struct ProgramForecast {
  ForecastReport report;
  Eigen::MatrixXd covariance;  // of log relative times against the mean
  Eigen::VectorXd half_width;  // of them, 90%
};
Result<ProgramForecast> forecast_in_full(const Forecaster& forecaster, const Profile& profile,
                                         const ForecastRequest& request);

// Leaves the rows that pass the request's filters, in its order. "no-platform" where that is none.
Status keep_wanted(const Bundle& bundle, const ForecastRequest& request, std::vector<PlatformRow>& rows);

// Leaves the request's `top` first, but where there are instances: they are of platforms anywhere among them.
void cut_to_top(const ForecastRequest& request, std::vector<PlatformRow>& rows);

// What to take of the rows' instances; covariance and half_width as in ProgramForecast.
InstanceChoice choice_among(const Bundle& bundle, const std::vector<PlatformRow>& rows,
                            const Eigen::MatrixXd& covariance, const Eigen::VectorXd& half_width, double within_ratio);

Json to_json(const ForecastReport& report);

}  // namespace perfcast::program
