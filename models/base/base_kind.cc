#include "models/base/base_kind.h"

#include "ort_ed/error.h"

namespace ort_ed {
namespace {

constexpr char kKey[] = "base";

}

KindTable BaseTable() { return ListKinds(BaseKinds()); }

void AttachBase(onnx::ModelProto& model, const Choice& base, const BaseContext& context) {
  const std::vector<ChosenKind> chosen = Resolve(base, BaseTable(), kKey);
  try {
    BaseKinds()[chosen.front().row]->attach(model, context, chosen.front().options);
  } catch (const OptionError&) {
    throw;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidArgument) throw;
    throw OptionError(kKey, std::string("does not fit: ") + error.what());
  }
}

}  // namespace ort_ed
