#include "tools/cli/plain_output.h"

#include <algorithm>
#include <array>
#include <ostream>
#include <span>

namespace ort_ed {
namespace {

// Those beyond ASCII, U+0080 to U+009F, are 0xC2 and a byte below 0xA0.
void MakePlain(std::span<char> text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7F) text[i] = '?';
    if (i > 0 && text[i - 1] == '\xC2' && c >= 0x80 && c < 0xA0) text[i - 1] = text[i] = '?';
  }
}

}  // namespace

std::string Plain(std::string_view text) {
  std::string plain(text);
  MakePlain(plain);
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
  std::array<char, 512> part;
  std::streamsize done = 0;
  while (done < size) {
    auto count = std::min<std::streamsize>(size - done, std::ssize(part));
    if (done + count < size && text[done + count - 1] == '\xC2') --count;  // with the byte behind it
    std::copy_n(text + done, count, part.begin());
    MakePlain({part.data(), static_cast<size_t>(count)});
    const std::streamsize written = target_->sputn(part.data(), count);
    done += written;
    if (written < count) break;
  }
  return done;
}

int PlainOutput::sync() { return target_->pubsync(); }

}  // namespace ort_ed
