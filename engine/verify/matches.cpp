// Writes the suites, the functions by autocast rule, and what the field and preset tables have that
// PyTorch lacks.
#include "engine/verify/matches.h"

#include "engine/core/error.h"
#include "engine/ops/op_suite.h"
#include "engine/scaler/scaler_presets.h"
#include "engine/settings/fields.h"
#include "engine/settings/precision.h"

#include <algorithm>
#include <array>
#include <map>

namespace halfscope {

namespace {

constexpr std::array kTables{"cuda_float16", "cuda_bfloat16", "cpu_float16", "cpu_bfloat16"};

/// The parameters of torch.amp.GradScaler's constructor and update(); every other scaler field is
/// ours.
constexpr std::array kTorchScaler{"scaler.init_scale", "scaler.growth_factor",
                                  "scaler.backoff_factor", "scaler.growth_interval", "scaler.mode"};

/// Gives only the number of cases: which case comes nearest to its bound may differ between
/// machines.
std::string suitesTable(const VerifyReport& report) {
    std::string text = "| suite | compares | cases |\n| --- | --- | --- |\n";
    for (const SuiteResult& suite : report.suites) {
        require(suite.passed == suite.cases && suite.cases > 0, "all suites must be green");
        text += "| `" + suite.name + "` | " + suite.what.text() + " | " +
                std::to_string(suite.cases) + " |\n";
    }
    return text;
}

/// Returns a row for each rule.
std::string functionsOf(const CastPolicy& policy) {
    std::map<CastRule, std::string> byRule;
    for (const AutocastCase& function : autocastCases()) {
        std::string& line = byRule[policy.ruleOf(function.name)];
        line += (line.empty() ? "`" : ", `") + std::string(function.name) + "`";
    }
    std::string text;
    for (const auto& [rule, names] : byRule)
        text += "| " + std::string(nameOf(rule)) + " | " + names + " |\n";
    return text;
}

std::string functionsTable() {
    std::string text;
    for (const char* table : {"cuda_float16", "cpu_bfloat16"}) {
        const auto policy = autocastTablePolicy(table);
        require(policy.has_value(), "the tables have policies");
        text += "\n| rule in `" + std::string(table) + "` | functions |\n| --- | --- |\n" +
                functionsOf(*policy);
    }
    return text;
}

std::string scalerFields() {
    std::string text = "| setting | what it does |\n| --- | --- |\n";
    for (const Field& field : fieldTable()) {
        const bool torch =
            std::find(kTorchScaler.begin(), kTorchScaler.end(), field.key) != kTorchScaler.end();
        if (field.key.starts_with("scaler.") && !torch)
            text += "| `" + field.key + "` | " + field.help.english() + " |\n";
    }
    return text;
}

std::string presetsTable() {
    std::string text = "| preset | what it is |\n| --- | --- |\n";
    for (const PrecisionPreset& preset : precisionPresets()) {
        const std::string name = preset.name;
        const bool torch = name == "fp32" || name.starts_with("amp-") || name.starts_with("torch-");
        if (!torch) text += "| precision `" + name + "` | " + preset.about.text() + " |\n";
    }
    for (const ScalerPreset& preset : scalerPresets())
        if (std::string(preset.name) != "pytorch")
            text += "| scaler `" + std::string(preset.name) + "` | " + preset.about.text() + " |\n";
    return text;
}

} // namespace

std::string matchesReference(const VerifyReport& report) {
    std::string tables;
    for (const char* table : kTables)
        tables += std::string(tables.empty() ? "`" : ", `") + table + "`";
    return "## What matches\n\n"
           "`halfscope-cli verify` runs these suites on any device. All but `products` compare "
           "with "
           "values that PyTorch computed: version 2.11 on a GPU those of `autocast`, `scaler` and "
           "`runs`, version 2.15 on a CPU those of `optim` and `ops`. [Verification](verify.md) "
           "lists "
           "their bounds, and says when a case in a file of your own counts as ill-posed.\n\n" +
           suitesTable(report) + "\nOutput dtypes are checked for " +
           std::to_string(autocastCases().size()) + " functions under " + tables +
           ", with inputs that are all float32, all in the lower precision, or mixed. These are "
           "the rules behind them.\n" +
           functionsTable() +
           "\n## What goes beyond\n\n"
           "The loss scaler has guards that `torch.amp.GradScaler` lacks. At their defaults it "
           "reproduces PyTorch's value for value.\n\n" +
           scalerFields() +
           "\nBesides PyTorch's own, there are the policies and scalers of other systems.\n\n" +
           presetsTable() +
           "\nAn overflow names the first tensor that was not finite, a step says whether the "
           "optimizer stepped or why it did not, and a lane can have a policy of its own, with "
           "rules by operation or by layer.\n";
}

} // namespace halfscope
