// Writes the program section by section; what belongs to a data set, a loss, an optimizer or a
// layer is in its table row.
#include "engine/step/pytorch_script.h"

#include "engine/core/error.h"
#include "engine/core/escape.h"
#include "engine/core/text.h"
#include "engine/data/dataset.h"
#include "engine/data/held_back.h"
#include "engine/data/test_split.h"
#include "engine/lang/python.h"
#include "engine/settings/fields.h"
#include "engine/settings/model_settings.h"
#include "engine/settings/run_length.h"
#include "engine/settings/run_task.h"
#include "engine/step/model_shapes.h"
#include "engine/step/pytorch_calls.h"
#include "engine/step/pytorch_evaluate.h"
#include "engine/step/pytorch_fp8.h"
#include "engine/step/pytorch_layers.h"
#include "engine/step/pytorch_loss.h"
#include "engine/step/pytorch_plateau.h"
#include "engine/step/pytorch_samples.h"
#include "engine/step/step_parts.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace halfscope {

namespace {

using lang::filled;
using lang::pythonReal;
using lang::pythonText;
using lang::pythonTruth;

class ScriptWriter {
public:
    ScriptWriter(const RunConfig& config, const std::map<std::string, std::string>& names)
        : m_config(config), m_names(names), m_data(infoOf(config.task.kind)),
          m_parts(partsOf(config)), m_batch(knownBatch(config)),
          m_samples(m_data.python(taskOf(config), m_batch.outputs)),
          m_model(fittingModel(config, m_batch, DType::F32)),
          m_seen(seenInput(config, m_model, m_batch)) {
        if (judged()) {
            m_critic = criticOf(config.model, m_batch.outputs);
            checkScores(m_critic, {{m_batch.rows, m_batch.outputs}, DType::F32});
        }
        chooseLanes();
    }

    std::string text() const {
        return head() + constants() + lanes() + "\n" + m_samples.code + m_samples.varied +
               (anyFp8() ? std::string("\n") + pythonFp8() : "") +
               (anyLayers() ? pythonLayers(anyFp8()) : "") +
               pythonBatches(m_config, !m_samples.varied.empty()) + network() + forward() +
               (byBatch() ? kPythonPredict : "") + pythonLoss(m_config, m_batch, anyCast()) +
               schedule() + (follows() ? pythonMeanLoss(predict(), moved(), underAutocast()) : "") +
               train() + split() + evaluate() + main();
    }

private:
    /// Returns what keeps a part of the samples to validate on for a test.
    std::string split() const {
        return keepsTestShare(m_config) ? testPython(taskOf(m_config)) : std::string();
    }
    bool hasSchedule() const { return m_config.schedule.kind != ScheduleKind::Constant; }
    bool follows() const { return m_config.schedule.kind == ScheduleKind::Plateau; }
    bool two() const { return m_parts.optimizers.size() > 1; }
    bool takesTurns() const { return m_parts.optimizers.front().every > 1; }
    bool judged() const { return isAdversarial(m_config.model); }
    bool validates() const { return judgesLanes(m_config); }
    bool byBatch() const { return validates() && usesBatch(m_model); }
    const char* predict() const { return byBatch() ? "predict" : "forward"; }
    bool tests() const { return keepsTestShare(m_config) || (validates() && m_samples.tests); }
    bool slopes() const { return m_config.model.adversary == Adversary::WganGp; }
    const char* shownLoss() const {
        return slopes() ? "-losses[1]" : judged() ? "losses[1]" : two() ? "sum(losses)" : "loss";
    }
    /// Returns the line that notes what a step showed; `skipped` is an expression.
    std::string row(const char* skipped) const {
        return std::string("rows.append((") + shownLoss() + ".item(), scale, " + skipped +
               (judged() ? ", losses[0].item()" : "") + "))\n";
    }
    bool anyCast() const {
        return std::any_of(m_lanes.begin(), m_lanes.end(),
                           [](const Lane& lane) { return !lane.torch.cast.empty(); });
    }
    bool anyFp8() const {
        return std::ranges::any_of(m_lanes, [](const Lane& lane) { return lane.torch.fp8; });
    }
    bool anyLayers() const {
        return std::any_of(m_lanes.begin(), m_lanes.end(),
                           [](const Lane& lane) { return !lane.layers.python.empty(); });
    }
    bool any(bool (*test)(const LaneConfig&)) const {
        return std::any_of(m_lanes.begin(), m_lanes.end(),
                           [&](const Lane& lane) { return test(m_config.lanes[lane.index]); });
    }
    static bool isStatic(const LaneConfig& lane) {
        return scalesLoss(lane) && lane.scaler.rules.mode == ScalerMode::Static;
    }
    static bool holdsSchedule(const LaneConfig& lane) {
        return scalesLoss(lane) && lane.scaler.holdSchedule;
    }

