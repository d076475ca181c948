#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ort_ed/options.h"

// Values of options: from and to text, from and to the members that hold them, and their domains.

namespace ort_ed {

// The value in the option's own type; text is parsed, whole numbers are numbers, one number is a list. Throws
// std::invalid_argument with the reason alone, as ParseOption() does.
OptionValue Converted(const Option& option, const OptionValue& value);

// Whether the value lies in the domain of a condition.
bool Meets(const OptionValue& value, const std::string& domain);

// Throws OptionError where code has set the member to what Option::Set() would refuse.
void CheckMember(const Option& option, const void* object);

// Throws OptionError, of `key`, for names that are not in the table.
void CheckKinds(const std::string& key, const std::string& kind, const KindTable& table);

bool Contains(const std::vector<std::string>& names, std::string_view name);
[[noreturn]] void RefuseName(const std::string& key, const std::string& name,
                             const std::vector<std::string>& known, bool joined = false);

}  // namespace ort_ed
