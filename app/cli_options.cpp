// Implements the choice of an experiment. Numbers stay text until the field table checks them, so
// that every wrong value gets the same kind of message.
#include "app/cli_options.h"

#include "engine/core/error.h"

namespace halfscope::cli {

CLI::Option& textOption(CLI::App& command, const char* name, std::string& to, const char* help,
                        const char* type, const std::string& allowed) {
    return *command.add_option(name, to, help)
                ->type_name(type)
                ->check([allowed](const std::string& value) {
                    return value.empty() ? "\"\" is not allowed: " + allowed : std::string();
                })
                ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void ExperimentOptions::addTo(CLI::App& command) {
    textOption(command, "experiment", file, "An experiment file (JSON); without it the preset",
               "FILE", "the path of an experiment file");
    textOption(command, "--preset", preset, "A preset by name (default: checkerboard)", "NAME",
               "the name of a preset, such as checkerboard");
    textOption(command, "--lanes", lanes,
               "Lanes by precision, such as fp32,amp-fp16,apex-o2 (settings lists them)", "A,B",
               "one to six precisions, such as fp32,amp-fp16");
    const auto field = [&command](const char* name, std::string& to, const char* key,
                                  const char* help, const char* type) {
        textOption(command, name, to, help, type, allowedText(*findField(key)));
    };
    field("--steps", steps, "run.steps", "Stop after this many steps", "N");
    field("--seed", seed, "run.seed", "Seed of weights, data and batches", "N");
    field("--device", device, "run.device", "auto, cpu, cuda or cuda:INDEX", "DEVICE");
    field("--threads", threads, "run.threads", "Threads of the CPU device, 0 for all", "N");
    command
        .add_option("--set", settings,
                    "Any setting, such as scaler.init_scale=1024, or lanes.1.KEY=VALUE for one "
                    "lane; may be given again")
        ->type_name("KEY=VALUE")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

RunConfig ExperimentOptions::config() const {
    if (!file.empty() && !preset.empty()) {
        throw InputError("an experiment file and --preset: give one of them");
    }
    RunConfig config = !file.empty() ? readConfig(file)
                                     : presetNamed(preset.empty() ? "checkerboard" : preset).config;
    if (!lanes.empty()) config.lanes = parseLanes(lanes);
    const std::pair<const char*, const std::string&> named[] = {
        {"run.steps", steps}, {"run.seed", seed}, {"run.device", device}, {"run.threads", threads}};
    for (const auto& [key, text] : named) {
        if (!text.empty()) setField(config, -1, key, parseValue(*findField(key), text));
    }
    for (const std::string& setting : settings)
        applySetting(config, setting);
    checkConfig(config);
    return config;
}

} // namespace halfscope::cli