    void chooseLanes() {
        const std::vector<std::string> names = laneNames(m_config);
        for (size_t i = 0; i < names.size(); ++i) {
            const auto torch = torchLane(m_config.lanes[i].precision);
            if (!torch) {
                m_missing.push_back("the lane " + names[i]);
                continue;
            }
            m_lanes.push_back(
                {i, names[i], *torch, torchLayers(m_config.lanes[i], *torch, m_model, !two())});
            for (const std::string& layer : m_lanes.back().layers.lacking)
                m_missing.push_back("precision.layers " + layer + " of " + names[i]);
            for (const std::string& setting : settingsPyTorchLacks(m_config, i))
                m_missing.push_back(setting + " of " + names[i]);
        }
        if (m_lanes.empty()) refuseLanes();
        if (!m_config.forks.empty()) m_missing.push_back("lanes that begin in the middle");
        if (!m_config.edits.empty()) m_missing.push_back("settings that change on the way");
        if (m_config.patience > 0 && canValidate(m_config.task))
            m_missing.push_back("run.patience, which ends all lanes at the same step");
    }

    [[noreturn]] void refuseLanes() const {
        std::string list;
        for (const LaneConfig& lane : m_config.lanes)
            list += std::string(list.empty() ? "" : ", ") + nameOf(lane.precision);
        throw InputError(phrase("Settings", "lanes: PyTorch has none of these precisions: %1"),
                         list);
    }

    struct Lane {
        size_t index;
        std::string name;
        TorchLane torch;
        TorchLayers layers;
    };

    const char* moved() const;
    std::string underAutocast() const;
    std::string head() const;
    std::string chance() const;
    std::string constants() const;
    std::string lanes() const;
    std::string laneText(const Lane&) const;
    std::string network() const;
    std::string likeTarget() const;
    std::string forward() const;
    std::string schedule() const;
    std::string train() const;
    std::string models() const;
    std::string helpers() const;
    std::string losses() const;
    std::string scores() const;
    std::string penalty() const;
    std::string backward() const;
    std::string optimize() const;
    std::string update() const;
    std::string evaluate() const;
    std::string main() const;

