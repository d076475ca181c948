#pragma once

#include "tools/jobs/train/run_setup.h"

namespace ort_ed {

// What negatives need to know of the run's rows. `contract`: of the model.
RowContext RowsOf(const RunSetup& setup, const EnergyContract& contract);

// Method and base, where nothing was said of them, by the data.
void ChooseMethod(RunSetup& setup, Observer& observer);

// Makes the negatives; nothing of the options is left to choose after this.
void ChooseNegatives(RunSetup& setup, const EnergyContract& contract, Observer& observer);

}  // namespace ort_ed
