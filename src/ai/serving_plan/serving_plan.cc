#include "ai/serving_plan/serving_plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include "ai/llm/operator_graph.h"
#include "ai/serving_plan/replica_search.h"
#include "ai/serving_plan/service_trials.h"
#include "base/report/table.h"
#include "base/statistics.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr int64_t kMostReplicaDevices = 1'000'000;
// Parts of services are simulated to find the best; those so near to it are simulated whole.
constexpr double kNear = 1.05;
constexpr int64_t kMostWhole = 300;  // replicas
constexpr double kMostLoadFactor = 16, kLoadFineness = 1.01;
constexpr double kAlone = 1.01;     // requests that run at once in a replica
constexpr double kHopeless = 1.25;  // times as much load as one replica serves: others don't help it by so much
constexpr double kEnds = 1e9;       // for draws of a normal distribution: as many degrees of freedom

double deviations_of_draw(int64_t draw) {
  return student_quantile((real_of(draw) - 0.5) / real_of(PlanSureness::kDraws), kEnds);
}

int64_t draws_of(double confidence) {
  return std::clamp<int64_t>(static_cast<int64_t>(std::ceil(confidence * real_of(PlanSureness::kDraws) - 1e-9)), 1,
                             PlanSureness::kDraws);
}

// Why a trial failed whose requests came one after the other.
std::string words_of_alone(const ServingRow& row) {
  for (const ObjectiveOutcome& outcome : row.forecast.objectives) {
    if (outcome.met) continue;
    std::string words = "alone, " + percent(outcome.kept_share) + " of the requests keep " +
                        printable(outcome.objective.text) + ": the first token takes " +
                        human_seconds(row.forecast.first_token.p50) + " in the median";
    if (!std::isnan(row.forecast.further_token.p50)) {
      words += ", each further one " + human_seconds(row.forecast.further_token.p50);
    }
    return words;
  }
  return "the objectives are missed by requests that are alone";
}

// How much a reason tells of a device: what its objectives came to tells more than that a smaller group of it doesn't
// hold the model.
size_t telling(const std::string& code) {
  constexpr std::array<std::string_view, 4> kLittleToMuch = {"unknown-fact", "no-memory", "too-long", "objectives"};
  return static_cast<size_t>(std::find(kLittleToMuch.begin(), kLittleToMuch.end(), code) - kLittleToMuch.begin());
}

class ServingPlanner {
 public:
  explicit ServingPlanner(ServingPlan& plan) : plan_(plan), request_(plan.request), trials_(plan.request) {
    if (request_.confidence) terms_.error_deviations = deviations_of_draw(draws_of(*request_.confidence));
  }

  Status search() {
    for (size_t device = 0; device < request_.service.devices.size(); ++device) {
      show(request_.service.devices[device].facts.name);
      auto service = size_device(device, terms_, 1);
      if (!service) return service.error();
      plan_.services.push_back(*std::move(service));
    }
    if (Status fit = check_any(); !fit) return fit;
    rank();
    if (Status done = see_whole(); !done) return done;
    if (plan_.services.front().holds()) {
      if (Status done = plan_.has_plan() ? look_around() : try_most_allowed(); !done) return done;
    }
    plan_.simulations = trials_.simulations();
    return {};
  }

 private:
  void show(const std::string& stage) const {
    if (request_.progress) request_.progress({printable(stage), trials_.simulations()});
  }

  double value_of(const PlannedService& service) const { return ai::value_of(request_.goal, service); }

  void set_size(PlannedService& service, int64_t replicas, const ServiceTrial& trial) const {
    const ServingDevice& device = request_.service.devices[service.device];
    service.replicas = replicas;
    service.simulated_replicas = trial.simulated_replicas;
    service.row = trial.row;
    service.row.devices = service.devices();
    service.cost_per_hour = device.price_per_hour * real_of(service.devices());
    service.power_w = device.facts.power_w * real_of(service.devices());
    // A simulation ends with the last tokens of few requests; a service goes on.
    const bool has_rate =
        request_.load.rate_per_s > 0 && !request_.load.is_recorded && trial.row.forecast.pace != Pace::kFallsBehind;
    service.output_tokens_per_s =
        has_rate ? request_.load.rate_per_s * service.row.output_tokens
                 : service.row.forecast.output_tokens_per_s * real_of(replicas) / real_of(trial.simulated_replicas);
    service.row.cost_per_million = service.cost_per_hour / 3600 / service.output_tokens_per_s * 1e6;
    service.within_limits = !(service.cost_per_hour > request_.most_cost_per_hour.value_or(INFINITY)) &&
                            service.devices() <= request_.most_devices.value_or(kMostReplicaDevices) &&
                            !(request_.most_cost_per_hour && std::isnan(service.cost_per_hour));
  }

