#pragma once

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ort_ed/error.h"

namespace ort_ed {

// The Error that `call` throws; fails the test if it throws none.
template <typename Call>
Error ErrorOf(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "expected an ort_ed::Error";
  return Error(ErrorCode::kRuntime, "no error");
}

// Expects that `call` throws an Error of `code` whose message contains each of `parts`.
template <typename Call, typename... Parts>
void ExpectError(ErrorCode code, Call&& call, const Parts&... parts) {
  const Error error = ErrorOf(call);
  EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(code)) << error.what();
  for (const std::string& part : std::initializer_list<std::string>{parts...})
    EXPECT_THAT(std::string(error.what()), testing::HasSubstr(part));
}

}  // namespace ort_ed
