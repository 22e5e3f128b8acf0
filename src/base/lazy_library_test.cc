// A program that begins without a library learns at its first call that there is none.

#include <gtest/gtest.h>

#ifdef PERFCAST_LAZY_LIBRARIES

#include <cmath>

extern "C" {
void perfcast_test_of_an_absent_library();
void perfcast_test_of_a_lacking_function();
}

namespace perfcast {
namespace {

TEST(LazyLibrary, SaysWhatIsMissingWhyAndHowToMend) {
  EXPECT_EXIT(perfcast_test_of_an_absent_library(), testing::ExitedWithCode(127),
              "^perfcast: a shared library that this needs can't be used: libperfcast-absent.so.7\n"
              "  where:    libperfcast-absent.so.7: cannot open shared object file: No such file or directory\n"
              "  expected: Debian's package perfcast-absent7: apt install perfcast-absent7; of another version, "
              "or elsewhere, build perfcast anew\n$");
}

TEST(LazyLibrary, SaysWhichFunctionTheLibraryLacks) {
  EXPECT_EXIT(perfcast_test_of_a_lacking_function(), testing::ExitedWithCode(127),
              "can't be used: libm.so.6\n  where:    .*undefined symbol: perfcast_test_of_a_lacking_function\n"
              "  expected: Debian's package libc6: apt install libc6");
}

TEST(LazyLibrary, PassesArgumentsAndResultsThrough) {
  double (*volatile next)(double, double) = nextafter;
  for (int call = 0; call < 2; ++call) EXPECT_EQ(next(1.0, 2.0), 1 + 0x1p-52);
}

}  // namespace
}  // namespace perfcast

#else

TEST(LazyLibrary, LinkedAsItIs) {
  GTEST_SKIP() << "libraries are opened lazily on x86-64 only, and not under sanitizers";
}

#endif
