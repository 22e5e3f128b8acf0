#pragma once

namespace perfcast {

// The source of platforms whose facts perfcast read on the machine itself: `collect --here`, `adapt`.
inline constexpr const char* kOwnMachineSource = "perfcast-collect";

}  // namespace perfcast
