#pragma once

#include <string>

#include "tools/jobs/report/report.h"

namespace ort_ed {

// What a page tells: a model, what was found out of it, and the data, if there is any.
struct ReportView {
  const ModelSource& source;
  const ReportResult& result;
  const ReportData* data;  // null: none
};

// Parts of the page; empty where there is nothing to show.
std::string KeyFigures(const ReportView& view);
std::string Curves(const ReportView& view);
std::string Samples(const ReportView& view);
std::string EnergyHistograms(const ReportView& view);
std::string MeansAndCorrelations(const ReportView& view);
std::string WeightPictures(const ReportView& view);
std::string ExtremeRows(const ReportView& view);
std::string Settings(const ReportView& view);

}  // namespace ort_ed
