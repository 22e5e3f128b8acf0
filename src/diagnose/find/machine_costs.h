#pragma once
// What this machine's kernel takes for the things that programs ask of it most, measured when asked: some 50 ms.

namespace perfcast {

struct MachineCosts {
  double system_call_s = 0;    // reading a byte from /dev/zero
  double page_fault_s = 0;     // touching a page of anonymous memory for the first time
  double process_start_s = 0;  // fork, exec and end of a small program
};

MachineCosts measure_machine_costs();

}  // namespace perfcast
