#pragma once
// One interface for everything that measures power or energy. What a meter covers, how often and how well it reads, and
// why there is none here, all readers of this tool take from it: the verb `energy`, profiles, and what measures AI
// workloads.
//
//   MeterSet set = find_meters({});
//   EnergySession session(set.all());
//   session.start();
//   ...
//   const EnergyReport report = session.stop();  // energy_session.h
//
// Missing is never zero: where a meter gives no joules, there are none, and a reason.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unknown.h"

namespace perfcast {

// What a meter's joules are of. A package's hold those of its cores and its graphics; those of its memory only where
// the vendor says so. A server's hold all others of its machine. Nothing is ever added over scopes.
enum class EnergyScope {
  kPackage,   // one CPU package
  kCores,     // its cores alone
  kGraphics,  // the graphics in a CPU package
  kMemory,    // the memory modules of a package
  kPlatform,  // the board, as the CPU is told (psys)
  kGpu,       // a GPU with its board
  kServer,    // all of the server, at or behind its power supplies
  kOther,     // a rail, or whatever hangs on an external meter
};
std::string to_string(EnergyScope scope);  // "package", "cores", "graphics", "memory", ...

enum class MeterReading {
  kEnergy,  // joules since some time: differences count
  kPower,   // watts, now or over the last interval
  kLog,     // watts with times, which another program writes
};
std::string to_string(MeterReading reading);  // "energy", "power", "log"

struct MeterFacts {
  std::string name;  // unique in a MeterSet, what --meter takes: "rapl:package-0", "nvml:0", a file's path
  std::string kind;  // "rapl", "nvml", "hwmon", "ipmi", "redfish", "csv"
  EnergyScope scope = EnergyScope::kOther;
  std::string covers;  // in words: "CPU package 0"
  std::string unit;    // that the source counts in: "uJ", "mW"
  MeterReading reading = MeterReading::kPower;
  double interval_s = 1;           // between two readings that differ: the meter's own rate
  double resolution = kUnknown;    // of one reading: J of kEnergy, W of the others
  double range_joules = kUnknown;  // kEnergy: where it begins anew
  // Largest error of a reading over the reading; absent where nobody states it, which `accuracy` then says.
  std::optional<double> accuracy_ratio;
  std::string accuracy;  // in words, and who says so
};

struct PowerSample {
  double unix_s = 0;
  double power_w = 0;
};

// What a log holds about a stretch of time, and what was wrong with it.
struct PowerLog {
  std::vector<PowerSample> samples;  // in the order of their times
  int64_t blank_rows = 0;            // with a time, without a power
  int64_t out_of_order_rows = 0;     // whose time is before that of the row above
  int64_t bad_rows = 0;              // whose time or power can't be read
  std::string first_bad;             // of them, in words
  size_t devices = 0;                // whose rows were added up; 0: the log names none
  std::string form;                  // how its numbers were read; empty: as they stand (CsvTable::form)
  double last_unix_s = kUnknown;     // of the whole log, whatever stretch was asked for
};

// Not for several threads at once.
class Meter {
 public:
  virtual ~Meter() = default;
  const MeterFacts& facts() const { return facts_; }
  // One reading, now: joules of kEnergy, watts of kPower. Absent: nothing new since the last one, in a file that
  // another program writes, or a log.
  virtual Result<std::optional<double>> read() = 0;
  // kLog: the samples of a stretch, and one beyond either end where there is any.
  virtual Result<PowerLog> logged(double from_unix_s, double to_unix_s);
  // What holds the device back right now, by the device's own word, such as "power limit"; empty: nothing, or it does
  // not say.
  virtual std::vector<std::string> limited_by() { return {}; }

 protected:
  MeterFacts facts_;
};

// A kind of meter that gives nothing here, or less than it could.
struct MissingMeter {
  std::string kind, reason, advice;
};

struct MeterSet {
  std::vector<std::unique_ptr<Meter>> meters;
  std::vector<MissingMeter> missing;
  std::vector<Meter*> all() const;
};

// Where meters are looked for; tests name folders of files.
struct MeterRoots {
  std::string powercap = "/sys/class/powercap";
  std::string hwmon = "/sys/class/hwmon";
  std::string cpu = "/sys/devices/system/cpu";
  std::string nvml = "libnvidia-ml.so.1";
};

// Every meter of this machine that can be read by whoever asks, and for each kind that has none the reason. Takes some
// milliseconds; with NVIDIA's driver up to a second, while it wakes.
MeterSet find_meters(const MeterRoots& roots = {});

struct MeterFileOptions {
  double clock_offset_s = 0;  // added to a log's times: how far its clock is behind this machine's
  std::string sensor;         // of an IPMI tool's list: the one to take
};

// A file that another program writes while the measurement runs: an external meter's CSV (meter_csv.h), what IPMI's
// tools print (ipmi_text.h), a Redfish resource (redfish_power.h); told apart by what it holds. Errors: those of the
// readers, "bad-meter-file" for what is none of them.
Result<std::unique_ptr<Meter>> open_meter_file(const std::string& path, const MeterFileOptions& options = {});

// Of the machine's meters and files those that are named: a meter's name, its kind, or a path; a path may have
// "#SENSOR" behind it. Empty: all of the machine. Errors: "no-such-meter" lists what there is, with the reason where a
// kind has none; those of open_meter_file().
Result<MeterSet> choose_meters(MeterSet found, const std::vector<std::string>& names,
                               const MeterFileOptions& options = {});

}  // namespace perfcast
