// Asks which samples a lane is to predict, and writes what a lane of a saved run predicts.
#pragma once

#include "engine/core/message.h"
#include "engine/train/run_weights.h"

#include <QString>

#include <string>

class QWidget;

namespace halfscope {

/// What holds the samples: pictures may be in a folder.
enum class SamplesIn { File, Folder };

struct PredictionPaths {
    QString samples, to; ///< both are empty when the user has chosen none
};

/// Asks in dialogs; `kind` is that of the training data.
PredictionPaths askWhatToPredict(TaskKind kind, SamplesIn, QWidget& window);

/// Writes what a lane predicts, and returns what users should know about it in whole sentences. Can
/// be cancelled, see core/cancel.h. Throws the engine's errors.
Message writePredicted(const RunWeights&, const std::string& lane, const PredictionPaths&);

} // namespace halfscope
