#include "runtime/support/plain_text.h"

namespace ort_ed {

// Those beyond ASCII, U+0080 to U+009F, are 0xC2 and a byte below 0xA0.
void MakePlain(std::span<char> text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7F) text[i] = '?';
    if (i > 0 && text[i - 1] == '\xC2' && c >= 0x80 && c < 0xA0) text[i - 1] = text[i] = '?';
  }
}

std::string Plain(std::string_view text) {
  std::string plain(text);
  MakePlain(plain);
  return plain;
}

}  // namespace ort_ed
