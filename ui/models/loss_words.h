// Sentences with the losses of all lanes, by the name that the loss has in a run. Which losses are
// told is up to the caller.
#pragma once

#include "engine/settings/run_config.h"

#include <QString>

#include <cstdint>

namespace halfscope {

enum class SentenceLength { Whole, Brief };

/// Returns what the loss is called: "Loss", or "Critic's loss", see shownLoss().
QString lossName(const RunConfig&);
/// Says that the losses in a step are `all`. `samples`: those of the batch where it is a small one,
/// else 0.
QString lossSentence(const RunConfig&, SentenceLength, int64_t step, const QString& all,
                     int64_t samples);
/// Says that the medians of the last losses are `all`.
QString medianSentence(const RunConfig&, SentenceLength, int64_t step, const QString& all);

} // namespace halfscope
