#include "tools/cli/library_errors.h"

#include <iostream>
#include <string_view>

namespace ort_ed {

LibraryErrors::LibraryErrors() : target_(std::cerr.rdbuf(this)) {}

LibraryErrors::~LibraryErrors() { std::cerr.rdbuf(target_); }

LibraryErrors::int_type LibraryErrors::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  return target_->sputc(traits_type::to_char_type(c));
}

// The message of an exception comes in one piece.
std::streamsize LibraryErrors::xsputn(const char* text, std::streamsize size) {
  const std::string_view written(text, static_cast<size_t>(size));
  if (written.find("std::bad_alloc") != std::string_view::npos) tell_of_low_memory_ = true;
  return target_->sputn(text, size);
}

int LibraryErrors::sync() { return target_->pubsync(); }

}  // namespace ort_ed
