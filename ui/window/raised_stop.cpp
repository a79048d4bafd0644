// Sets both as the settings' boxes do; steps end the counting of epochs.
#include "ui/window/raised_stop.h"

#include "ui/models/config_model.h"

namespace halfscope {

namespace {

void set(RunModels& models, const char* key, int64_t value) {
    models.history.without([&] {
        const int row = models.config.rowOf(key);
        models.config.setData(models.config.index(row), QString::number(value));
    });
}

} // namespace

void RaisedStop::raise(RunModels& models, const ExperimentController& controller, int64_t steps) {
    if (controller.state() != SessionState::Finished) return;
    const int64_t waited = controller.outOfPatience();
    const RunConfig& now = models.config.config();
    if (models.config.steps() != steps) {
        if (!isRaised(now)) m_before = Length{now.steps, now.epochs};
        m_steps = steps;
        set(models, "run.steps", steps);
    }
    const bool patient = now.patience == 0 || now.patience > waited; // it was edited since the end
    if (waited == 0 || patient) return;
    if (!m_patienceBefore || now.patience != m_patience) m_patienceBefore = now.patience;
    m_patience = waited + *m_patienceBefore;
    set(models, "run.patience", m_patience);
}

bool RaisedStop::takeBack(RunModels& models, RunConfig& config) {
    const bool shorter = isRaised(config);
    if (shorter) {
        set(models, "run.steps", m_before->steps);
        if (m_before->epochs > 0) set(models, "run.epochs", m_before->epochs);
        config.steps = models.config.config().steps;
        config.epochs = models.config.config().epochs;
    }
    m_before.reset();
    if (m_patienceBefore && config.patience == m_patience) {
        set(models, "run.patience", *m_patienceBefore);
        config.patience = models.config.config().patience;
    }
    m_patienceBefore.reset();
    return shorter;
}

} // namespace halfscope
