#include "tools/jobs/settings/toml_file.h"

#include <fmt/format.h>

#include "ort_ed/error.h"
#include "runtime/support/files/read_file.h"
#include "runtime/support/limits.h"

namespace ort_ed {
namespace {

[[noreturn]] void Fail(const std::string& path, size_t line, const std::string& why) {
  throw Error(ErrorCode::kInvalidArgument, fmt::format("{}:{}: {}", path, line, why));
}

// Finds keys such as a.a.a.a that lie deeper than can be taken apart again. The parser has a limit for
// brackets and none for these.
class KeyDepth {
 public:
  KeyDepth(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  void Check() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
        continue;
      }
      if (c == '"' || c == '\'') {
        SkipString(c);
        continue;
      }
      if (c == '\n') ++line_;
      if (c == '.' && ++dots_ >= kMaxSettingsDepth)
        Fail(path_, line_, fmt::format("tables lie within one another more than {} deep", kMaxSettingsDepth));
      if (std::string_view("=,[]{}\n").find(c) != std::string_view::npos) dots_ = 0;
      ++at_;
    }
  }

 private:
  // To behind its end; what is wrong with it the parser tells.
  void SkipString(char quote) {
    const std::string delimiter(text_.substr(at_).starts_with(std::string(3, quote)) ? 3 : 1, quote);
    for (at_ += delimiter.size(); at_ < text_.size(); ++at_) {
      if (text_[at_] == '\n') ++line_;
      if (text_[at_] == '\n' && delimiter.size() == 1) return;
      if (text_[at_] == '\\' && quote == '"') {
        ++at_;
      } else if (text_.substr(at_).starts_with(delimiter)) {
        at_ += delimiter.size();
        if (delimiter.size() > 1) SkipLastQuotes(quote);
        return;
      }
    }
    at_ = std::min(at_, text_.size());
  }

  // Text within three quotes may end in two of its own.
  void SkipLastQuotes(char quote) {
    for (int own = 0; own < 2 && at_ < text_.size() && text_[at_] == quote; ++own) ++at_;
  }

  std::string_view text_;
  const std::string& path_;
  size_t at_ = 0, line_ = 1;
  int dots_ = 0;
};

}  // namespace

toml::table ParseToml(const std::string& text, const std::string& path) {
  KeyDepth(text, path).Check();
  try {
    return toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    Fail(path, error.source().begin.line, std::string(error.description()));
  }
}

toml::table ParseTomlFile(const std::string& path, const std::string& what) {
  const auto bytes = ReadFile(path, what, kMaxSettingsBytes);
  return ParseToml({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

}  // namespace ort_ed