  Result<std::optional<int64_t>> least(const ServiceKind& kind, const TrialTerms& terms, TrialExtent extent,
                                       int64_t first, int64_t most) {
    // One replica alone says less of many than eight do.
    const int64_t step = std::max<int64_t>(1, first / (extent == TrialExtent::kWhole ? 100 : 16));
    return least_replicas(
        [&](int64_t replicas) -> Result<ReplicaTrial> {
          const auto trial = trials_.run(kind, replicas, terms, extent);
          if (!trial) return trial.error();
          // Where requests hardly meet each other, further replicas change nothing.
          const bool is_hopeless = !trial->holds && trial->row.forecast.mean_running < kAlone;
          return ReplicaTrial{trial->holds, is_hopeless, trial->overload};
        },
        first, most, step);
  }

  // Of a kind; `hint` replicas may be enough, 1: nothing is known. At most `most`.
  Result<PlannedService> size_kind(const ServiceKind& kind, const TrialTerms& terms, int64_t hint, int64_t most) {
    PlannedService service{.device = kind.device, .tensor_parallel = kind.tensor_parallel};
    const auto alone = trials_.alone(kind, terms);
    if (!alone) return alone.error();
    service.row = alone->row;
    service.code = alone->code;
    service.problem = alone->problem;
    if (service.code.empty() && !alone->holds) {
      const bool is_judged = !request_.service.objectives.empty();
      service.code = is_judged ? "objectives" : "too-long";
      service.problem = is_judged ? words_of_alone(alone->row)
                                  : std::to_string(alone->row.forecast.refused) + " of " +
                                        std::to_string(alone->row.requests) + " requests are longer than its cache";
    }
    if (!service.code.empty()) return service;
    const auto too_many = [&] {
      service.code = "too-many";
      service.problem = "no number of devices that was tried is enough";
      return service;
    };
    if (most < kMostReplicaDevices / kind.tensor_parallel) {  // what another kind needs is enough, or none is
      const auto rough = trials_.run(kind, most, terms, TrialExtent::kRough);
      if (!rough) return rough.error();
      if (rough->overload > kHopeless) return too_many();
      const auto enough = trials_.run(kind, most, terms, TrialExtent::kPart);
      if (!enough) return enough.error();
      if (!enough->holds) return too_many();
    }
    if (hint <= 1) {
      const auto rough = least(kind, terms, TrialExtent::kRough, 1, most);
      if (!rough) return rough.error();
      hint = rough->value_or(most);
    }
    const auto replicas = least(kind, terms, TrialExtent::kPart, hint, most);
    if (!replicas) return replicas.error();
    if (!*replicas) return too_many();
    const auto trial = trials_.run(kind, **replicas, terms, TrialExtent::kPart);
    if (!trial) return trial.error();
    set_size(service, **replicas, *trial);
    return service;
  }

  // The kind with the fewest devices: of one device, that is the best by any goal.
  Result<PlannedService> size_device(size_t device, const TrialTerms& terms, int64_t hint) {
    std::optional<PlannedService> best;
    for (const int64_t degree : request_.tensor_parallel) {
      int64_t most = kMostReplicaDevices / degree;
      if (best && best->holds()) most = (best->devices() - 1) / degree;
      if (most < 1) break;
      auto service = size_kind({device, degree}, terms, hint, most);
      if (!service) return service.error();
      if (service->holds() || !best || (!best->holds() && telling(service->code) >= telling(best->code))) {
        best = *std::move(service);
      }
    }
    return *best;
  }

  // Whether there is anything to say, and to choose by.
  Status check_any() const {
    const auto& services = plan_.services;
    const auto facts_of = [&](const PlannedService& service) -> const DeviceFacts& {
      return request_.service.devices[service.device].facts;
    };
    const auto is_simulated = [](const PlannedService& service) { return service.row.requests > 0; };
    if (std::none_of(services.begin(), services.end(), is_simulated)) {
      const PlannedService& largest =
          *std::max_element(services.begin(), services.end(), [&](const PlannedService& a, const PlannedService& b) {
            return std::tuple(a.code != "unknown-fact", std::fmax(0, facts_of(a).memory_bytes)) <
                   std::tuple(b.code != "unknown-fact", std::fmax(0, facts_of(b).memory_bytes));
          });
      std::string message = largest.problem;
      if (services.size() > 1) {
        message = "none of " + std::to_string(services.size()) + " devices can serve " +
                  printable(request_.service.config.name) + "; the largest: " + message;
      }
      return infeasible_error(largest.code, message, "",
                              "larger devices, more of them that share the model (--tensor-parallel " +
                                  std::to_string(2 * request_.tensor_parallel.back()) +
                                  "), fewer bits a weight (--weight-precision), or shorter requests");
    }
    const auto holds = [](const PlannedService& service) { return service.holds(); };
    const auto counts = [&](const PlannedService& service) {
      return service.holds() && !std::isnan(value_of(service));
    };
    if (std::none_of(services.begin(), services.end(), holds) ||
        std::any_of(services.begin(), services.end(), counts)) {
      return {};
    }
    const bool is_cost = request_.goal == PlanGoal::kCost;
    return infeasible_error(is_cost ? "no-price" : "no-power",
                            std::string("no device is enough whose ") + (is_cost ? "price" : "power") + " is known",
                            is_cost ? "--price" : "--minimise",
                            is_cost ? "DEVICE=USD for an hour of each, or --minimise nodes" : "nodes");
  }

