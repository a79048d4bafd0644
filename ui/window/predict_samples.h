// Lets a lane predict the samples of another file: asks for it, and for the file to write.
#pragma once

class QWidget;

namespace halfscope {

class ExperimentController;

/// Asks in dialogs; the answer is ExperimentController::laneSaved() or notSaved(). The networks are
/// there.
void predictSamples(ExperimentController&, int lane, QWidget& window);

} // namespace halfscope
