#pragma once

namespace ort_ed {

// Of a variant: no value. Beside strings and vectors std::monostate would not do: of types that can all be
// moved without an exception, libstdc++ takes it that one of them is always there, and crashes where memory
// runs out while a variant of them is copied.
struct Nothing {
  Nothing() = default;
  Nothing(const Nothing&) noexcept {}
  Nothing& operator=(const Nothing&) noexcept { return *this; }
  friend bool operator==(const Nothing&, const Nothing&) { return true; }
};

}  // namespace ort_ed