    const RunConfig& m_config;
    const std::map<std::string, std::string>& m_names;
    const DataSetInfo& m_data;
    const StepParts m_parts;
    const BatchShape m_batch;
    const PythonData m_samples;
    const ModelSpec m_model;
    const SeenInput m_seen;
    ModelSpec m_critic; ///< empty when there is none
    std::vector<Lane> m_lanes;
    std::vector<std::string> m_missing; ///< what PyTorch cannot do, in words
};

std::string ScriptWriter::head() const {
    std::string text = "#!/usr/bin/env python3\n";
    if (!m_config.title.empty()) text += "# " + escapedText(m_config.title) + "\n";
    for (const std::string& missing : m_missing)
        text += "# Left out, because PyTorch has nothing like it: " + missing + "\n";
    text += filled(R"("""An experiment of Halfscope as a PyTorch program.

    python3 FILE [WEIGHTS.safetensors [SAMPLES.safetensors]]

Trains the lanes one after the other from the same weights on the same batches, and prints the
loss, the loss scale and the skipped steps of each. Both files come from halfscope-cli pytorch:
the weights that Halfscope's lanes start from, and the samples that they are trained{JUDGED} on.
Whatever else is drawn at random is PyTorch's own.
)",
                   {{"JUDGED", validates() ? " and judged" : ""}});
    if (validates()) text += chance();
    text += "\"\"\"\n";
    const std::string code = pythonOf(m_model, "") + (judged() ? pythonOf(m_critic, "") : "");
    if (code.find("OrderedDict") != std::string::npos)
        text += "from collections import OrderedDict\n";
    return text + m_samples.imports + (anyFp8() ? "import contextlib\n" : "") +
           "import sys\n\nimport torch\nfrom torch import nn\nfrom torch.nn import functional as "
           "F\n\n";
}

/// Returns what the program says where it judges other samples than Halfscope.
std::string ScriptWriter::chance() const {
    const auto draws = [](const std::string& code) {
        return code.find(kHeldByChance) != std::string::npos;
    };
    if (draws(m_samples.code))
        return R"(The samples to validate on are chosen at random, so they differ from Halfscope's, and so do
the validation figures. With SAMPLES.safetensors they are the same.
)";
    if (!draws(split())) return {};
    return R"(The samples to judge by are divided at random into those to validate on and those of the test, so
both differ from Halfscope's, and so do the figures. With SAMPLES.safetensors they are the same.
)";
}

std::string ScriptWriter::constants() const {
    const GradientConfig& g = m_config.gradients;
    std::string text = "SEED = " + std::to_string(m_config.seed) + "\n";
    text += m_config.epochs > 0 ? "EPOCHS = " + std::to_string(m_config.epochs) + "\n"
                                : "STEPS = " + std::to_string(stepsOf(m_config)) + "\n";
    if (!m_data.wholeSet) text += "BATCH = " + std::to_string(epochPlanOf(m_config).batch) + "\n";
    if (g.accumulate > 1)
        text += "ACCUMULATE = " + std::to_string(g.accumulate) + "  # batches for one update\n";
    return text + "DEVICE = \"cuda\" if torch.cuda.is_available() else \"cpu\"\n";
}

std::string ScriptWriter::laneText(const Lane& lane) const {
    const LaneConfig& config = m_config.lanes[lane.index];
    PythonArguments entries;
    if (!lane.torch.autocast.empty()) entries.add("autocast", lane.torch.autocast);
    if (!lane.torch.cast.empty()) entries.add("cast", lane.torch.cast);
    entries.add("tf32", lane.torch.tf32, false);
    if (lane.torch.fp8) entries.add("fp8", pythonText(nameOf(config.fp8Scaling)));
    if (!lane.layers.python.empty()) entries.add("layers", lane.layers.python);
    if (scalesLoss(config)) {
        const ScalerRules& rules = config.scaler.rules;
        PythonArguments scaler;
        scaler.add("init_scale", pythonReal(config.scaler.initScale));
        if (!isStatic(config)) {
            scaler.add("growth_factor", rules.growthFactor, 2);
            scaler.add("backoff_factor", rules.backoffFactor, 0.5);
            if (rules.growthInterval != 2000)
                scaler.add("growth_interval", numberText(rules.growthInterval));
        }
        entries.add("scaler", "dict(" + scaler.text() + ")");
        if (isStatic(config)) entries.add("static", pythonTruth(true));
        entries.add("hold_schedule", config.scaler.holdSchedule && hasCourse(m_config.schedule),
                    false);
    }
    return "    " + pythonText(lane.name) + ": dict(" + entries.text() + "),\n";
}

