#include "tools/cli/library_errors.h"

#include <iostream>

#include <gtest/gtest.h>

namespace ort_ed {
namespace {

TEST(LibraryErrors, TellOfLowMemory) {
  const LibraryErrors errors;
  std::cerr << "Schema error: "
            << "unknown" << std::endl;
  EXPECT_FALSE(errors.tell_of_low_memory());
  std::cerr << "Schema error: "
            << "std::bad_alloc" << std::endl;
  EXPECT_TRUE(errors.tell_of_low_memory());
}

TEST(LibraryErrors, LeaveTheStreamAsItWas) {
  std::streambuf* const before = std::cerr.rdbuf();
  { const LibraryErrors errors; }
  EXPECT_EQ(std::cerr.rdbuf(), before);
}

}  // namespace
}  // namespace ort_ed
