#include "tools/jobs/tables/column_profile.h"

#include <algorithm>

#include "ort_ed/random.h"
#include "runtime/data/table/cell_format.h"

namespace ort_ed {
namespace {

constexpr uint32_t kReservoirPurpose = 0x72657376;  // "resv"
constexpr double kMostStrays = 0.05;

uint64_t HashText(const std::string& text) {
  uint64_t hash = 0xCBF29CE484222325ULL;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return hash ^ hash >> 29;
}

}  // namespace

void ColumnProfile::Add(const std::string& cell, bool decimal_comma) {
  const uint64_t hash = HashText(cell);
  hash_ = (hash_ ^ hash) * 0x9E3779B97F4A7C15ULL;
  hash_ ^= hash_ >> 32;
  decimal_comma_ = decimal_comma;
  ++rows_;
  if (IsMissingCell(cell)) {
    ++missing_;
    return;
  }
  if (unique_ && seen_.size() < kMostNumbers) unique_ = seen_.insert(hash).second;
  if (!unique_ && !seen_.empty()) std::unordered_set<uint64_t>().swap(seen_);
  AddText(cell);
  const CellValue value = ReadCellValue(cell, decimal_comma);
  counts_up_ &= value.type == CellValues::kInteger && (present() == 1 || value.number == last_ + 1);
  if (value.type == CellValues::kText || !TakeForm(value)) {
    if (untyped_++ == 0) untyped_example_ = cell;
    return;
  }
  typed_as_ = typed_ == 0 ? value.type : WidestType(typed_as_, value.type);
  ++typed_;
  const bool two_ways = value.form.day_first && value.form.month_first;
  AddNumber(value.number, two_ways && *value.form.day_first == value.number ? *value.form.month_first
                          : two_ways                                        ? *value.form.day_first
                                                                            : value.number);
}

bool ColumnProfile::TakeForm(const CellValue& value) {
  const CellForm& form = value.form;
  const bool has_unit = !form.before.empty() || !form.after.empty();
  const bool knows_unit = !form_.before.empty() || !form_.after.empty();
  if (has_unit && knows_unit && (form.before != form_.before || form.after != form_.after)) return false;
  if (has_unit) {
    form_.before = form.before;
    form_.after = form.after;
  }
  if (form.thousands != 0) form_.thousands = form.thousands;
  form_.decimals = std::max(form_.decimals, form.decimals);
  form_.decimal_comma |= form.decimal_comma;
  if (form_.separator == 0) {
    form_.separator = form.separator;
    form_.year_first = form.year_first;
    form_.letter = form.letter;
  }
  form_.filled_up &= form.filled_up;
  form_.seconds |= form.seconds;
  ambiguous_ += form.day_first || form.month_first ? 1 : 0;
  day_only_ += form.day_first && !form.month_first ? 1 : 0;
  month_only_ += form.month_first && !form.day_first ? 1 : 0;
  return true;
}

bool ColumnProfile::month_first() const {
  if (ambiguous_ == 0 || form_.separator == '.') return false;
  return day_only_ == month_only_ ? form_.separator == '/' : month_only_ > day_only_;
}

bool ColumnProfile::swaps() const { return ambiguous_ > 0 && month_first() != (form_.separator == '/'); }

std::string ColumnProfile::format() const {
  using enum CellValues;
  const CellValues of = type();
  if (of == kInteger || of == kNumber) {
    const NumberFormat format{.before = form_.before,
                              .after = form_.after,
                              .thousands = form_.thousands,
                              .decimal_comma = form_.decimal_comma || form_.thousands == '.',
                              .decimals = form_.decimals > 0 ? form_.decimals : -1};
    return format.is_plain() ? "" : ToText(format);
  }
  const std::string clock = std::string(form_.filled_up || of == kTime ? "hh" : "h") + ":mm" +
                            (form_.seconds || of == kTime ? ":ss" : "");
  if (of == kClock) return clock == "hh:mm:ss" ? "" : clock;
  if (of != kDate && of != kTime) return "";
  const std::string day = form_.filled_up || of == kTime ? "DD" : "D",
                    month = form_.filled_up || of == kTime ? "MM" : "M", separator(1, form_.separator);
  const std::string date = form_.year_first ? "YYYY" + separator + month + separator + day
                           : month_first()  ? month + separator + day + separator + "YYYY"
                                            : day + separator + month + separator + "YYYY";
  const std::string text = of == kDate ? date : date + (form_.letter ? "T" : " ") + clock;
  return text == "YYYY-MM-DD" || text == "YYYY-MM-DDThh:mm:ss" ? "" : text;
}

void ColumnProfile::AddText(const std::string& cell) {
  const auto found = texts_.find(cell);
  if (found != texts_.end()) {
    ++found->second;
  } else if (texts_.size() < kMostTexts && text_bytes_ + cell.size() <= kMostTextBytes) {
    texts_.emplace(cell, 1);
    text_bytes_ += cell.size();
  } else {
    too_many_texts_ = true;
  }
}

void ColumnProfile::AddNumber(double number, double swapped) {
  smallest_swapped_ = typed_ == 1 ? swapped : std::min(smallest_swapped_, swapped);
  largest_swapped_ = typed_ == 1 ? swapped : std::max(largest_swapped_, swapped);
  smallest_ = typed_ == 1 ? number : std::min(smallest_, number);
  largest_ = typed_ == 1 ? number : std::max(largest_, number);
  last_ = number;
  if (numbers_.size() < kMostNumbers) {
    numbers_.push_back(number);
    return;
  }
  RandomStream random(0, kReservoirPurpose, static_cast<uint64_t>(typed_), 0);
  const auto place = static_cast<uint64_t>(random.UniformDouble() * static_cast<double>(typed_));
  if (place < numbers_.size()) numbers_[place] = number;
}

CellValues ColumnProfile::type() const {
  const bool few_strays = static_cast<double>(untyped_) <= kMostStrays * static_cast<double>(present());
  return typed_ > 0 && few_strays ? typed_as_ : CellValues::kText;
}

std::vector<double> ColumnProfile::SortedNumbers() const {
  std::vector<double> sorted = numbers_;
  if (swaps())
    for (double& number : sorted) number = SwapDayAndMonth(number, type()).value_or(number);
  std::ranges::sort(sorted);
  return sorted;
}

}  // namespace ort_ed