std::string ScriptWriter::lanes() const {
    std::string text = "LANES = {\n";
    for (const Lane& lane : m_lanes)
        text += laneText(lane);
    return text + "}\n";
}

std::string ScriptWriter::network() const {
    std::string text = "\n\ndef make_model():\n    return " + pythonOf(m_model, "    ") + "\n";
    ModelSpec all = m_model;
    if (judged()) {
        text += "\n\ndef make_critic():\n    return " + pythonOf(m_critic, "    ") + "\n";
        all.root.children = {m_model.root, m_critic.root}; // only to collect their classes
    }
    return pythonClassesOf(all) + text;
}

/// Returns what gives the network's output the axes of the targets; a critic takes rows of numbers.
std::string ScriptWriter::likeTarget() const {
    const Shape& axes = m_batch.targetSample;
    if (axes.empty()) return {};
    if (judged()) return ".flatten(1)";
    const NodeType in{m_seen.shape, m_batch.xDType()};
    const bool same = modelOutput(m_config.model, m_model, in).shape == m_batch.target();
    return same ? std::string() : ".unflatten(1, " + shapeText(axes) + ")";
}

/// Writes how the network takes samples in the form in which they come.
std::string ScriptWriter::forward() const {
    if (m_seen.pixelRows)
        return filled(R"(

def forward(model, x):
    """The samples are the pixels of one picture."""
    picture = x.T.reshape(1, -1, {SIDE}, {SIDE})
    return model(picture).flatten(2)[0].T
)",
                      {{"SIDE", std::to_string(m_seen.shape[2])}});
    const bool flat = !(m_seen.shape == m_batch.x());
    return std::string("\n\ndef forward(model, x):\n    return model(x") +
           (flat ? ".flatten(1)" : "") + ")" + likeTarget() + "\n";
}

std::string ScriptWriter::schedule() const {
    if (!hasSchedule()) return {};
    return "\n\ndef make_scheduler(optimizer, updates):\n    return " +
           scheduleCall(m_config.schedule) + "\n";
}

/// Writes the lane's network or networks, with their optimizers.
std::string ScriptWriter::models() const {
    const char* to = anyCast() ? ".to(DEVICE, lane.get(\"cast\"))" : ".to(DEVICE)";
    const OptimizerConfig& first = m_parts.optimizers.front().config;
    if (!two())
        return filled(
            R"(    model = make_model()
    if weights:
        {LOAD}
    model = model{TO}
{LAYERS}    optimizer = {OPTIMIZER}
)",
            {{"TO", to},
             {"LOAD", loadCall(m_config.model, "model", "weights")},
             {"LAYERS", anyLayers() ? "    keep_types(model, lane.get(\"layers\", {}))\n" : ""},
             {"OPTIMIZER", optimizerCall(first, "model.parameters()")}});
    return filled(
        R"(    model = nn.ModuleList([make_model(), {MAKE}()])
    if weights:  # those of the second network begin with "{START}"
        for network, start in zip(model, ("", "{START}")):
            names = [name for name in weights if name.startswith("{START}") == bool(start)]
            {LOAD}
    model = model{TO}
    optimizers = [
        {FIRST},
        {SECOND},
    ]
)",
        {{"TO", to},
         {"LOAD", loadCall(m_config.model, "network",
                           "{name[len(start) :]: weights[name] for name in names}")},
         {"MAKE", judged() ? "make_critic" : "make_model"},
         {"START", judged() ? m_parts.critic->prefix : m_parts.networks[1].prefix},
         {"FIRST", optimizerCall(first, "model[0].parameters()")},
         {"SECOND", optimizerCall(m_parts.optimizers[1].config, "model[1].parameters()")}});
}

