#include "model/scaling/scaling_model.h"

#include <gtest/gtest.h>

namespace perfcast {
namespace {

TEST(Scaling, Placeholder) { SUCCEED(); }

}  // namespace
}  // namespace perfcast
