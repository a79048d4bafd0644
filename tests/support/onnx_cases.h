// Networks as ONNX models, and what this engine computes with them: ONNX's own checker and ONNX
// Runtime judge the files (./dev clients).
#pragma once

#include "engine/core/philox.h"
#include "engine/exec/reference.h"
#include "engine/io/atomic_file.h"
#include "engine/io/npy.h"
#include "engine/train/trainer.h"
#include "engine/verify/run_graph.h"
#include "tests/support/python.h"

#include <QTemporaryDir>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace halfscope::test {

struct Values {
    Shape shape;
    std::vector<float> values;
};

/// What a network computes from its input, and how much float32 may change it.
struct Computed {
    Values x, y;
    Weights weights;
    double bound = 0; ///< of the difference of two evaluations in float32
    double largest = 0;
};

/// Evaluates a graph with the input "x" and the output "prediction" on the CPU, with random weights
/// and statistics. The bound comes from evaluations of the same graph in which every float32 value
/// is rounded at random, by as much as sums of some hundred terms may be off: it is twice their
/// largest difference from float64, once for each of the two evaluations that are compared.
inline Computed computed(const Graph& graph) {
    std::map<NodeId, RefTensor> leaves;
    Computed made;
    uint64_t stream = 0;
    const auto draw = [&](NodeId node) {
        Values drawn{graph[node].shape,
                     std::vector<float>(static_cast<size_t>(graph[node].elements()))};
        Philox(17, stream++).fillNormal(drawn.values);
        return drawn;
    };
    const auto put = [&](NodeId node, const Values& values) {
        leaves[node] = {values.shape, {values.values.begin(), values.values.end()}};
    };
    for (const StateInfo& state : graph.states()) {
        Values drawn = draw(state.node);
        const bool variance = state.name.ends_with("running_var");
        const auto fan = static_cast<float>(
            drawn.values.size() /
            static_cast<size_t>(std::max<int64_t>(1, drawn.shape.empty() ? 1 : drawn.shape[0])));
        for (float& value : drawn.values)
            value = variance ? 0.5f + value * value : value / std::sqrt(fan);
        put(state.node, drawn);
        made.weights[state.name] = drawn.values;
    }
    made.x = draw(graph.input("x"));
    if (graph[graph.input("x")].dtype == DType::I32) // indices of a small Embedding
        for (float& value : made.x.values)
            value = std::floor(std::min(std::abs(value), 1.9f) * 3);
    put(graph.input("x"), made.x);
    const NodeId output = graph.output("prediction");
    made.y.shape = graph[output].shape;
    const auto ours = recorded::runGraph(*makeCpuExecutor(1), graph, leaves).at("prediction");
    made.y.values.assign(ours.begin(), ours.end());
    const auto values = [&](RefRounding rounding, uint64_t seed) {
        return evaluate(graph, leaves, std::vector{output}, rounding, seed).at(output).values;
    };
    const std::vector<double> exact = values(RefRounding::None, 0);
    double spread = 0;
    for (uint64_t seed = 1; seed <= 6; ++seed) {
        const std::vector<double> other = values(RefRounding::Random, seed);
        for (size_t i = 0; i < exact.size(); ++i)
            spread = std::max(spread, std::abs(other[i] - exact[i]));
    }
    for (const double value : exact)
        made.largest = std::max(made.largest, std::abs(value));
    made.bound = 2 * 2 * spread + 4 * 0x1p-24 * made.largest;
    return made;
}

/// Writes the files of a case into a folder.
inline void writeCase(const QTemporaryDir& folder, const QString& name, const std::string& onnx,
                      const Computed& about) {
    const auto path = [&](const char* ending) {
        return folder.filePath(name + ending).toStdString();
    };
    const auto npy = [](const Values& of) {
        return npyBytes(std::vector<int64_t>(of.shape.begin(), of.shape.end()), of.values);
    };
    writeFileAtomically(path(".onnx"), onnx);
    writeFileAtomically(path("_x.npy"), npy(about.x));
    writeFileAtomically(path("_y.npy"), npy(about.y));
    writeFileAtomically(path(".bound"), std::to_string(about.bound * 1e9)); // in units of 1e-9
}

/// Judges all cases of a folder: first the checker, then the outputs of the samples, of twice as
/// many samples, and, when samples are independent, of the first one alone. Prints one line for
/// each case that fails, then their number.
constexpr const char* kOnnxRuntime = R"(
import glob, sys
import numpy as np, onnx, onnxruntime
cases = sorted(glob.glob(sys.argv[1] + "/" + "*.onnx"))
for path in cases:
    base = path[:-5]
    try:
        model = onnx.load(path)
        onnx.checker.check_model(model, full_check=True)
        assert model.opset_import[0].version >= 17
        assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch"
        assert all(t.data_type in (1, 7) for t in model.graph.initializer)
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        x, y = np.load(base + "_x.npy"), np.load(base + "_y.npy")
        bound = float(open(base + ".bound").read()) * 1e-9
        batches = [(x, y), (np.concatenate([x, x]), np.concatenate([y, y]))]
        if len(y) == len(x):
            batches.append((x[:1], y[:1]))
        for batch, wanted in batches:
            if session.get_inputs()[0].type == 'tensor(int64)':
                batch = batch.astype(np.int64)
            found = session.run(None, {"x": batch})[0]
            assert found.shape == wanted.shape, (found.shape, wanted.shape)
            off = np.abs(found - wanted).max()
            assert off <= bound, (off, bound)
    except Exception as error:
        print(base.split("/")[-1], type(error).__name__, error)
print(len(cases))
)";

} // namespace halfscope::test