/// Writes the functions that the scaler and the schedule need.
std::string ScriptWriter::helpers() const {
    std::string text;
    if (hasSchedule()) {
        const std::string updates =
            m_config.gradients.accumulate > 1 ? "max(2, steps // ACCUMULATE)" : "max(2, steps)";
        const std::string made = "make_scheduler(optimizer, " + updates + ")";
        text += two() ? "    schedulers = [" + made + " for optimizer in optimizers]\n"
                      : "    scheduler = " + made + "\n";
    }
    text += R"(    autocast = lane.get("autocast")
    scaler = torch.amp.GradScaler(DEVICE, **lane.get("scaler", dict(enabled=False)))
    taken, rows = [], []  # scaler.step() takes no step where a gradient is inf or nan
)";
    const char* hook = "optimizer.register_step_post_hook(lambda *_: taken.append(True))\n";
    return text + (two() ? "    for optimizer in optimizers:\n        " : "    ") + hook;
}

/// Moves a batch to the device, in the dtype of a lane's network; indices keep their type.
const char* ScriptWriter::moved() const {
    const bool cast = anyCast() && m_batch.indices == 0;
    return cast ? "x.to(DEVICE, lane.get(\"cast\"))" : "x.to(DEVICE)";
}

std::string ScriptWriter::underAutocast() const {
    return std::string("with torch.autocast(DEVICE, autocast, enabled=autocast is not None)") +
           (anyFp8() ? ", fp8_of(lane):" : ":");
}

/// Writes the forward pass when a critic judges it.
std::string ScriptWriter::scores() const {
    std::string text = filled(R"(        x, target = {TO}, target{FLAT}.to(DEVICE)
        {WITH}
            made = forward(model[0], x)
)",
                              {{"TO", moved()},
                               {"FLAT", m_batch.targetSample.empty() ? "" : ".flatten(1)"},
                               {"WITH", underAutocast()}});
    if (slopes())
        text += filled(
            R"(        read = feed["{SHARE}"][step, : len(x)].to(DEVICE) if feed else None
        share = read if feed else torch.rand(len(x), 1, device=DEVICE)
        between = (target + share * (made.detach().float() - target)).requires_grad_()
)",
            {{"SHARE", step_samples::kShare}});
    return text + filled(R"(        {WITH}
            scores = model[1](torch.cat([target, made{BETWEEN}]).to(x.dtype)).float().split(len(x))
            losses = losses_of(scores[0], scores[1])
)",
                         {{"WITH", underAutocast()}, {"BETWEEN", slopes() ? ", between" : ""}});
}

/// Writes the forward pass, under autocast.
std::string ScriptWriter::losses() const {
    if (judged()) return scores();
    std::string text = filled(R"(        x, target = {TO}, target.to(DEVICE)
        {WITH}
)",
                              {{"TO", moved()}, {"WITH", underAutocast()}});
    if (!two()) return text + "            loss = loss_of(forward(model, x), target)\n";
    text += "            outputs = [forward(network, x) for network in model]\n"
            "            losses = [\n";
    for (const LossPart& loss : m_parts.losses) {
        std::string sum;
        for (size_t i = 0; i < loss.factors.size(); ++i) {
            const double factor = loss.factors[i];
            if (i > 0) sum += factor < 0 ? " - " : " + ";
            sum += numberText(i > 0 ? std::abs(factor) : factor) + " * outputs[" +
                   std::to_string(i) + "]";
        }
        text += "                loss_of(" + sum + ", target),\n";
    }
    return text + "            ]\n";
}

