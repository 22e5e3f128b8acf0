#pragma once
// What computes in a published result: submissions write one accelerator in many ways.

#include <string>
#include <vector>

#include "ai/results/published_result.h"
#include "machine/facts/device_facts.h"

namespace perfcast::ai {

// The catalogue's name for an accelerator as submissions write it ("NVIDIA H100-SXM-80GB" -> "h100"); of a part of one
// (MIG) the whole. The name itself where no device is known by it; empty where there is no accelerator.
std::string catalogue_name(const std::string& accelerator);

// What is known of the accelerator of a result, or of its CPUs where it has none.
struct ResultAccelerator {
  std::string name;        // one spelling for all of its rows: the catalogue's, else as it is written
  std::string whole;       // the device that is left out with it: of a slice the whole; mostly the name
  std::string generation;  // of the catalogue, or of known relatives; else the name
  std::string vendor;      // likewise
  bool is_cpu = false;
  const DeviceFacts* facts = nullptr;          // of the whole; null: the catalogue doesn't know it
  double compute_share = 1, memory_share = 1;  // of a slice (MIG "1g.10gb": a seventh of the units, 10 of 80 GB)
  int64_t count = 1;                           // in the whole system; of CPUs its sockets
};

// `devices` must outlive the result.
ResultAccelerator result_accelerator(const PublishedResult& result, const std::vector<DeviceFacts>& devices);

}  // namespace perfcast::ai
