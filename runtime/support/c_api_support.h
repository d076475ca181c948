#pragma once

// What the C interfaces of the shipped libraries share. Not installed.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "ort_ed/c_api.h"
#include "ort_ed/energy_model.h"
#include "ort_ed/error.h"
#include "runtime/support/low_memory.h"

struct ort_ed_model {
  ort_ed::EnergyModel model;
};

namespace ort_ed {

// Keeps the message for ort_ed_last_error() of this thread; returns `status`.
ORT_ED_API ort_ed_status SetLastError(ort_ed_status status, const char* message) noexcept;

// Runs `call`; every exception becomes a status and the last error.
template <typename Call>
ort_ed_status Guarded(Call&& call) noexcept {
  try {
    std::forward<Call>(call)();
    return ORT_ED_OK;
  } catch (const Error& error) {
    return SetLastError(static_cast<ort_ed_status>(error.code()), error.what());
  } catch (const std::exception& error) {
    if (IsLowMemory(error)) return SetLastError(ORT_ED_OUT_OF_MEMORY, "out of memory");
    return SetLastError(ORT_ED_INTERNAL, error.what());
  } catch (...) {
    return SetLastError(ORT_ED_INTERNAL, "unknown exception");
  }
}

inline void RequireNotNull(const void* pointer, const char* what) {
  if (pointer == nullptr)
    throw Error(ErrorCode::kInvalidArgument, std::string("the argument '") + what + "' is NULL");
}

// What the caller knew of the options when it was compiled; what later versions added keeps its default.
// `first_size` is their size in the first version that had them.
template <typename Options>
Options KnownOptions(const Options* given, const Options& defaults, size_t first_size, const char* how) {
  Options options = defaults;
  if (given == nullptr) return options;
  if (given->struct_size < first_size)
    throw Error(ErrorCode::kInvalidArgument, std::string("the options are not initialised; use ") + how);
  std::memcpy(&options, given, std::min(given->struct_size, sizeof(Options)));
  return options;
}

// An array argument of rows x width elements. Throws kInvalidArgument for NULL, negative or absurd sizes.
template <typename T>
std::span<T> ArrayArgument(T* data, int64_t rows, int64_t width, const char* what) {
  int64_t count = 0;
  if (rows < 0 || __builtin_mul_overflow(rows, width, &count) || count > INT64_MAX / int64_t{sizeof(T)})
    throw Error(ErrorCode::kInvalidArgument, "cannot take " + std::to_string(rows) + " rows");
  if (count > 0) RequireNotNull(data, what);
  return {data, static_cast<size_t>(count)};
}

}  // namespace ort_ed