/// Writes the penalised losses under names of their own: the plain ones are shown.
std::string ScriptWriter::penalty() const {
    const GradientConfig& g = m_config.gradients;
    if (slopes())
        return filled(
            R"(        (slope,) = torch.autograd.grad(scaler.scale(scores[2].sum()), between, create_graph=True)
        slope = slope.float() / scaler.get_scale()
        miss = (slope.square().sum(1) + 1e-12).sqrt() - 1
        totals = losses[0], losses[1] + {WEIGHT} * miss.square().mean()
)",
            {{"WEIGHT", pythonReal(g.criticPenalty)}});
    if (g.penalty == 0) return {};
    const std::string body = filled(
        R"(        scaled = torch.autograd.grad(scaler.scale(loss), list(model.parameters()), create_graph=True)
        gradients = [gradient / scaler.get_scale() for gradient in scaled]
        {WITH}
            squares = sum(gradient.pow(2).sum() for gradient in gradients)
            {TOTAL}loss + {WEIGHT} * {ROOT}{END}
)",
        {{"WITH", underAutocast()},
         {"TOTAL", two() ? "totals.append(" : "total = "},
         {"WEIGHT", pythonReal(g.penalty)},
         {"ROOT", g.penaltyEps == 0 ? "squares.sqrt()"
                                    : "(squares + " + pythonReal(g.penaltyEps) + ").sqrt()"},
         {"END", two() ? ")" : ""}});
    return two() ? "        totals = []\n        for loss in losses:\n" + indented(body) : body;
}

std::string ScriptWriter::backward() const {
    const bool accumulates = m_config.gradients.accumulate > 1;
    const bool penalised = m_config.gradients.penalty != 0 || slopes();
    const std::string loss = penalised && !two() ? "total" : "loss";
    const std::string part = accumulates ? loss + " / ACCUMULATE" : loss;
    std::string text = "        scaler.scale(" + part + ").backward()\n";
    if (judged())
        text = std::string("        for network, loss in zip(model, ") +
               (slopes() ? "totals" : "losses") + "):\n            scaler.scale(" + part +
               ").backward(inputs=list(network.parameters()), retain_graph=True)\n";
    else if (two())
        text = std::string("        for loss in ") + (penalised ? "totals" : "losses") +
               ":\n            scaler.scale(" + part + ").backward(retain_graph=True)\n";
    if (accumulates)
        text += "        if (step + 1) % ACCUMULATE != 0:\n            " + row("False") +
                "            continue\n";
    return text + "        taken.clear()\n";
}

/// Clips one optimizer's gradients and lets it step when it is its turn.
std::string ScriptWriter::optimize() const {
    const std::string clip =
        clipCall(m_config.gradients,
                 two() ? "[p for group in optimizer.param_groups for p in group[\"params\"]]"
                       : "model.parameters()");
    std::string text;
    if (!clip.empty()) text += "        scaler.unscale_(optimizer)\n        " + clip + "\n";
    text += "        scaler.step(optimizer)\n";
    if (!two()) return text;
    const std::string zero = "        optimizer.zero_grad()\n";
    if (!takesTurns()) return "        for optimizer in optimizers:\n" + indented(text + zero);
    return filled("        stepping = optimizers if (step + 1){UPDATES} % {EVERY} == 0 else "
                  "optimizers[1:]\n",
                  {{"UPDATES", m_config.gradients.accumulate > 1 ? " // ACCUMULATE" : ""},
                   {"EVERY", std::to_string(m_parts.optimizers.front().every)}}) +
           "        for optimizer in stepping:\n" + indented(text) +
           "        for optimizer in optimizers:\n" + indented(zero);
}

/// Writes the updates of the scaler and the schedule.
std::string ScriptWriter::update() const {
    std::string text = any(isStatic)
                           ? "        scaler.update(scale if lane.get(\"static\") else None)\n"
                           : "        scaler.update()\n";
    if (!two()) text += "        optimizer.zero_grad()\n";
    text += takesTurns() ? "        skipped = len(taken) < len(stepping)\n"
            : two()      ? "        skipped = len(taken) < len(optimizers)\n"
                         : "        skipped = not taken\n";
    if (!hasSchedule() || follows()) return text;
    std::string condition;
    if (any(holdsSchedule)) condition = "not (skipped and lane.get(\"hold_schedule\"))";
    if (m_config.schedule.kind == ScheduleKind::OneCycle) { // OneCycleLR raises beyond its end
        const std::string one = two() ? "schedulers[0]" : "scheduler";
        condition += std::string(condition.empty() ? "" : " and ") + one + ".last_epoch + 1 < " +
                     one + ".total_steps";
    }
    std::string step = two()
                           ? "        for scheduler in schedulers:\n            scheduler.step()\n"
                           : "        scheduler.step()\n";
    return text + (condition.empty() ? step : "        if " + condition + ":\n" + indented(step));
}

