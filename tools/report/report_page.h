#pragma once

#include <string>

#include "tools/report/sections.h"

namespace ort_ed {

// One HTML page with everything in it: nothing is loaded from elsewhere. Text of files and models is escaped.
std::string ReportPage(const ReportView& view);

}  // namespace ort_ed
