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
  ++typed_;
  AddNumber(ReadingsOf(value));
}

ColumnProfile::Readings ColumnProfile::ReadingsOf(const CellValue& value) {
  const CellForm& form = value.form;
  const Reading usual{value.type, value.number};
  Readings readings{.usual = usual, .otherwise = usual};
  if (form.unclear != 0) {
    readings.mark = form.unclear;
    readings.otherwise = {form.thousands == 0 ? CellValues::kInteger : CellValues::kNumber, form.otherwise};
  } else if (form.day_first && form.month_first) {
    readings.mark = form.separator;
    readings.otherwise.number = *form.day_first == value.number ? *form.month_first : *form.day_first;
  }
  return readings;
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
  if (value.type == CellValues::kInteger || value.type == CellValues::kNumber) marks_.Add(value);
  if (form.unclear == 0) {
    if (form.thousands != 0) form_.thousands = form.thousands;
    if (form.decimal == ',') form_.decimal = ',';
    form_.decimals = std::max(form_.decimals, form.decimals);
  }
  if (form_.separator == 0) {
    form_.separator = form.separator;
    form_.year_first = form.year_first;
    form_.letter = form.letter;
  }
  form_.filled_up &= form.filled_up;
  form_.hours_filled_up &= form.hours_filled_up;
  if (!form.half_of_day.empty()) form_.half_of_day = form.half_of_day;
  form_.seconds |= form.seconds;
  form_.zone |= form.zone;
  ambiguous_ += form.day_first || form.month_first ? 1 : 0;
  day_only_ += form.day_first && !form.month_first ? 1 : 0;
  month_only_ += form.month_first && !form.day_first ? 1 : 0;
  return true;
}

bool ColumnProfile::month_first() const {
  if (ambiguous_ == 0 || form_.separator == '.') return false;
  return day_only_ == month_only_ ? form_.separator == '/' : month_only_ > day_only_;
}

bool ColumnProfile::swaps(char mark) const {
  const bool dates = ambiguous_ > 0;
  if (dates || mark == 0) return dates && mark != 0 && month_first() != (form_.separator == '/');
  const bool taken_as_thousands = mark == ',' && !decimal_comma_;
  return marks_.AreThousands(mark, decimal_comma_) != taken_as_thousands;
}

std::string ColumnProfile::format() const {
  using enum CellValues;
  const CellValues of = type();
  if (of == kInteger || of == kNumber) return NumberFormatText();
  const std::string clock = std::string(form_.hours_filled_up ? "hh" : "h") + ":mm" +
                            (form_.seconds ? ":ss" : "") + form_.half_of_day;
  if (of == kClock) return clock == "hh:mm:ss" ? "" : clock;
  if (of != kDate && of != kTime) return "";
  const std::string day = form_.filled_up ? "DD" : "D", month = form_.filled_up ? "MM" : "M",
                    separator(1, form_.separator);
  const std::string date = form_.year_first ? "YYYY" + separator + month + separator + day
                           : month_first()  ? month + separator + day + separator + "YYYY"
                                            : day + separator + month + separator + "YYYY";
  const std::string text =
      of == kDate ? date : date + (form_.letter ? "T" : " ") + clock + (form_.zone ? "Z" : "");
  return text == "YYYY-MM-DD" || text == "YYYY-MM-DDThh:mm:ss" ? "" : text;
}

std::string ColumnProfile::NumberFormatText() const {
  NumberFormat format{.before = form_.before,
                      .after = form_.after,
                      .thousands = form_.thousands,
                      .decimal_comma = form_.decimal == ',',
                      .decimals = form_.decimals > 0 ? form_.decimals : -1};
  for (const char mark : {'.', ','}) {
    if (!extents_.contains(mark)) continue;
    if (marks_.AreThousands(mark, decimal_comma_)) {
      format.thousands = mark;
    } else {
      format.decimal_comma |= mark == ',';
      if (format.decimals > 0) format.decimals = std::max(format.decimals, 3);
    }
  }
  format.decimal_comma |= format.thousands == '.';
  return format.is_plain() ? "" : ToText(format);
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

void ColumnProfile::Extent::Add(const Extent& other) {
  if (other.count == 0) return;
  type = count == 0 ? other.type : WidestType(type, other.type);
  smallest = count == 0 ? other.smallest : std::min(smallest, other.smallest);
  largest = count == 0 ? other.largest : std::max(largest, other.largest);
  count += other.count;
}

ColumnProfile::Extent ColumnProfile::extent() const {
  Extent all;
  for (const auto& [mark, extents] : extents_) all.Add(extents[swaps(mark) ? 1 : 0]);
  return all;
}

void ColumnProfile::AddNumber(const Readings& readings) {
  const auto& [usual, otherwise, mark] = readings;
  auto& extents = extents_[mark];
  extents[0].Add({usual.type, usual.number, usual.number, 1});
  extents[1].Add({otherwise.type, otherwise.number, otherwise.number, 1});
  last_ = usual.number;
  const Kept kept{usual.number, otherwise.number, mark};
  if (numbers_.size() < kMostNumbers) {
    numbers_.push_back(kept);
    return;
  }
  RandomStream random(0, kReservoirPurpose, static_cast<uint64_t>(typed_), 0);
  const auto place = static_cast<uint64_t>(random.UniformDouble() * static_cast<double>(typed_));
  if (place < numbers_.size()) numbers_[place] = kept;
}

CellValues ColumnProfile::type() const {
  const bool few_strays = static_cast<double>(untyped_) <= kMostStrays * static_cast<double>(present());
  return typed_ > 0 && few_strays ? extent().type : CellValues::kText;
}

std::vector<double> ColumnProfile::SortedNumbers() const {
  std::map<char, bool> swapped;
  for (const auto& [mark, extents] : extents_) swapped[mark] = swaps(mark);
  std::vector<double> sorted;
  for (const Kept& number : numbers_)
    sorted.push_back(swapped.at(number.mark) ? number.otherwise : number.usual);
  std::ranges::sort(sorted);
  return sorted;
}

}  // namespace ort_ed