std::string ScriptWriter::train() const {
    std::string text = filled(R"(

def train(lane, data, steps, weights=None{VALIDATION}, feed=None):
    """Trains one lane. Returns the network, and for each step (loss, loss scale, skipped{MORE})."""
    torch.manual_seed(SEED)
)",
                              {{"VALIDATION", follows() ? ", validation=None" : ""},
                               {"MORE", judged() ? ", the first network's loss" : ""}});
    text += pythonBalancing(m_config);
    text += "    torch.backends.cuda.matmul.allow_tf32 = lane.get(\"tf32\", False)\n"
            "    torch.backends.cudnn.allow_tf32 = lane.get(\"tf32\", False)  # PyTorch: True\n";
    text += models() + helpers() + (follows() ? pythonEpoch(m_config) : "");
    text += "    source = batches_of(feed) if feed else batches(*data)\n"
            "    for step, (x, target) in zip(range(steps), source):\n"
            "        scale = scaler.get_scale()\n";
    if (follows()) text += pythonFollow(m_config);
    text += losses() + penalty() + backward() + optimize() + update();
    return text + "        " + row("skipped") + "    return model, rows\n";
}

std::string ScriptWriter::evaluate() const {
    if (!validates()) return {};
    return pythonEvaluate(m_config, predict(), moved(), underAutocast(), tests()) +
           m_samples.judged + "    return text\n";
}

std::string ScriptWriter::main() const {
    const bool keep = m_config.data.lastBatch == LastBatch::Keep;
    std::string steps = "STEPS";
    if (m_config.epochs > 0)
        steps = m_data.wholeSet ? "EPOCHS"
                : keep          ? "EPOCHS * -(-len(data[0]) // BATCH)"
                                : "EPOCHS * (len(data[0]) // BATCH)";
    std::string text =
        pythonFiles(m_config, m_batch) +
        filled(
            R"(

def main():
    weights, feed = loaded(1{WEIGHTS}), fed(2)
{NAMES}{PARTS}    steps = len(feed["{BATCH}"]) if feed else {STEPS}
    for name, lane in LANES.items():
        model, rows = train(lane, data, steps, weights{FOLLOWED}, feed=feed)
        for step in range(0, steps, max(1, steps // 10)):
            loss, scale, skipped{GENERATOR} = rows[step]
            print(f"{name}: step {step + 1}, loss {loss:.6g}{OTHER}, scale {scale:g}" + ", skipped" * skipped)
        print(f"{name}: loss {rows[-1][0]:.6g} at the end, {sum(row[2] for row in rows)} steps skipped")
)",
            {{"WEIGHTS",
              m_config.model.weights.empty() ? "" : ", " + pythonText(m_config.model.weights)},
             {"NAMES", renameLines(m_names)},
             {"PARTS", pythonParts(m_config, m_samples)},
             {"BATCH", step_samples::kBatch},
             {"GENERATOR", judged() ? ", generator" : ""},
             {"OTHER", judged() ? ", generator {generator:.6g}" : ""},
             {"FOLLOWED", follows() ? ", validation" : ""},
             {"STEPS", steps}});
    if (validates()) text += kPythonValidated;
    if (tests()) text += kPythonTested;
    return text + "\n\nif __name__ == \"__main__\":\n    main()\n";
}

} // namespace

std::string pytorchScript(const RunConfig& config,
                          const std::map<std::string, std::string>& names) {
    checkConfig(config);
    const RunConfig whole = withMovedEnd(config);
    return ScriptWriter(whole, names).text();
}

} // namespace halfscope
