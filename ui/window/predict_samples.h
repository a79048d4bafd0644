// Lets a lane predict other samples: asks for their file or folder, and for the file to write.
#pragma once

class QWidget;

namespace halfscope {

class ExperimentController;

/// What holds the samples: pictures may be in a folder.
enum class SamplesIn { File, Folder };

/// Asks in dialogs; the answer is ExperimentController::laneSaved() or notSaved(). The networks are
/// there.
void predictSamples(ExperimentController&, int lane, SamplesIn, QWidget& window);

} // namespace halfscope
