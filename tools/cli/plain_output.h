#pragma once

#include <iosfwd>
#include <streambuf>

namespace ort_ed {

// A stream whose text is plain (plain_text.h) while this lives.
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