  void rank() {
    const auto key = [&](const PlannedService& service) {
      const double value = service.holds() ? value_of(service) : kUnknown;
      const int group = !service.holds() ? 3 : std::isnan(value) ? 2 : service.within_limits ? 0 : 1;
      const auto known = [](double number) { return std::isnan(number) ? INFINITY : number; };
      return std::tuple(group, known(value), service.devices(), known(service.power_w), service.device);
    };
    std::sort(plan_.services.begin(), plan_.services.end(),
              [&](const PlannedService& a, const PlannedService& b) { return key(a) < key(b); });
  }

  // Those that may be the best with all their replicas, one after the other: it may change which one is.
  Status see_whole() {
    std::vector<size_t> seen;  // devices
    for (;;) {
      const double near = kNear * value_of(plan_.services.front());
      const auto next = std::find_if(plan_.services.begin(), plan_.services.end(), [&](const PlannedService& service) {
        return service.holds() && service.simulated_replicas < service.replicas && service.replicas <= kMostWhole &&
               value_of(service) <= near && std::find(seen.begin(), seen.end(), service.device) == seen.end();
      });
      if (next == plan_.services.end()) return {};
      seen.push_back(next->device);
      show(request_.service.devices[next->device].facts.name + ", all replicas");
      if (Status done = size_whole(*next, terms_); !done) return done;
      rank();
    }
  }

  Status size_whole(PlannedService& service, const TrialTerms& terms) {
    const ServiceKind kind{service.device, service.tensor_parallel};
    const auto replicas = least(kind, terms, TrialExtent::kWhole, service.replicas, 2 * service.replicas);
    if (!replicas) return replicas.error();
    if (!*replicas) return {};  // not told: what its part says stands
    const auto trial = trials_.run(kind, **replicas, terms, TrialExtent::kWhole);
    if (!trial) return trial.error();
    set_size(service, **replicas, *trial);
    return {};
  }

  Status look_around() {
    const PlannedService best = plan_.services.front();
    show("headroom");
    auto limit = load_limit(best, 1);
    if (!limit) return limit.error();
    plan_.headroom = *std::move(limit);
    show("forecast error");
    if (Status done = look_at_errors(best); !done) return done;
    for (const double factor : request_.growth) {
      show("growth");
      PlanGrowth growth{factor, best};
      if (factor != 1) {
        TrialTerms terms = terms_;
        terms.load_factor = factor;
        const auto hint = static_cast<int64_t>(std::ceil(factor * real_of(best.replicas)));
        auto service = size_kind({best.device, best.tensor_parallel}, terms, std::max<int64_t>(2, hint),
                                 kMostReplicaDevices / best.tensor_parallel);
        if (!service) return service.error();
        growth.service = *std::move(service);
      }
      plan_.growth.push_back(std::move(growth));
    }
    return {};
  }

  // The largest factor up to which the service holds, given whether it holds at `holding`.
  Result<LoadLimit> load_limit(const PlannedService& service, double holding) {
    const ServiceKind kind{service.device, service.tensor_parallel};
    LoadLimit limit{.factor = holding};
    double fails = 0;
    const auto try_at = [&](double factor) -> Status {
      TrialTerms terms = terms_;
      terms.load_factor = factor;
      const auto trial = trials_.run(kind, service.replicas, terms, TrialExtent::kPart);
      if (!trial) return trial.error();
      if (trial->holds) {
        limit.factor = factor;
      } else {
        fails = factor;
        limit.beyond = trial->row;
        limit.beyond.forecast.growth_per_s *= real_of(service.replicas) / real_of(trial->simulated_replicas);
      }
      return {};
    };
    for (double up = 1.1; fails == 0 && limit.factor < kMostLoadFactor; up *= up) {
      if (Status done = try_at(std::min(kMostLoadFactor, limit.factor * up)); !done) return done.error();
    }
    limit.is_floor = fails == 0;
    const double clients = real_of(request_.load.concurrency);
    while (!limit.is_floor && fails > limit.factor * kLoadFineness &&
           !(clients > 0 && (fails - limit.factor) * clients <= 1)) {
      if (Status done = try_at(std::sqrt(limit.factor * fails)); !done) return done.error();
    }
    return limit;
  }

