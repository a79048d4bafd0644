// Whole sentences for the loss of a task, and a pattern for the names of a critic's.
#include "ui/models/loss_words.h"

#include "engine/runs/shown_loss.h"
#include "ui/models/run_model.h"
#include "ui/models/shown_numbers.h"
#include "ui/models/translated.h"

namespace halfscope {

QString lossName(const RunConfig& config) { return translated(shownLoss(config).title); }

QString lossSentence(const RunConfig& config, SentenceLength length, int64_t step,
                     const QString& all, int64_t samples) {
    const bool brief = length == SentenceLength::Brief;
    if (samples > 0)
        return brief ? RunModel::tr("%4 of %1 in step %2: %3.")
                           .arg(samplesText(samples), countText(step), all, lossName(config))
                     : RunModel::tr("In step %2 %4 of the last batch (%1) is: %3.")
                           .arg(samplesText(samples), countText(step), all,
                                translated(shownLossInWords(config)));
    return brief ? RunModel::tr("%3 in step %1: %2.").arg(countText(step), all, lossName(config))
                 : RunModel::tr("In step %1 %3 is: %2.")
                       .arg(countText(step), all, translated(shownLossInWords(config)));
}

QString medianSentence(const RunConfig& config, SentenceLength length, int64_t step,
                       const QString& all) {
    const bool brief = length == SentenceLength::Brief;
    if (!isAdversarial(config.model))
        return (brief ? RunModel::tr("Median loss after step %1: %2.")
                      : RunModel::tr("After step %1 the median loss is: %2."))
            .arg(countText(step), all);
    return brief ? RunModel::tr("%3 after step %1 (median): %2.")
                       .arg(countText(step), all, lossName(config))
                 : RunModel::tr("After step %1 the median of %3 is: %2.")
                       .arg(countText(step), all, translated(shownLossInWords(config)));
}

} // namespace halfscope
