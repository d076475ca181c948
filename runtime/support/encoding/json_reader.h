#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace ort_ed {

// Reads a JSON text from its beginning to its end, asked for one value after the other: for texts whose form
// is known. Everything throws std::invalid_argument, "byte 17: ...", for what is not there.
class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  // Calls `element` at the start of each element, which must read it.
  void ReadArray(const std::function<void()>& element);
  // Calls `member` with each name at the start of its value, which it must read. No name may occur twice.
  void ReadObject(const std::function<void(const std::string& name)>& member);
  std::string ReadString();
  double ReadNumber();  // finite
  bool ReadBool();
  void ReadEnd();

  [[noreturn]] void Fail(const std::string& what) const;

 private:
  void SkipBlanks();
  bool Skip(char c);
  void Expect(char c);
  void AppendEscape(std::string& to);
  uint32_t ReadHex();

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace ort_ed
