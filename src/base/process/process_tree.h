#pragma once
// The descendants of a process, by /proc.

#include <sys/types.h>

#include <set>
#include <string_view>
#include <vector>

namespace perfcast {

// Children of all threads of `parent`; empty where the process is gone.
std::vector<pid_t> children_of(pid_t parent);
// All descendants of `root`, itself excluded, those in `except` and below excluded; zombies included.
std::vector<pid_t> descendants_of(pid_t root, const std::set<pid_t>& except = {});
bool is_zombie(pid_t process);

// Of the text of /proc/PID/stat: a number by its place, as proc(5) counts (10: minflt); 0 where it is not there.
double stat_number(std::string_view text, int field);

// Entries of /proc/PID/fd; -1 where they can't be read.
int open_descriptors(pid_t process);

// What /proc tells of a process right now; zero where it can't be read or has none (a zombie has no memory).
struct ProcessState {
  int threads = 0;
  double resident_bytes = 0, peak_resident_bytes = 0, peak_address_bytes = 0;
  double minor_faults = 0, voluntary_switches = 0, involuntary_switches = 0;
  double cpu_s = 0;
};
ProcessState state_of(pid_t process);  // the cheap part: /proc/PID/status
// Memory of these processes, what they share counted once; what can't be read is left out.
double memory_bytes_of(const std::vector<pid_t>& processes);
ProcessState full_state_of(pid_t process);

// Kills every descendant of ours but `except`, also those that appear meanwhile, and reaps them. Needs this process to
// be their subreaper. Gives up after two seconds.
void end_descendants(const std::set<pid_t>& except);

// A helper process that outlives us by a moment (a fork that runs our own code, where spawn.h starts other programs):
// when we die without having called dismiss(), it ends `program` with its descendants and, where it has a process group
// of its own, the group.
class Guardian {
 public:
  Guardian();
  ~Guardian();
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;
  void watch(pid_t program, bool own_group);
  void dismiss();
  pid_t process() const { return process_; }

 private:
  pid_t process_ = -1;
  int pipe_ = -1;
};

}  // namespace perfcast
