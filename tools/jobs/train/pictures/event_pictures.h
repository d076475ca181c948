#pragma once

#include <vector>

#include "tools/jobs/train/metrics.h"
#include "tools/jobs/train/run_setup.h"

namespace ort_ed {

// What TensorBoard shows beside the curves at a validation: histograms of the energies of held-out rows and
// of the negatives of the last step (with the averaged parameters; of a network that is trained without its
// base those of the network alone); these negatives and `samples`, rows of 0 and 1, as a table where the rows
// are those of one, and as grids where they are images. The training does not notice.
void AppendPictures(RunSetup& setup, const ContrastiveBatch& batch, const std::vector<float>& samples,
                    int64_t step, double time, MetricsLog& metrics);

}  // namespace ort_ed
