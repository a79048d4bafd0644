// Chooses the elements to compare, and decides what each may be.
#include "engine/verify/judge_product.h"

#include "engine/core/error.h"
#include "engine/core/philox.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace halfscope::recorded {
namespace {

constexpr uint64_t kSeed = 20261122;

/// Returns the first and the last index, and those next to edges of tiles: the first and the last
/// multiple of each power of two from 16 on.
std::vector<int64_t> edgesOf(int64_t extent) {
    std::vector<int64_t> edges{0, extent - 1};
    for (int64_t tile = 16; tile < extent; tile *= 2)
        for (const int64_t edge : {tile, (extent - 1) / tile * tile})
            edges.insert(edges.end(), {edge - 1, edge});
    return edges;
}

class Judge {
public:
    Judge(CaseResult& result, const ProductTruth& truth, const std::vector<double>& got)
        : m_result(result), m_truth(truth), m_got(got),
          m_roundings(formatOf(DType::F32).unitRoundoff() * roundingsOf(truth)) {}

    void sample() {
        const std::vector<int64_t> rows = edgesOf(m_truth.m), columns = edgesOf(m_truth.n);
        const Philox random(kSeed, 0);
        uint64_t drawn = 0;
        const auto index = [&](bool atEdge, const std::vector<int64_t>& edges, int64_t extent) {
            const auto most = atEdge ? edges.size() : static_cast<uint64_t>(extent);
            const uint64_t i = random.below(drawn++, most);
            return atEdge ? edges[i] : static_cast<int64_t>(i);
        };
        for (const int64_t row : {rows[0], rows[1]})
            for (const int64_t column : {columns[0], columns[1]})
                element(row, column);
        for (int i = 4; i < kSampledElements; ++i) {
            const int64_t row = index((i & 1) != 0, rows, m_truth.m);
            element(row, index((i & 2) != 0, columns, m_truth.n));
        }
    }

    void places() {
        const std::vector<bool> rows = notFinite(m_truth.a, m_truth.m, m_truth.k);
        const MatrixView turned{m_truth.b.values, m_truth.b.columnStride, m_truth.b.rowStride};
        const std::vector<bool> columns = notFinite(turned, m_truth.n, m_truth.k);
        for (int64_t i = 0; i < m_truth.m; ++i)
            for (int64_t j = 0; j < m_truth.n; ++j)
                if (rows[static_cast<size_t>(i)] || columns[static_cast<size_t>(j)] ||
                    !std::isfinite(gotAt(i, j)))
                    element(i, j);
    }

    /// Applies Freivalds' check: c r = a (b r) + bias r for a vector r of numbers, row by row. In
    /// whole numbers below 2^53, so that one wrong element always shows.
    void all() {
        const Philox random(kSeed, 1);
        std::vector<double> factors, sums(static_cast<size_t>(m_truth.k));
        double bias = 0;
        for (int64_t j = 0; j < m_truth.n; ++j) {
            factors.push_back(1 +
                              static_cast<double>(random.below(static_cast<uint64_t>(j), 4096)));
            if (m_truth.bias != nullptr) bias += m_truth.bias[j] * factors.back();
        }
        for (int64_t p = 0; p < m_truth.k; ++p)
            for (int64_t j = 0; j < m_truth.n; ++j)
                sums[static_cast<size_t>(p)] +=
                    m_truth.b.at(p, j) * factors[static_cast<size_t>(j)];
        for (int64_t i = 0; i < m_truth.m && m_result.passed(); ++i) {
            double got = 0, wanted = bias;
            for (int64_t j = 0; j < m_truth.n; ++j)
                got += gotAt(i, j) * factors[static_cast<size_t>(j)];
            for (int64_t p = 0; p < m_truth.k; ++p)
                wanted += m_truth.a.at(i, p) * sums[static_cast<size_t>(p)];
            if (got == wanted) continue;
            for (int64_t j = 0; j < m_truth.n; ++j)
                exactElement(i, j, sumAt(i, j).exact);
        }
        m_result.addEqual(true, [] { return std::string(); });
    }

private:
    /// The sum of products of a row and a column, in double.
    struct Sum {
        double exact = 0;
        double size = 0; ///< sum of the terms' magnitudes
    };
    Sum sumAt(int64_t row, int64_t column) const {
        Sum sum;
        for (int64_t p = 0; p < m_truth.k; ++p) {
            const double term = m_truth.a.at(row, p) * m_truth.b.at(p, column);
            sum.exact += term;
            sum.size += std::fabs(term);
        }
        return sum;
    }
    double gotAt(int64_t row, int64_t column) const {
        return m_got[static_cast<size_t>(row * m_truth.n + column)];
    }

