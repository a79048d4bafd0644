// Asks, fetches, and says how to train on the data.
#include "app/cli_get.h"

#include "app/cli_output.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/get_mnist.h"

#include <chrono>
#include <iostream>
#include <vector>

namespace halfscope::cli {

namespace {

std::string megabytes(int64_t bytes) {
    return shortNumber(static_cast<double>(bytes) / 1e6, 3) + " MB";
}

/// Asks a question; the end of the input counts as no.
bool agrees(const std::string& question) {
    printNote(question + " [y/N] ");
    std::string answer;
    std::getline(std::cin, answer);
    return answer == "y" || answer == "Y" || answer == "yes";
}

/// Redraws the progress on a terminal; prints nothing elsewhere, because a log needs no bar.
void showProgress(int64_t have) {
    static std::chrono::steady_clock::time_point shown{};
    constexpr auto kPause = std::chrono::milliseconds(100);
    if (!noteIsTerminal() || std::chrono::steady_clock::now() - shown < kPause) return;
    shown = std::chrono::steady_clock::now();
    const double share = static_cast<double>(have) / static_cast<double>(mnistBytes());
    redrawNote(barText(share, 30) + " " + megabytes(have) + " of " + megabytes(mnistBytes()));
}

void endProgress() {
    if (noteIsTerminal()) clearNote();
}

} // namespace

int get(const GetOptions& options) {
    if (options.name != "mnist")
        throw InputError(
            Message::data(quotedText(options.name) + " cannot be downloaded; mnist can"));
    const std::string folder = options.folder.empty() ? usualMnistFolder() : options.folder;
    if (folder.empty())
        throw InputError(Message::data("get: --out is missing: without a home folder there is no "
                                       "usual one"));
    std::vector<std::string> addresses(mnistAddresses().begin(), mnistAddresses().end());
    if (!options.from.empty())
        addresses = {options.from.ends_with('/') ? options.from : options.from + "/"};
    const std::string question = "Download MNIST, " + megabytes(mnistBytes()) +
                                 " in four files, from " + pathText(addresses.front()) + " into " +
                                 pathText(folder) + "?";
    if (!options.yes && !agrees(question)) {
        printNote("\nNothing was downloaded; --yes does it without asking.\n");
        return 0;
    }
    try {
        getMnist(folder, mnistFiles(), addresses, showProgress);
    } catch (...) {
        endProgress();
        throw;
    }
    endProgress();
    print("MNIST is in " + pathText(folder) +
          ". To train on it:\nhalfscope-cli run --preset mnist-mlp --set data.path=" +
          pathText(folder) + "\n");
    return 0;
}

} // namespace halfscope::cli
