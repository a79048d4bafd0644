// Another run whose curves lie behind those of the run that is shown.
#pragma once

#include "engine/runs/run.h"

#include <QString>

#include <memory>

namespace halfscope {

struct Overlay {
    std::shared_ptr<const Run> run; ///< not null
    QString tag;                    ///< stands at the end of its curves, before the lane: "2"
    int color = 0;                  ///< see Colors::run()
};

} // namespace halfscope
