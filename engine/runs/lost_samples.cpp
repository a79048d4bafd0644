// Knows the events by the ends of their sentences: a saved run has only the English words.
#include "engine/runs/lost_samples.h"

namespace halfscope {
namespace {

bool endsAs(const std::string& sentence, Phrase format) {
    constexpr std::string_view kReason = "%2";
    const std::string_view text = format.text();
    return sentence.ends_with(text.substr(text.find(kReason) + kReason.size()));
}

} // namespace

void LostSamples::add(const Event& event) {
    if (event.kind != EventKind::Damaged) return;
    const std::string sentence = event.text.english();
    trained += endsAs(sentence, kReplacedSample);
    judged += endsAs(sentence, kNotValidatedOn);
    tested += endsAs(sentence, kNotTestedOn);
}

Message LostSamples::sentence() const {
    if (all() == 0) return {};
    const int64_t apart = judged + tested;
    if (apart == 0)
        return {phrase("Data", "Samples that could not be read and were left out: %1."), all()};
    return {phrase("Data", "Samples that could not be read and were left out: %1 (of those to "
                           "validate or test on: %2)."),
            all(), apart};
}

} // namespace halfscope
