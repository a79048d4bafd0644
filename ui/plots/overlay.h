// Another run, whose curves are drawn behind those of the run that is shown.
#pragma once

#include "engine/runs/run.h"

#include <QString>

#include <memory>

namespace halfscope {

struct Overlay {
    std::shared_ptr<const Run> run; ///< not null, but for the run that is shown itself
    QString tag;                    ///< "2": written at the end of its curves, before the lane's
                                    ///< letter
    int color = 0;                  ///< see Colors::run()
    QString name{};                 ///< fit to be shown; empty: not known
    QString differs{};              ///< "Learning rate 0.01": what tells it from other runs
    QString data{}; ///< "Two moons": what it learns from, where its name does not tell
};

} // namespace halfscope
