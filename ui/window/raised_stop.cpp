// Sets the length as the settings' boxes do; steps end the counting of epochs.
#include "ui/window/raised_stop.h"

namespace halfscope {

namespace {

void setLength(RunModels& models, const char* key, int64_t value) {
    models.history.without([&] {
        const int row = models.config.rowOf(key);
        models.config.setData(models.config.index(row), QString::number(value));
    });
}

} // namespace

void RaisedStop::raise(RunModels& models, int64_t steps) {
    const RunConfig& now = models.config.config();
    if (!isRaised(now)) m_before = Length{now.steps, now.epochs};
    m_steps = steps;
    setLength(models, "run.steps", steps);
}

void RaisedStop::takeBack(RunModels& models, RunConfig& config) {
    if (isRaised(config)) {
        setLength(models, "run.steps", m_before->steps);
        if (m_before->epochs > 0) setLength(models, "run.epochs", m_before->epochs);
        config.steps = models.config.config().steps;
        config.epochs = models.config.config().epochs;
    }
    m_before.reset();
}

} // namespace halfscope
