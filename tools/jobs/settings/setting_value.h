#pragma once

#include <string>

#include "tools/jobs/train/train_config.h"

namespace ort_ed {

// Values of settings from and to text. Each Parse throws std::invalid_argument with the reason alone, such as
// "a whole number is expected"; the caller knows where the text came from.
void ParseValue(const std::string& text, std::string& value);
void ParseValue(const std::string& text, int64_t& value);
void ParseValue(const std::string& text, double& value);
void ParseValue(const std::string& text, bool& value);
void ParseValue(const std::string& text, Period& value);
void ParseValue(const std::string& text, Words& value);        // separated by commas
void ParseValue(const std::string& text, Numbers& value);      // separated by commas
void ParseValue(const std::string& text, Assignments& value);  // adds one NAME=VALUE

// As TOML writes it.
std::string ToTomlValue(const std::string& value);
std::string ToTomlValue(int64_t value);
std::string ToTomlValue(double value);
std::string ToTomlValue(bool value);
std::string ToTomlValue(const Period& value);
std::string ToTomlValue(const Words& value);
std::string ToTomlValue(const Numbers& value);  // one alone without brackets
std::string ToTomlValue(const Assignments& value);

// Throws std::invalid_argument, "must lie in (0, 1]" or "must be one of adam, adamw, sgd", if the setting's
// value is outside its domain.
void CheckDomain(const TrainConfig& config, const Setting& setting);

}  // namespace ort_ed
