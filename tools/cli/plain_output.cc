#include "tools/cli/plain_output.h"

#include <ostream>

namespace ort_ed {

// Those beyond ASCII, U+0080 to U+009F, are 0xC2 and a byte below 0xA0.
std::string Plain(std::string_view text) {
  std::string plain(text);
  for (size_t i = 0; i < plain.size(); ++i) {
    const auto c = static_cast<unsigned char>(plain[i]);
    if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7F) plain[i] = '?';
    if (i > 0 && plain[i - 1] == '\xC2' && c >= 0x80 && c < 0xA0) plain[i - 1] = plain[i] = '?';
  }
  return plain;
}

PlainOutput::PlainOutput(std::ostream& stream) : stream_(stream), target_(stream.rdbuf(this)) {}

PlainOutput::~PlainOutput() { stream_.rdbuf(target_); }

PlainOutput::int_type PlainOutput::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  const char character = traits_type::to_char_type(c);
  return xsputn(&character, 1) == 1 ? c : traits_type::eof();
}

std::streamsize PlainOutput::xsputn(const char* text, std::streamsize size) {
  const std::string plain = Plain({text, static_cast<size_t>(size)});
  return target_->sputn(plain.data(), size);
}

int PlainOutput::sync() { return target_->pubsync(); }

}  // namespace ort_ed