  Result<bool> holds_in(const PlannedService& service, int64_t draw) {
    const TrialTerms terms{.error_deviations = deviations_of_draw(draw)};
    const auto trial =
        trials_.run({service.device, service.tensor_parallel}, service.replicas, terms, TrialExtent::kPart);
    if (!trial) return trial.error();
    return trial->holds;
  }

  // Slower times hold no better: a plan holds in all draws up to one.
  Status look_at_errors(const PlannedService& best) {
    PlanSureness sureness;
    int64_t holds = request_.confidence ? draws_of(*request_.confidence) : PlanSureness::kDraws / 2;
    int64_t fails = PlanSureness::kDraws + 1;
    while (fails - holds > 1) {
      const int64_t draw = holds + (fails - holds) / 2;
      const auto held = holds_in(best, draw);
      if (!held) return held.error();
      (*held ? holds : fails) = draw;
    }
    sureness.held = holds;
    if (holds < PlanSureness::kEnough) {
      if (Status done = find_sure(sureness); !done) return done;
    }
    plan_.sureness = std::move(sureness);
    return {};
  }

  // What a service needs for the forecast alone it needs at least: the rest is dearer than the best.
  Status find_sure(PlanSureness& sureness) {
    const TrialTerms terms{.error_deviations = deviations_of_draw(PlanSureness::kEnough)};
    for (const PlannedService& service : plan_.services) {
      if (!service.holds() || !service.within_limits || std::isnan(value_of(service))) break;
      if (sureness.sure && value_of(service) >= value_of(*sureness.sure)) break;
      show(request_.service.devices[service.device].facts.name + ", forecast error");
      auto sure = size_device(service.device, terms, 1);
      if (!sure) return sure.error();
      if (sureness.sure && value_of(*sure) >= value_of(*sureness.sure)) continue;
      if (sure->holds() && sure->simulated_replicas < sure->replicas && sure->replicas <= kMostWhole) {
        if (Status done = size_whole(*sure, terms); !done) return done;
      }
      if (!sure->holds() || !sure->within_limits) continue;
      if (!sureness.sure || value_of(*sure) < value_of(*sureness.sure)) sureness.sure = *std::move(sure);
    }
    return {};
  }

  // What the limits leave of the best kind.
  Status try_most_allowed() {
    PlannedService allowed = plan_.services.front();
    const double price = request_.service.devices[allowed.device].price_per_hour;
    double devices = real_of(request_.most_devices.value_or(kMostReplicaDevices));
    if (request_.most_cost_per_hour) devices = std::min(devices, std::floor(*request_.most_cost_per_hour / price));
    const auto replicas = static_cast<int64_t>(devices) / allowed.tensor_parallel;
    if (replicas < 1 || replicas >= allowed.replicas) return {};
    const auto extent = replicas <= kMostWhole ? TrialExtent::kWhole : TrialExtent::kPart;
    const auto trial = trials_.run({allowed.device, allowed.tensor_parallel}, replicas, terms_, extent);
    if (!trial) return trial.error();
    set_size(allowed, replicas, *trial);
    plan_.most_allowed = std::move(allowed);
    return {};
  }

  ServingPlan& plan_;
  const ServingPlanRequest& request_;
  ServiceTrials trials_;
  TrialTerms terms_;
};

}  // namespace

std::string_view name_of(PlanGoal goal) {
  constexpr std::array<std::string_view, 3> kNames = {"cost", "devices", "power"};
  return kNames[static_cast<size_t>(goal)];
}

double value_of(PlanGoal goal, const PlannedService& service) {
  return goal == PlanGoal::kCost    ? service.cost_per_hour
         : goal == PlanGoal::kPower ? service.power_w
                                    : real_of(service.devices());
}

Result<ServingPlan> plan_serving(ServingPlanRequest request) {
  ServingPlan plan;
  const auto parameters = count_parameters(request.service.config);
  if (!parameters) return parameters.error();
  plan.parameters = parameters->total;
  plan.request = std::move(request);
  if (Status done = ServingPlanner(plan).search(); !done) return done.error();
  return plan;
}

}  // namespace perfcast::ai
