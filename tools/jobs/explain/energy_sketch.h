#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ort_ed/energy_model.h"
#include "ort_ed/metadata.h"
#include "runtime/data/row_reader.h"
#include "tools/jobs/observer.h"

namespace ort_ed {

// How many rows of training data a sketch is made of, at most.
inline constexpr int64_t kSketchRows = 10000;

// Of the finite ones among the energies; nothing where there are none.
std::optional<EnergySketch> SketchEnergies(std::vector<float> energies);

// Of these rows under the model. Nothing, too, where the observer asks to stop.
std::optional<EnergySketch> SketchRows(const EnergyModel& model, const RowTable& rows, Observer& observer);

// As it stands in a model.
std::map<std::string, std::string> ToMetadata(const EnergySketch& sketch);

}  // namespace ort_ed
