#pragma once
// The set "aiwc" (Johnston, Falzon, Milthorpe 2018): OpenCL kernels of OpenDwarfs with features that do not depend on
// the device (AIWC, from simulating the kernel) and run times on 15 devices.
//
// A folder with features.csv (application, size, kernel, features), runtimes.csv (the same keys, device,
// kernel_time_us_median, ...) and devices.csv (device, name, type, cores, clocks, caches, power).
//
// Platforms are the devices. Programs are "aiwc.APPLICATION.KERNEL.=SIZE", so that the split by program keeps the sizes
// of one kernel together; the family is the application. One profile per program, without a host: the features hold for
// every device. Runs are median times, s per launch.
//
// Known faults, counted in the exclusions: kernels of one application and size whose times agree within 5% on every
// device, three or more, were timed together (both fft kernels): the first by name stays and the others are marked as
// excluded programs, so that they do not count twice. Workloads with the same features as another are kept and counted
// (split by application, not by row); so are times whose 90th percentile is more than twice the 10th.

#include <string>

#include "program/corpus/importers/import.h"
#include "program/corpus/source_note.h"

namespace perfcast::program {

struct AiwcText {
  std::string features_csv, runtimes_csv, devices_csv;
  std::string folder = "aiwc";  // for messages
  SourceNote note;
};

// Errors: "bad-csv", "missing-column", "no-rows". Rows without a key, a second row for one key, times that are blank,
// zero, negative or no number, and times of unknown workloads or devices are left out and counted.
Result<Import> import_aiwc(const AiwcText& text);
Result<Import> import_aiwc_folder(const std::string& path, const ProgramCatalogue& catalogue);

}  // namespace perfcast::program