    /// Returns what the device stores for a sum; it increases with the sum.
    double stored(double sum, int64_t column) const {
        if (m_truth.bias == nullptr) return roundTo(m_truth.type, sum);
        return roundTo(m_truth.type,
                       roundTo(DType::F32, roundTo(DType::F32, sum) + m_truth.bias[column]));
    }
    std::string told(int64_t row, int64_t column, double wanted) const {
        const auto by = [](int64_t extent) { return " x " + std::to_string(extent); };
        return m_truth.name + " (" + std::to_string(m_truth.m) + by(m_truth.n) + by(m_truth.k) +
               ") [" + std::to_string(row) + ", " + std::to_string(column) +
               "]: " + numberPair(gotAt(row, column), wanted);
    }
    void exactElement(int64_t row, int64_t column, double exact) {
        const double wanted = stored(exact, column), got = gotAt(row, column);
        m_result.addEqual(got == wanted || (std::isnan(got) && std::isnan(wanted)),
                          [&] { return told(row, column, wanted); });
    }

    void element(int64_t row, int64_t column) {
        const Sum sum = sumAt(row, column);
        if (!std::isfinite(sum.exact) || sum.size == 0) {
            exactElement(row, column, sum.exact);
            return;
        }
        const double bound =
            m_roundings / (1 - m_roundings) * sum.size +
            roundingsOf(m_truth) * formatOf(DType::F32).minSubnormal / 2; // for gradual underflow
        m_result.add(leastError(row, column, sum.exact, bound) / sum.size, bound / sum.size,
                     [&] { return told(row, column, stored(sum.exact, column)); });
    }

    /// Returns the least error of the sum that explains what was stored; above the bound when none
    /// within it does.
    double leastError(int64_t row, int64_t column, double exact, double bound) const {
        const double got = gotAt(row, column);
        const auto explains = [&](double error) {
            return stored(exact - error, column) <= got && got <= stored(exact + error, column);
        };
        if (explains(0)) return 0;
        double least = 0, most = bound;
        while (!explains(most)) {
            least = most;
            most *= 2;
            if (!std::isfinite(most)) return INFINITY;
        }
        for (int halving = 0; halving < 16; ++halving) {
            const double middle = (least + most) / 2;
            (explains(middle) ? most : least) = middle;
        }
        return most;
    }

    /// Returns which lines of a matrix have a value that is not finite.
    static std::vector<bool> notFinite(const MatrixView& matrix, int64_t lines, int64_t length) {
        std::vector<bool> found(static_cast<size_t>(lines));
        for (int64_t i = 0; i < lines; ++i)
            for (int64_t j = 0; j < length; ++j)
                if (!std::isfinite(matrix.at(i, j))) found[static_cast<size_t>(i)] = true;
        return found;
    }

    CaseResult& m_result;
    const ProductTruth& m_truth;
    const std::vector<double>& m_got;
    double m_roundings; ///< of all roundings, relative
};

} // namespace

double roundingsOf(const ProductTruth& truth) {
    const bool strict = truth.type == DType::F32 && truth.math != MathMode::TF32;
    return static_cast<double>(truth.k) + (strict ? 3 : 1);
}

void judgeProduct(CaseResult& result, const ProductTruth& truth, const std::vector<double>& got,
                  Elements elements) {
    require(static_cast<int64_t>(got.size()) == truth.m * truth.n, "values do not fit a product");
    Judge judge(result, truth, got);
    if (elements == Elements::All) {
        judge.all();
        return;
    }
    judge.sample();
    if (elements == Elements::SampleAndPlaces) judge.places();
}

} // namespace halfscope::recorded
