#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/jobs/train/event_file.h"

namespace ort_ed {

// One line of metrics.jsonl: {"step": 100, "time": 1700000000.0, "loss": 0.31, ...}.
struct MetricsLine {
  int64_t step = 0;
  double time = 0;  // seconds since 1970
  std::vector<NamedScalar> values;
};

// The metrics of a run: metrics.jsonl, and the same values as a TensorBoard event file, with pictures. What
// was appended has reached the operating system. Throws kIo.
class MetricsLog {
 public:
  // Keeps what a previous process of the run logged up to `last_step` and drops the rest (also a line that
  // was cut short), so that a resumed run repeats no line. The event file is written anew from what is kept,
  // and from the pictures in the former one, which goes when all is written. Nothing changes where one of the
  // files cannot be read.
  MetricsLog(const std::string& folder, int64_t last_step);

  void Append(const MetricsLine& line);
  // Only for TensorBoard.
  void AppendHistogram(int64_t step, double time, const std::string& name, std::span<const double> values) {
    events_->AppendHistogram(step, time, name, values);
  }
  void AppendImage(int64_t step, double time, const std::string& name, int height, int width,
                   const std::string& png) {
    events_->AppendImage(step, time, name, height, width, png);
  }
  void AppendText(int64_t step, double time, const std::string& name, const std::string& text) {
    events_->AppendText(step, time, name, text);
  }

  // What was found wrong with the files of a previous process.
  const std::vector<std::string>& warnings() const { return warnings_; }

  static std::string FileName() { return "metrics.jsonl"; }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  void WriteEvents(const std::string& folder, const std::vector<MetricsLine>& lines,
                   const std::vector<std::string>& pictures);

  std::string path_;
  std::vector<std::string> warnings_;
  std::unique_ptr<std::FILE, Close> file_;
  std::unique_ptr<EventFile> events_;
};

// The lines of a metrics file in their order; a last line that was cut short is left out. No file: no lines.
// Throws kBadData naming file and line.
std::vector<MetricsLine> ReadMetrics(const std::string& path);

// What a run folder holds of them: of the run itself, and of its first phase, if its base was learned there.
struct RunMetrics {
  std::vector<MetricsLine> run;
  std::vector<MetricsLine> base = {};
};
RunMetrics ReadRunMetrics(const std::string& folder);

// The last step that was logged; 0: none.
int64_t LastStep(const std::vector<MetricsLine>& metrics);

// The time of the steps by the rates that were logged, without the pauses of a run that was resumed.
std::optional<double> SecondsOfSteps(const std::vector<MetricsLine>& metrics);
std::optional<double> SecondsOfRun(const RunMetrics& metrics);  // of both phases

}  // namespace ort_ed
