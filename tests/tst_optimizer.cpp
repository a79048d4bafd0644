// Optimizers and schedules against the values recorded from PyTorch, and the select of a skipped
// step.
#include "engine/core/error.h"
#include "engine/exec/executor.h"
#include "engine/train/optimizer.h"
#include "engine/train/schedule.h"
#include "tests/support/training.h"

#include <QTest>

#include <cmath>
#include <map>

using namespace halfscope;
using halfscope::test::differentBits;
using halfscope::test::flat;
using nlohmann::json;

namespace {

std::optional<OptimizerConfig> configOf(const json& row, QString& reason) {
    const json& args = row["args"];
    for (const char* absent : {"nesterov", "dampening", "amsgrad"})
        if (args.contains(absent)) reason = QString("%1 is not offered").arg(absent);
    OptimizerConfig config;
    config.momentum = args.value("momentum", 0.0);
    config.weightDecay = args.value("weight_decay", 0.0);
    config.lr = args["lr"].get<double>();
    config.eps = args.value("eps", 1e-8);
    if (args.contains("betas")) {
        config.beta1 = args["betas"][0].get<double>();
        config.beta2 = args["betas"][1].get<double>();
    }
    const std::string name = row["optimizer"].get<std::string>();
    if (name == "SGD")
        config.kind = OptimizerKind::Sgd;
    else if (name == "Adam")
        config.kind = OptimizerKind::Adam;
    else if (name == "AdamW")
        config.kind = OptimizerKind::AdamW;
    else
        reason = QString("%1 is not offered").arg(QString::fromStdString(name));
    if (!reason.isEmpty()) return std::nullopt;
    return config;
}

enum class Skipping { Selects, Never };

/// An optimizer alone: parameter "p", inputs "g", "lr" and, where it can skip, "skip".
class OptimizerRun {
public:
    OptimizerRun(const OptimizerConfig& config, DType storage, const std::vector<float>& start,
                 Skipping skipping = Skipping::Selects)
        : m_selects(skipping == Skipping::Selects) {
        Graph graph;
        Builder b(graph);
        const Shape shape{static_cast<int64_t>(start.size())};
        const NodeId p = b.state("p", shape, storage, StateRole::Parameter);
        const NodeId g = b.input("g", shape, DType::F32);
        const NodeId lr = b.input("lr", {}, DType::F32);
        const NodeId skip = m_selects ? b.input("skip", {}, DType::Bool) : kNoNode;
        emitOptimizer(b, config, std::vector<ParameterGradient>{{p, g, "p"}}, lr, skip);
        m_program = std::make_shared<const Program>(compile(graph));
        m_executor = makeCpuExecutor(1);
        m_executor->load(m_program);
        setState("p", start);
        const auto rate = static_cast<float>(config.lr);
        m_executor->upload(m_program->graph.input("lr"), std::as_bytes(std::span(&rate, 1)));
    }
    void setState(const char* name, const std::vector<float>& values) {
        const NodeId id = m_program->graph.state(name);
        const DType type = m_program->graph[id].dtype;
        std::vector<std::byte> bytes(values.size() * bytesOf(type));
        storeFromFloat(type, values.data(), bytes.data(), values.size());
        m_executor->upload(id, bytes);
    }
    void step(const std::vector<float>& gradient, bool skip) {
        const Graph& graph = m_program->graph;
        m_executor->upload(graph.input("g"), std::as_bytes(std::span(gradient)));
        const uint8_t flag = skip ? 1 : 0;
        if (m_selects) m_executor->upload(graph.input("skip"), std::as_bytes(std::span(&flag, 1)));
        QCOMPARE(m_executor->run(RunMode::Captured), RunResult::Done);
    }
    std::map<std::string, std::vector<float>> states() {
        std::map<std::string, std::vector<float>> all;
        for (const StateInfo& state : m_program->graph.states()) {
            const Node& node = m_program->graph[state.node];
            std::vector<std::byte> bytes(node.bytes());
            m_executor->download(state.node, bytes);
            auto& values = all[state.name];
            values.resize(static_cast<size_t>(node.elements()));
            loadAsFloat(node.dtype, bytes.data(), values.data(), values.size());
        }
        return all;
    }

private:
    bool m_selects;
    std::shared_ptr<const Program> m_program;
    std::unique_ptr<Executor> m_executor;
};

std::vector<OptimizerConfig> allOptimizers() {
    OptimizerConfig adam, adamw, sgd, plain;
    adam.weightDecay = 0.1;
    adamw.kind = OptimizerKind::AdamW;
    adamw.weightDecay = 0.05;
    sgd.kind = plain.kind = OptimizerKind::Sgd;
    sgd.lr = plain.lr = 0.05;
    plain.momentum = 0;
    return {adam, adamw, sgd, plain};
}

} // namespace

