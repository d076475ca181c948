#include "runtime/data/npy.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>

#include "runtime/data/formats.h"

namespace ort_ed {
namespace {

constexpr size_t kMagicBytes = 6;
constexpr size_t kMaxHeaderBytes = size_t{1} << 16;
constexpr size_t kAlignment = 64;

// The header is a Python dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }. This reads
// just as much of Python's syntax.
class HeaderParser {
 public:
  HeaderParser(const InputStream& stream, std::string_view text) : stream_(stream), text_(text) {}

  ArrayLayout Parse() {
    Expect('{');
    while (!Accept('}')) {
      const std::string key = String();
      Expect(':');
      if (key == "descr") {
        Descr();
      } else if (key == "fortran_order") {
        fortran_order_ = Boolean();
      } else if (key == "shape") {
        shape_ = Tuple();
      } else {
        Damaged("unknown entry '" + key + "'");
      }
      if (!Accept(',')) {
        Expect('}');
        break;
      }
    }
    return Finish();
  }

 private:
  ArrayLayout Finish() {
    SkipSpace();
    if (!text_.empty()) Damaged("text behind the dictionary");
    if (!type_ || !fortran_order_ || !shape_) Damaged("descr, fortran_order or shape is missing");
    const auto wide_axes =
        std::count_if(shape_->begin(), shape_->end(), [](int64_t size) { return size != 1; });
    if (*fortran_order_ && wide_axes > 1)
      stream_.Fail("is in Fortran order; save numpy.ascontiguousarray(array) instead");
    return {.type = *type_, .big_endian = big_endian_, .shape = *shape_};
  }

  void Descr() {
    SkipSpace();
    if (text_.starts_with('[')) stream_.Fail("is a structured array; save its fields as one plain array");
    const std::string descr = String();
    static const std::map<std::string_view, CellType> types = {
        {"b1", CellType::kBool},   {"u1", CellType::kUint8},  {"i1", CellType::kInt8},
        {"u2", CellType::kUint16}, {"i2", CellType::kInt16},  {"u4", CellType::kUint32},
        {"i4", CellType::kInt32},  {"u8", CellType::kUint64}, {"i8", CellType::kInt64},
        {"f4", CellType::kFloat},  {"f8", CellType::kDouble},
    };
    const auto type = types.find(std::string_view(descr).substr(std::min<size_t>(1, descr.size())));
    if (type == types.end() || std::string_view("<>|=").find(descr[0]) == std::string_view::npos)
      stream_.Fail("has values of type '" + descr +
                   "'; save it as bool, an integer type, float32 or float64, e.g. array.astype('uint8')");
    type_ = type->second;
    big_endian_ = descr[0] == '>';
  }

  std::string String() {
    SkipSpace();
    if (text_.empty() || (text_[0] != '\'' && text_[0] != '"')) Damaged("a string is missing");
    const size_t end = text_.find(text_[0], 1);
    if (end == std::string_view::npos) Damaged("a string does not end");
    const std::string string(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return string;
  }

  bool Boolean() {
    SkipSpace();
    for (const std::string_view word : {"True", "False"}) {
      if (!text_.starts_with(word)) continue;
      text_.remove_prefix(word.size());
      return word == "True";
    }
    Damaged("fortran_order is neither True nor False");
  }

  std::vector<int64_t> Tuple() {
    Expect('(');
    std::vector<int64_t> sizes;
    while (!Accept(')')) {
      sizes.push_back(Size());
      if (!Accept(',')) {
        Expect(')');
        break;
      }
    }
    return sizes;
  }

  int64_t Size() {
    SkipSpace();
    int64_t size = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), size);
    if (error != std::errc()) Damaged("the shape is not made of whole numbers below 2^63");
    if (size < 0) Damaged("the shape has a negative size, " + std::to_string(size));
    text_.remove_prefix(static_cast<size_t>(end - text_.data()));
    if (text_.starts_with('L')) text_.remove_prefix(1);  // written by Python 2
    return size;
  }

  void SkipSpace() { text_.remove_prefix(std::min(text_.find_first_not_of(" \n\t\r"), text_.size())); }

