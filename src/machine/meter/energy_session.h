#pragma once
// Measures energy while something runs: reads meters at the start, at their own rates on a thread of its own, and at
// the end.

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "machine/meter/energy_reading.h"
#include "machine/meter/meter.h"
#include "machine/meter/throttle.h"

namespace perfcast {

struct EnergyReport {
  double seconds_s = 0;
  std::vector<MeterEnergy> meters;      // in the order of the session's
  std::vector<EnergyWarning> warnings;  // of the machine: throttling, clocks
};

// The joules of the widest scope whose meters all have some: server, board, CPU packages, GPUs, others. They are added
// within a scope, never over scopes, and never over sources that measure the same (RAPL and a driver's counters of one
// package, ACPI's meter and a server's log): one of these counts, and a warning "same-scope" says which.
struct WidestJoules {
  EnergyScope scope = EnergyScope::kOther;
  double joules = 0;
};
std::optional<WidestJoules> widest_joules(const EnergyReport& report);
// Of one scope, where all meters of the source that counts have some, and there is one.
std::optional<double> joules_of_scope(const EnergyReport& report, EnergyScope scope);
// Of work on CPUs, which a GPU's joules say nothing of: server, board or CPU packages, the widest that has joules in
// every one of these.
std::optional<EnergyScope> scope_of_cpu_work(std::span<const EnergyReport> reports);

struct EnergySessionOptions {
  std::string cpu_root = MeterRoots().cpu;  // for ThrottleWatch; empty: clocks are not looked at
  // So long stop() waits for a log to reach the end of the stretch: whoever writes it may keep rows back. Once for a
  // log that nobody writes.
  double settle_s = 2;
  // What a person sets where a log's clock is off, as messages name it: a field here, an option of a command there.
  std::string clock_offset = "clock_offset_s";
};

// One stretch at a time; start() begins anew. The meters must outlive it, and nobody else may read them meanwhile.
class EnergySession {
 public:
  explicit EnergySession(std::vector<Meter*> meters, EnergySessionOptions options = {});
  ~EnergySession();
  EnergySession(const EnergySession&) = delete;
  EnergySession& operator=(const EnergySession&) = delete;

  void start();
  EnergyReport stop();

 private:
  using Clock = std::chrono::steady_clock;
  struct Course {
    EnergyAccumulator readings;
    double due_s = 0;
    std::vector<std::string> limits;  // that the device named, each once
  };
  double now_s() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }
  void read(size_t meter);
  void follow(const std::stop_token& stop);
  // `read_unix_s`: when its first reading was done, by this machine's clock.
  PowerLog settled_log(size_t meter, double end_s, std::optional<Error>& failed, double& read_unix_s);

  std::vector<Meter*> meters_;
  EnergySessionOptions options_;
  ThrottleWatch throttle_;
  std::vector<Course> courses_;
  std::vector<double> given_up_unix_s_;  // last row of a log that was waited for in vain; NaN: none was
  Clock::time_point began_;
  double began_unix_s_ = 0;
  std::mutex lock_;
  std::condition_variable_any ended_;
  std::jthread reader_;  // the last: it uses all others
};

}  // namespace perfcast
