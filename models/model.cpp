#include "models/model.h"

#include "messages/error.h"

namespace trainyard {

Prediction Model::predict(const ModelBatch& batch) {
  throw Error(Code::kUnsupported, "{} cannot predict (asked for split '{}'); it only trains and evaluates", where(),
              batch.split);
}

at::Tensor Model::loss(const at::Tensor& /*output*/, const ModelBatch& /*batch*/) {
  throw Error(Code::kUnsupported, "{} is one piece: it has no stages", where());
}

std::vector<NamedMetric> Model::metrics(const at::Tensor& /*output*/, const ModelBatch& /*batch*/) {
  throw Error(Code::kUnsupported, "{} is one piece: it has no stages", where());
}

}  // namespace trainyard
