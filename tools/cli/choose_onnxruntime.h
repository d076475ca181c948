#pragma once

#include <string>
#include <vector>

namespace ort_ed {

// The command is linked with one ONNX Runtime, but may run with another of the same or a newer interface: the
// one in the folder that the option --onnxruntime DIR names, else the environment's ORT_ED_ONNXRUNTIME. Takes
// the option out of `words`, which are all of the command. Where that library is not the loaded one, the
// process begins anew with it. Throws UsageError for an option without its folder and kIo for a folder
// without a library that this program can use.
void ChooseOnnxRuntime(std::vector<std::string>& words);

}  // namespace ort_ed
