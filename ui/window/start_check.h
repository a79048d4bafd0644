// Takes over what is being typed before a run begins, goes on or takes a step. Where a value is not
// allowed, the banner says which one, and its box gets the keyboard.
#pragma once

#include "ui/window/run_models.h"
#include "ui/window/window_parts.h"

#include <QCoreApplication>
#include <QString>

namespace halfscope {

class StartCheck {
    Q_DECLARE_TR_FUNCTIONS(StartCheck)
public:
    /// The models and the parts must outlive it.
    StartCheck(RunModels& models, const WindowParts& parts) : m_models(models), m_parts(parts) {}

    /// Returns whether all values are allowed, so that a training can use what the boxes show.
    bool passes() const;
    /// Leads to the value of which the banner tells, once the settings are shown again.
    void goOnInSettings() const;

private:
    QString problem() const;

    RunModels& m_models;
    WindowParts m_parts;
};

} // namespace halfscope