class TestOptimizer : public QObject {
    Q_OBJECT

private slots:
    void followsPyTorch_data() {
        QTest::addColumn<int>("row");
        QTest::addColumn<bool>("selects");
        const json golden = test::goldenFile("optim_sched_clip.json");
        for (int i = 0; i < static_cast<int>(golden["optimizers"].size()); ++i) {
            const json& row = golden["optimizers"][static_cast<size_t>(i)];
            const std::string name = row["optimizer"].get<std::string>() + row["args"].dump();
            QTest::newRow(name.c_str()) << i << true;
            QTest::newRow((name + ", never skips").c_str()) << i << false;
        }
    }
    void followsPyTorch() {
        QFETCH(int, row);
        QFETCH(bool, selects);
        const json golden = test::goldenFile("optim_sched_clip.json");
        const json& data = golden["optimizers"][static_cast<size_t>(row)];
        QString reason;
        const auto config = configOf(data, reason);
        if (!config) QSKIP(qPrintable(reason));
        const std::vector<float> start = test::toFloats(flat(data["start"]));
        OptimizerRun run(*config, DType::F32, start, selects ? Skipping::Selects : Skipping::Never);
        // Roundings of the parameter add up over the steps in units of the largest it has been.
        std::vector<double> largest(start.size(), 0);
        for (size_t i = 0; i < start.size(); ++i)
            largest[i] = std::abs(double{start[i]});
        double worst = 0;
        for (size_t step = 0; step < data["grads"].size(); ++step) {
            run.step(test::toFloats(flat(data["grads"][step])), false);
            const std::vector<float> p = run.states()["p"];
            const std::vector<double> wanted = flat(data["params"][step]);
            for (size_t i = 0; i < p.size(); ++i) {
                largest[i] = std::max(largest[i], std::abs(wanted[i]));
                const double error = std::abs(double{p[i]} - wanted[i]) / largest[i];
                worst = std::max(worst, error);
                QVERIFY2(error <= 1e-6, qPrintable(QString("step %1, element %2: %3, PyTorch %4")
                                                       .arg(step + 1)
                                                       .arg(i)
                                                       .arg(double{p[i]})
                                                       .arg(wanted[i])));
            }
        }
        QCOMPARE(run.states()["optimizer.step"][0], static_cast<float>(data["grads"].size()));
        qInfo("largest relative error %.2g", worst);
    }

    void skipKeepsEveryBit() {
        const std::vector<float> start{0.5f, -1.25f, 3e-8f}, good{0.1f, -2, 1e-3f};
        const std::vector<float> bad{INFINITY, NAN, -INFINITY};
        for (const OptimizerConfig& config : allOptimizers()) {
            OptimizerRun run(config, DType::F32, start);
            run.step(good, false);
            const auto before = run.states();
            run.step(bad, true);
            for (const auto& [name, values] : run.states()) {
                QVERIFY2(differentBits(values, before.at(name)) == 0,
                         (name + " changed on a skip, " + nameOf(config.kind)).c_str());
            }
            run.step(good, false);
            for (const auto& [name, values] : run.states())
                QVERIFY2(differentBits(values, before.at(name)) != 0, name.c_str());
        }
    }

    /// A skipped step leaves no trace: the steps around it are those of a run without it.
    void skipLeavesNoTrace() {
        const std::vector<float> start{0.5f, -1.25f, 2}, g1{0.1f, -2, 1}, g2{-0.3f, 0.5f, 4};
        for (const OptimizerConfig& config : allOptimizers()) {
            OptimizerRun with(config, DType::F32, start), without(config, DType::F32, start);
            with.step(g1, false);
            with.step({INFINITY, 1, 1}, true);
            with.step(g2, false);
            without.step(g1, false);
            without.step(g2, false);
            QCOMPARE(differentBits(with.states()["p"], without.states()["p"]), 0);
        }
    }

