// Measures in two passes, in double, in the order of the samples.
#include "engine/data/standardiser.h"

#include "engine/core/cancel.h"
#include "engine/lang/python.h"

#include <algorithm>
#include <cmath>

namespace halfscope {

namespace {

constexpr int kPictureRank = 3; // channels, height, width

/// What a column of numbers adds up to.
struct Sums {
    int64_t count = 0; ///< finite values
    double first = 0;
    bool same = true; ///< the mean is rounded, so the squares of equal values need not be 0
    double mean = 0, squares = 0;
};

} // namespace

Standardiser Standardiser::of(const Shape& sample, std::span<const int32_t> train,
                              const Read& read) {
    std::vector<double> values(static_cast<size_t>(sample.elements()));
    Standardiser made;
    const bool columns = sample.rank() == 1, channels = sample.rank() == kPictureRank;
    std::vector<Sums> sums(columns || channels ? static_cast<size_t>(sample[0]) : 1);
    made.m_together = values.size() / sums.size();
    const auto eachValue = [&](const auto& take) {
        for (const int32_t stored : train) {
            checkCancelled();
            read(stored, values);
            for (size_t i = 0; i < values.size(); ++i)
                if (std::isfinite(values[i])) take(sums[i / made.m_together], values[i]);
        }
    };
    eachValue([](Sums& sum, double value) {
        if (sum.count++ == 0) sum.first = value;
        sum.same = sum.same && value == sum.first;
    });
    eachValue([](Sums& sum, double value) { sum.mean += value / static_cast<double>(sum.count); });
    eachValue([](Sums& sum, double value) {
        sum.squares += (value - sum.mean) * (value - sum.mean) / static_cast<double>(sum.count);
    });
    for (const Sums& sum : sums) {
        const double deviation = sum.same ? 0 : std::sqrt(sum.squares);
        made.m_spreads.push_back({sum.mean, deviation});
        made.m_factors.push_back(deviation > 0 ? 1 / deviation : 0);
    }
    return made;
}

bool Standardiser::isFarOff() const {
    constexpr double kFar = 10;
    return std::any_of(m_spreads.begin(), m_spreads.end(), [](const Spread& spread) {
        const bool scaled = spread.deviation > kFar || spread.deviation < 1 / kFar;
        return spread.deviation > 0 && (scaled || std::abs(spread.mean) > kFar);
    });
}

std::vector<size_t> Standardiser::roundedOff() const {
    constexpr double kShare = 0.01;
    std::vector<size_t> found;
    for (size_t i = 0; i < m_spreads.size(); ++i) {
        const double deviation = m_spreads[i].deviation;
        if (deviation > 0 && float32Step(i) > kShare * deviation) found.push_back(i);
    }
    return found;
}

double Standardiser::float32Step(size_t spread) const {
    const auto mean = static_cast<float>(std::abs(m_spreads[spread].mean));
    return double{std::nextafter(mean, INFINITY)} - double{mean};
}

void Standardiser::standardise(std::span<const double> samples, std::span<float> into) const {
    for (size_t i = 0; i < samples.size(); ++i)
        into[i] = static_cast<float>(standardised(i, samples[i]));
}

std::string standardisePython(const std::string& name, const Shape& sample) {
    const char* axes = sample.rank() == 1              ? "0"
                       : sample.rank() == kPictureRank ? "(0, 2, 3), keepdim=True"
                                                       : "None";
    // the mean is rounded, so the deviation of equal values need not be 0
    const std::string ends = std::string(axes) == "None" ? "" : axes; // amin() takes no None
    return lang::filled(R"(    {NAME} = {NAME}.double()
    mean, deviation = {NAME}[train].mean({AXES}), {NAME}[train].std({AXES}, correction=0)
    varies = {NAME}[train].amin({ENDS}) < {NAME}[train].amax({ENDS})
    {NAME} = (({NAME} - mean) / deviation.where(varies, torch.inf)).float()
)",
                        {{"NAME", name}, {"AXES", axes}, {"ENDS", ends}});
}

} // namespace halfscope
