// What the tests of training share: a data set from given numbers, a small network's configuration,
// golden files. Leaves comparisons to the tests.
#pragma once

#include "engine/core/philox.h"
#include "engine/train/dataset.h"

#include <QByteArray>
#include <QFile>
#include <QString>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>

namespace halfscope::test {

/// One batch that never changes, or, with several, a new one each step in turn.
class FixedDataset final : public Dataset {
public:
    struct Batch {
        std::vector<float> x, target;
    };
    FixedDataset(BatchShape shape, std::vector<Batch> batches)
        : m_shape(shape), m_batches(std::move(batches)) {}

    BatchShape shape() const override { return m_shape; }
    bool batch(int64_t step, std::span<float> x, std::span<float> target) const override {
        if (m_batches.size() == 1 && step > 1) return false;
        const Batch& b = m_batches[static_cast<size_t>(step - 1) % m_batches.size()];
        std::copy(b.x.begin(), b.x.end(), x.begin());
        std::copy(b.target.begin(), b.target.end(), target.begin());
        return true;
    }
    Picture targetPicture() const override { return {}; }
    Picture picture(std::span<const float>, int64_t) const override { return {}; }

private:
    BatchShape m_shape;
    std::vector<Batch> m_batches;
};

/// Normal inputs, and targets 5 N + 10: large enough that scaled fp16 gradients overflow.
inline FixedDataset randomRegression(BatchShape shape, int batches, uint64_t seed) {
    std::vector<FixedDataset::Batch> list(static_cast<size_t>(batches));
    for (size_t i = 0; i < list.size(); ++i) {
        list[i].x.resize(static_cast<size_t>(shape.rows * shape.inputs));
        list[i].target.resize(static_cast<size_t>(shape.rows * shape.outputs));
        Philox(seed, 2 * i).fillNormal(list[i].x);
        Philox(seed, 2 * i + 1).fillNormal(list[i].target);
        for (float& t : list[i].target)
            t = 5 * t + 10;
    }
    return {shape, std::move(list)};
}

inline nlohmann::json goldenFile(const char* name) {
    const QByteArray folder =
        qEnvironmentVariable("HALFSCOPE_GOLDEN_DIR", HALFSCOPE_SOURCE_DIR "/tests/golden").toUtf8();
    QFile file(QString::fromUtf8(folder + "/" + name));
    if (!file.open(QIODevice::ReadOnly))
        throw std::runtime_error("no golden file " + std::string(name));
    // Python writes Infinity and NaN, which JSON does not have.
    const QByteArray text = file.readAll().replace("Infinity", "null").replace("-null", "null");
    return nlohmann::json::parse(QByteArray(text).replace("NaN", "null").toStdString());
}

/// All numbers of a nested array, row-major.
inline std::vector<double> flat(const nlohmann::json& value) {
    if (!value.is_array()) return {value.get<double>()};
    std::vector<double> all;
    for (const auto& item : value) {
        const std::vector<double> part = flat(item);
        all.insert(all.end(), part.begin(), part.end());
    }
    return all;
}

inline std::vector<float> toFloats(const std::vector<double>& values) {
    std::vector<float> result(values.size());
    std::transform(values.begin(), values.end(), result.begin(),
                   [](double x) { return static_cast<float>(x); });
    return result;
}

/// How many values differ in their bits; nan equals nan only with the same bits.
inline int differentBits(const std::vector<float>& a, const std::vector<float>& b) {
    if (a.size() != b.size()) return -1;
    int count = 0;
    for (size_t i = 0; i < a.size(); ++i)
        count += std::bit_cast<uint32_t>(a[i]) != std::bit_cast<uint32_t>(b[i]);
    return count;
}

} // namespace halfscope::test
