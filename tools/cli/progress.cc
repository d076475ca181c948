#include "tools/cli/progress.h"

#include <algorithm>
#include <cstdio>

#include <spdlog/spdlog.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "runtime/support/plain_text.h"

namespace ort_ed {
namespace {

constexpr std::chrono::milliseconds kBarPeriod(100);
constexpr std::chrono::seconds kLogPeriod(10);

std::string Duration(double seconds) {
  const auto s = static_cast<int64_t>(seconds + 0.5);
  if (s >= 3600) return fmt::format("{}h{:02}m", s / 3600, s / 60 % 60);
  if (s >= 60) return fmt::format("{}m{:02}s", s / 60, s % 60);
  return fmt::format("{}s", s);
}

size_t TerminalWidth() {
  constexpr size_t kUsual = 80;
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsual;
}

}  // namespace

std::string FitToWidth(const ProgressParts& parts, size_t width) {
  constexpr size_t kShortestBar = 4, kLongestBar = 24, kAround = 3;  // [] and a blank
  const std::string tail = parts.left + parts.details;
  std::string rest = parts.count + parts.rate + tail;
  if (parts.what.size() + rest.size() >= width) rest = parts.count + tail;
  const size_t taken = parts.what.size() + rest.size() + kAround + 1;
  std::string bar;
  if (parts.fraction && taken + kShortestBar <= width) {
    const size_t length = std::min(kLongestBar, width - taken);
    const auto filled = static_cast<size_t>(*parts.fraction * static_cast<double>(length));
    bar = "[" + std::string(filled, '#') + std::string(length - filled, ' ') + "] ";
  }
  return CutToWidth(parts.what + bar + rest, width);
}

std::string CutToWidth(const std::string& line, size_t width) {
  const auto is_start = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
  size_t end = 0;
  for (size_t columns = 0; end < line.size(); ++end)
    if (is_start(line[end]) && ++columns >= width) break;
  return line.substr(0, end);
}

std::string RateText(double per_second) {
  if (per_second >= 1e6) return fmt::format("{:.1f}M", per_second / 1e6);
  if (per_second >= 1e4) return fmt::format("{:.1f}k", per_second / 1e3);
  if (per_second >= 100) return fmt::format("{:.0f}", per_second);
  return fmt::format("{:.3g}", per_second);
}

Progress::Progress(std::string what, std::string unit, int64_t total)
    : what_(std::move(what)),
      unit_(std::move(unit)),
      total_(total),
      terminal_(isatty(STDERR_FILENO)),
      start_(Clock::now()),
      last_(start_) {}

Progress::~Progress() { Finish(); }

void Progress::Update(int64_t done, const std::string& details) {
  const auto now = Clock::now();
  if (first_ < 0) {
    first_ = done;
    start_ = now;
  }
  if (now - last_ < (terminal_ ? Clock::duration(kBarPeriod) : Clock::duration(kLogPeriod))) return;
  last_ = now;
  const ProgressParts parts = Describe(done, details);
  if (terminal_) {
    std::fprintf(stderr, "\r\033[K%s", Plain(FitToWidth(parts, TerminalWidth())).c_str());
    std::fflush(stderr);
    bar_shown_ = true;
  } else {
    spdlog::info("{}{}{}{}{}", parts.what, parts.count, parts.rate, parts.left, parts.details);
  }
}

ProgressParts Progress::Describe(int64_t done, const std::string& details) const {
  const double seconds = std::chrono::duration<double>(last_ - start_).count();
  const double rate = seconds > 0 ? static_cast<double>(done - first_) / seconds : 0;
  ProgressParts parts{.what = what_ + " ",
                      .count = fmt::format("{} {}", done, unit_),
                      .rate = fmt::format(", {} {}/s", RateText(rate), unit_),
                      .details = details.empty() ? "" : ", " + details};
  if (total_ <= 0) return parts;
  parts.fraction = std::min(1.0, static_cast<double>(done) / static_cast<double>(total_));
  parts.count = fmt::format("{:.0f}% {}/{} {}", *parts.fraction * 100, done, total_, unit_);
  if (rate > 0) parts.left = fmt::format(", ETA {}", Duration(static_cast<double>(total_ - done) / rate));
  return parts;
}

void Progress::Finish() {
  if (bar_shown_) std::fprintf(stderr, "\r\033[K");
  bar_shown_ = false;
}

}  // namespace ort_ed
