#include "models/model.h"

#include "messages/error.h"

namespace trainyard {

Prediction Model::predict(const ModelBatch& batch) {
  throw Error(Code::kUnsupported, "{} cannot predict (asked for split '{}'); it only trains and evaluates", where(),
              batch.split);
}

}  // namespace trainyard
