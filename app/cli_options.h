// Chooses the experiment that a command works on: a file or a preset, with changes from the command
// line.
#pragma once

#include "engine/settings/fields.h"
#include "engine/settings/sweep.h"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace halfscope::cli {

/// Adds an option whose text has at least one character: an empty text (from an unset variable of a
/// script) must not pass for the default. When it is given twice the last one counts, because
/// scripts append to a list of defaults. `allowed` ends the error message.
CLI::Option& textOption(CLI::App&, const char* name, std::string& to, const char* help,
                        const char* type, const std::string& allowed);

/// Adds an option that takes a whole number from `least` to `most`; the last one counts.
CLI::Option& countOption(CLI::App&, const char* name, int& to, const char* help, int least,
                         int most);
void deviceOption(CLI::App&, std::string& to);

/// Whether a command trains, and so takes options for the length of the training.
enum class Trains { Yes, No };

struct ExperimentOptions {
    std::string file, preset, lanes, steps, epochs, seed, weights, device, threads;
    bool partial = false; ///< of the file of weights, what fits is taken
    std::vector<std::string> settings, sweeps;
    Trains trains = Trains::Yes; ///< else the data may have fewer samples than a batch

    void addTo(CLI::App& command, Trains = Trains::Yes);
    /// Adds --sweep, for commands that compare many lanes.
    void addSweepTo(CLI::App& command);
    /// Returns the configuration of the file or preset, changed by --lanes, then by the named
    /// options, then by --set and then by --sweep, from left to right. Checks the whole; throws
    /// InputError. `note`, unless it is null, takes lines about settings that --lanes has dropped,
    /// about data that the preset lacks here, and about settings of the file or of --set that have
    /// no effect.
    RunConfig config(std::string* note = nullptr) const;
    std::vector<Sweep> swept() const { return parsed(sweeps, SweptBy::Lanes); }
    /// Reads sweeps beside which --set gives settings of the scaler: their presets leave these.
    std::vector<Sweep> parsed(const std::vector<std::string>& texts, SweptBy) const;
    /// The folder, where the file is that of a saved run; else empty.
    std::string runFolder() const;
    /// Whether the weights are set by one of the options.
    bool givesWeights() const;
    /// Returns the settings given for a run that continues from a checkpoint. Throws InputError for
    /// an option that would make another experiment.
    std::vector<Assignment> resumedSettings() const;
};

/// Throws InputError for a training that was recorded in PyTorch, which has neither a network nor
/// data.
void refuseRecorded(const RunConfig&);

} // namespace halfscope::cli