  bool Accept(char wanted) {
    SkipSpace();
    if (!text_.starts_with(wanted)) return false;
    text_.remove_prefix(1);
    return true;
  }

  void Expect(char wanted) {
    if (!Accept(wanted)) Damaged(std::string("'") + wanted + "' is missing");
  }

  [[noreturn]] void Damaged(const std::string& what) const {
    stream_.Fail("has a damaged .npy header (" + what + "); write it again with numpy.save");
  }

  const InputStream& stream_;
  std::string_view text_;
  std::optional<CellType> type_;
  std::optional<bool> fortran_order_;
  std::optional<std::vector<int64_t>> shape_;
  bool big_endian_ = false;
};

std::string Descr(const std::string& descr, int64_t rows, const std::vector<int64_t>& row_shape) {
  std::string shape = std::to_string(rows) + ",";
  for (size_t axis = 0; axis < row_shape.size(); ++axis)
    shape += (axis == 0 ? " " : ", ") + std::to_string(row_shape[axis]);
  return "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + shape + "), }";
}

// All values of the stream as doubles; memory grows only with what is really there.
template <typename T>
std::vector<double> ReadValues(InputStream& stream, const ArrayLayout& layout, const RowShape& shape) {
  std::vector<double> values;
  std::vector<T> row(static_cast<size_t>(shape.columns));
  for (int64_t i = 0; i < shape.rows; ++i) {
    const size_t bytes = row.size() * sizeof(T);
    if (stream.Read(row.data(), bytes) < bytes) FailTruncated(stream, shape.rows, i);
    if (layout.big_endian) ReverseBytes(row.data(), shape.columns);
    values.insert(values.end(), row.begin(), row.end());
  }
  CheckNothingFollows(stream, shape.rows);
  return values;
}

}  // namespace

ArrayLayout ReadNpyHeader(InputStream& stream) {
  const auto cut_off = [&] { stream.Fail("is cut off within its .npy header; write or copy it again"); };
  const auto byte = [](std::string_view text, size_t at) {
    return static_cast<size_t>(static_cast<uint8_t>(text[at]));
  };
  std::string_view start = stream.Peek(kMagicBytes + 6);
  if (start.size() < kMagicBytes + 4) cut_off();
  const size_t version = byte(start, kMagicBytes);
  if (version < 1 || version > 3)
    stream.Fail("has .npy format version " + std::to_string(version) + "; versions 1 to 3 can be read");
  const size_t length_bytes = version == 1 ? 2 : 4;
  const size_t text_at = kMagicBytes + 2 + length_bytes;
  if (start.size() < text_at) cut_off();
  size_t length = 0;
  for (size_t i = length_bytes; i > 0; --i) length = length << 8 | byte(start, kMagicBytes + 1 + i);
  if (length > kMaxHeaderBytes)
    stream.Fail("tells a .npy header of " + std::to_string(length) + " bytes; the file is damaged");
  const std::string_view whole = stream.Peek(text_at + length);
  if (whole.size() < text_at + length) cut_off();
  const ArrayLayout layout = HeaderParser(stream, whole.substr(text_at, length)).Parse();
  stream.Skip(text_at + length);
  return layout;
}

std::string NpyHeader(const std::string& descr, int64_t rows, const std::vector<int64_t>& row_shape) {
  const size_t longest = kMagicBytes + 4 + Descr(descr, INT64_MAX, row_shape).size() + 1;
  const size_t total = (longest + kAlignment - 1) / kAlignment * kAlignment;
  std::string text = Descr(descr, rows, row_shape);
  text.resize(total - kMagicBytes - 4 - 1, ' ');
  text += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

NpyArray ReadNpy(const std::string& path) {
  InputStream stream(path);
  if (!stream.Peek(kMagicBytes).starts_with("\x93NUMPY"))
    stream.Fail("is not a .npy file: it does not begin with the bytes \\x93NUMPY; write it with numpy.save");
  const ArrayLayout layout = ReadNpyHeader(stream);
  const RowShape shape = CheckedRowShape(stream, layout);
  return {.shape = layout.shape, .values = VisitCellType(layout.type, [&]<typename T>(T) {
                                   return ReadValues<T>(stream, layout, shape);
                                 })};
}

}  // namespace ort_ed
