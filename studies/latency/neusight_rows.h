#pragma once
// Choices of NeuSight's rows: by device, by kind.

#include <cstdint>
#include <string>
#include <vector>

#include "studies/latency/neusight_data.h"

namespace perfcast::ai::latency_study {

std::vector<std::string> devices_of(const NeusightOperators& operators);  // in the order of their names
std::vector<ProfiledProduct> products_of(const NeusightOperators& operators, const std::string& device);
// Those whose operator vector_kind() knows.
std::vector<MeasuredVector> vectors_of(const NeusightOperators& operators, const std::string& device);
std::vector<ProfiledProduct> with_weights(std::vector<ProfiledProduct> rows, bool weights);

// Draws `count` rows of each kind by seed and takes them out of `rows`.
std::vector<MeasuredProduct> take_shapes(std::vector<ProfiledProduct>& rows, size_t count, uint64_t seed);

// Timed models write '_' for the blanks of a device's name.
std::string folder_name(std::string device);

}  // namespace perfcast::ai::latency_study
