#pragma once
// What this machine's kernel takes for the things that programs ask of it most, measured when asked: some 150 ms.

namespace perfcast::measure {

struct MachineCosts {
  double system_call_s = 0;    // reading a byte from /dev/zero
  double page_fault_s = 0;     // touching a page of anonymous memory for the first time
  double process_start_s = 0;  // fork, exec and end of a small program
  double thread_start_s = 0;   // start and end of one that does nothing
  double wake_up_s = 0;        // a thread that waits for another's byte; 0: not known
  // Of a load or store that hits the first-level cache, one after the other without waiting for each; and how much more
  // one takes that crosses a line.
  double load_s = 0, store_s = 0, crossing_load_s = 0, crossing_store_s = 0;
  // Of a load whose address the one before gave, somewhere in so much memory; pages of the usual size.
  double load_of_8_mib_s = 0, load_of_64_mib_s = 0;
  double line_transfer_s = 0;  // a line that one CPU wrote, to another that writes it; 0: not known, as with one CPU
};

MachineCosts measure_machine_costs();

}  // namespace perfcast::measure
