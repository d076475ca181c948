#pragma once

namespace ort_ed {

extern const char kReportCss[];
extern const char kReportJs[];

}  // namespace ort_ed
