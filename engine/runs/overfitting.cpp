// Medians of a ring, and the sentences.
#include "engine/runs/overfitting.h"

#include "engine/runs/column.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace halfscope {

void TrainingLevel::add(double loss) { m_losses[m_added++ % kMost] = loss; }

double TrainingLevel::median() const {
    std::array<double, kMost> losses = m_losses; // a row is added whole: nothing may fail here
    return medianWithNan(std::span(losses).first(std::min(m_added, kMost)));
}

bool fellMeanwhile(double before, double now) {
    return std::isfinite(before) && std::isfinite(now) &&
           isClearlyWorse(JudgedBy::Loss, before, now);
}

Message overfittingText(const Message& names, size_t lanes, JudgedBy by) {
    const bool one = lanes == 1;
    if (by == JudgedBy::Accuracy)
        return {one ? phrase("Training", "%1 overfits: since its best validation its training loss "
                                         "has fallen, but so has its validation accuracy.")
                    : phrase("Training", "%1 overfit: since their best validations their training "
                                         "losses have fallen, but so have their validation "
                                         "accuracies."),
                names};
    return {one ? phrase("Training", "%1 overfits: since its best validation its training loss has "
                                     "fallen, but its validation loss has risen.")
                : phrase("Training", "%1 overfit: since their best validations their training "
                                     "losses have fallen, but their validation losses have risen."),
            names};
}

} // namespace halfscope
