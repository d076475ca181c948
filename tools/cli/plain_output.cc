#include "tools/cli/plain_output.h"

#include <algorithm>
#include <array>
#include <ostream>

#include "runtime/support/peer_wait.h"
#include "runtime/support/plain_text.h"

namespace ort_ed {

PlainOutput::PlainOutput(std::ostream& stream) : stream_(stream), target_(stream.rdbuf(this)) {}

PlainOutput::~PlainOutput() { stream_.rdbuf(target_); }

PlainOutput::int_type PlainOutput::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  const char character = traits_type::to_char_type(c);
  return xsputn(&character, 1) == 1 ? c : traits_type::eof();
}

std::streamsize PlainOutput::xsputn(const char* text, std::streamsize size) {
  const PeerWait wait;
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

int PlainOutput::sync() {
  const PeerWait wait;
  return target_->pubsync();
}

}  // namespace ort_ed
