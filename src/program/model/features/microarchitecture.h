#pragma once
// Which platforms are alike inside: CPU models of one core design, and designs of one line.

#include <cstddef>
#include <string>
#include <vector>

#include "program/corpus/corpus.h"

namespace perfcast::program {

// "zen3", "sapphire-rapids", ...: by vendor, CPU family and model. An Arm platform stands for itself, and so does one
// whose facts are unknown.
std::string microarchitecture(const Platform& platform);

// Which platforms share a core design: [J] indices from 0 on, in order of first appearance.
std::vector<size_t> designs_of(const std::vector<Platform>& platforms);

// Coarser: "arm", "amd", "intel-core" (up to Cascade Lake), "intel-cove" (from Ice Lake), or the vendor's name.
std::string core_line(const Platform& platform);

}  // namespace perfcast::program
