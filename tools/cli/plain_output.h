#pragma once

#include <iosfwd>
#include <streambuf>
#include <string>
#include <string_view>

namespace ort_ed {

// The text as a terminal may show it: names out of files may hold what moves the cursor or renames the
// window. Control characters but the end of a line and the tabulator become '?'.
std::string Plain(std::string_view text);

// A stream whose text is plain while this lives.
class PlainOutput : std::streambuf {
 public:
  explicit PlainOutput(std::ostream& stream);
  ~PlainOutput() override;
  PlainOutput(const PlainOutput&) = delete;
  PlainOutput& operator=(const PlainOutput&) = delete;

 private:
  // Neither asks for memory: a stream takes a lack of it for a full disk.
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

  std::ostream& stream_;
  std::streambuf* const target_;
};

}  // namespace ort_ed
