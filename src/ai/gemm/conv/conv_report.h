#pragma once
// What only a ladder of convolutions has to say.

#include <string>

#include "ai/gemm/gemm_result.h"
#include "base/json_fwd.h"

namespace perfcast::ai::gemm {

// All measured layers of a network as one pass, each as often as it occurs: time and speed by rung. Empty where fewer
// than two named layers were measured; a rung that lacks one of them is left out.
std::string network_text(const GemmResult& result);

// --op conv --list: the rungs and whether they can run here, and the layers of ResNet-50 with their counts and MACs.
std::string conv_list_text();
Json conv_list_json();  // schema perfcast.gemm.conv_rungs/1

}  // namespace perfcast::ai::gemm
