// Asks which samples a lane is to predict, and writes the files of a lane of a saved run.
#pragma once

#include "engine/core/message.h"
#include "engine/train/lane_file.h"

#include <QString>

#include <functional>
#include <string>

class QWidget;

namespace halfscope {

/// What holds the samples: pictures may be in a folder.
enum class SamplesIn { File, Folder };

struct LanePaths {
    QString samples{}; ///< empty for files that need none
    QString to{};      ///< empty when the user has chosen none
};

/// Asks in dialogs; `kind` is that of the training data. What is predicted goes to a file in the
/// folder `answers`, where it is read at once; if that is empty, the user is asked. `lane` is the
/// name of the lane that predicts where the run has several, for the name of the file; else empty.
/// `fits` tells whether the samples can be predicted; if not, it has told why, and nothing more is
/// asked.
LanePaths askWhatToPredict(TaskKind kind, SamplesIn, const QString& lane, const QString& answers,
                           QWidget& window,
                           const std::function<bool(const QString& samples)>& fits);
/// Asks where to save what was predicted for the picture `samples`; `name` is suggested. Returns
/// nothing when the user thought better of it.
QString askWhereToSave(TaskKind kind, const QString& samples, const QString& name, QWidget& window);

/// Writes laneFileBytes(), and returns what users should know about the file in whole sentences.
/// Can be cancelled, see core/cancel.h. Throws the engine's errors.
Message writeLaneFile(const RunWeights&, LaneFile, const std::string& lane, const LanePaths&,
                      const std::string& program);

} // namespace halfscope
