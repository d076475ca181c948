#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace ort_ed {

// Whether `error` tells of low memory, in whatever way a library tells it: as bad_alloc; as the length that
// no vector could ever have; as an error of the system, which starts no thread then; or as the message of a
// bad_alloc that was caught, at the end of a message of its own.
inline bool IsLowMemory(const std::exception& error) noexcept {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return true;
  if (dynamic_cast<const std::length_error*>(&error) != nullptr) return true;
  if (const auto* system = dynamic_cast<const std::system_error*>(&error))
    return system->code() == std::errc::not_enough_memory ||
           system->code() == std::errc::resource_unavailable_try_again;
  return std::string_view(error.what()).ends_with("std::bad_alloc");
}

}  // namespace ort_ed