    /// Half storage: arithmetic in f32 from the stored values, one rounding per stored value.
    void halfStorageRoundsOnce() {
        OptimizerConfig config;
        config.kind = OptimizerKind::Sgd;
        config.lr = 0.0625;
        const std::vector<float> start{1, 0.333251953125f, 1000}, g{0.001f, 3.3f, -777.7f};
        OptimizerRun run(config, DType::F16, start);
        std::vector<float> p = start, buffer(3, 0.0f);
        for (int step = 0; step < 5; ++step) {
            run.step(g, false);
            for (size_t i = 0; i < p.size(); ++i) {
                const float next = buffer[i] * 0.9f + g[i];
                p[i] = roundTo(DType::F16, p[i] - 0.0625f * next);
                buffer[i] = roundTo(DType::F16, next);
            }
        }
        QCOMPARE(differentBits(run.states()["p"], p), 0);
        QCOMPARE(differentBits(run.states()["p.momentum_buffer"], buffer), 0);
    }

    /// 1 - beta^t keeps its digits when beta is near 1: a first step of Adam is lr in size.
    void biasCorrectionNearOne() {
        OptimizerConfig config;
        config.beta2 = 0.9999999;
        config.eps = 0;
        OptimizerRun run(config, DType::F32, {0});
        run.step({2}, false);
        const double moved = -double{run.states()["p"][0]};
        QVERIFY2(std::abs(moved / config.lr - 1) < 1e-6, qPrintable(QString::number(moved)));
    }

    void schedulesFollowPyTorch_data() {
        QTest::addColumn<int>("row");
        const json golden = test::goldenFile("optim_sched_clip.json");
        for (int i = 0; i < static_cast<int>(golden["schedules"].size()); ++i) {
            const json& row = golden["schedules"][static_cast<size_t>(i)];
            const std::string name = row["schedule"].get<std::string>() + row["args"].dump();
            QTest::newRow(name.c_str()) << i;
        }
    }
    void schedulesFollowPyTorch() {
        QFETCH(int, row);
        const json golden = test::goldenFile("optim_sched_clip.json");
        const json& data = golden["schedules"][static_cast<size_t>(row)];
        const json& args = data["args"];
        if (data["schedule"] != "OneCycleLR") QSKIP("only one cycle and constant are offered");
        if (args.contains("anneal_strategy")) QSKIP("linear annealing is not offered");
        if (args.contains("three_phase")) QSKIP("three phases are not offered");
        ScheduleConfig config;
        config.kind = ScheduleKind::OneCycle;
        config.maxLr = args["max_lr"].get<double>();
        const int64_t epochs = args.value("epochs", 1);
        config.totalSteps = args.value("total_steps", epochs * args.value("steps_per_epoch", 1));
        const std::vector<double> wanted = flat(data["lr"]);
        for (size_t i = 0; i < wanted.size(); ++i) {
            const double lr = learningRate(config, 0.1, static_cast<int64_t>(i));
            QVERIFY2(std::abs(lr - wanted[i]) <= 1e-12 * config.maxLr,
                     qPrintable(QString("tick %1: %2, PyTorch %3").arg(i).arg(lr).arg(wanted[i])));
        }
    }

    void scheduleEnds() {
        ScheduleConfig config;
        QCOMPARE(learningRate(config, 0.25, 0), 0.25);
        QCOMPARE(learningRateTable(config, 0.25), std::vector<float>{0.25f});
        config.kind = ScheduleKind::OneCycle;
        config.totalSteps = 50;
        const double last = config.maxLr / config.divFactor / config.finalDivFactor;
        QVERIFY(std::abs(learningRate(config, 1, 49) / last - 1) < 1e-9);
        QCOMPARE(learningRate(config, 1, 5000), learningRate(config, 1, 49));
        QCOMPARE(learningRateTable(config, 1).size(), size_t{50});
    }

    /// Cycles too short for two phases give finite, positive rates within the cycle's range.
    void scheduleCorners() {
        for (const int64_t steps : {1, 2, 3, 7}) {
            for (const double start : {0.0, 0.1, 0.5, 1.0}) {
                ScheduleConfig config;
                config.kind = ScheduleKind::OneCycle;
                config.totalSteps = steps;
                config.pctStart = start;
                for (const float lr : learningRateTable(config, 1)) {
                    QVERIFY2(lr > 0 && double{lr} <= config.maxLr * (1 + 1e-6),
                             qPrintable(QString("%1 steps, start %2: %3")
                                            .arg(steps)
                                            .arg(start)
                                            .arg(double{lr})));
                }
            }
        }
    }
};

QTEST_GUILESS_MAIN(TestOptimizer)
#include "tst_optimizer.moc"
