// The network sees a window of the last characters; each character that is drawn moves it on by
// one.
#include "engine/train/text_writer.h"

#include "engine/core/error.h"
#include "engine/core/philox.h"

#include <algorithm>
#include <cmath>

namespace halfscope {

namespace {

constexpr uint64_t kWritingStream = 32; // random stream of the run's seed

} // namespace

int32_t drawnClass(std::span<const float> scores, double chance) {
    float highest = -INFINITY;
    for (const float score : scores)
        highest = std::fmax(highest, score); // ignores nan
    const auto best = std::find(scores.begin(), scores.end(), highest);
    if (best == scores.end() || std::isinf(highest))
        return static_cast<int32_t>(highest > 0 ? best - scores.begin() : std::ssize(scores));
    std::vector<double> sums;
    double sum = 0;
    for (const float score : scores) {
        const double share = std::exp((double{score} - double{highest}) / kWritingTemperature);
        sum += std::isnan(share) ? 0 : share;
        sums.push_back(sum);
    }
    const auto drawn = std::upper_bound(sums.begin(), sums.end(), chance * sum);
    return static_cast<int32_t>(std::min(drawn, sums.end() - 1) - sums.begin());
}

TextWriter::TextWriter(const RunConfig& config, const PrecisionPlan& plan,
                       std::span<const TensorSpec> tensors, std::unique_ptr<Executor> executor)
    : m_seed(config.seed), m_classes(static_cast<size_t>(tensors[kTarget].classes)),
      m_window(Batch::of(tensors, 1)),
      m_probe(config, plan, tensors, m_window, std::move(executor)) {}

std::optional<std::vector<int32_t>>
TextWriter::write(std::span<const int32_t> prompt, size_t characters,
                  const std::function<void(Executor&, const Graph&)>& weights) {
    const std::span<int32_t> window = m_window.labels(kX);
    require(prompt.size() == window.size(), "a prompt is as long as a sample");
    std::copy(prompt.begin(), prompt.end(), window.begin());
    m_probe.setWeights(weights);
    const Philox chances(m_seed, kWritingStream);
    std::vector<int32_t> written;
    while (written.size() < characters) {
        const auto scores = m_probe.run(m_window);
        if (!scores) return std::nullopt;
        const auto last = std::span(*scores).last(m_classes); // scores at the last position
        written.push_back(drawnClass(last, double{chances.uniform(written.size())}));
        if (static_cast<size_t>(written.back()) == m_classes) break;
        std::copy(window.begin() + 1, window.end(), window.begin());
        window.back() = written.back();
    }
    written.resize(characters, static_cast<int32_t>(m_classes));
    return written;
}

} // namespace halfscope
