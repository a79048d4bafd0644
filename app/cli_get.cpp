// Asks, fetches, and says how to train on the data.
#include "app/cli_get.h"

#include "app/cli_output.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/public_data.h"

#include <chrono>
#include <iostream>

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
void showProgress(int64_t have, int64_t all) {
    static std::chrono::steady_clock::time_point shown{};
    constexpr auto kPause = std::chrono::milliseconds(100);
    if (!noteIsTerminal() || std::chrono::steady_clock::now() - shown < kPause) return;
    shown = std::chrono::steady_clock::now();
    const double share = static_cast<double>(have) / static_cast<double>(all);
    redrawNote(barText(share, 30) + " " + megabytes(have) + " of " + megabytes(all));
}

/// Refuses what is no address of a server: the attempt to connect would tell less.
void checkServer(const std::string& address) {
    const std::string low = lowerCase(address);
    for (const std::string_view scheme : {"https://", "http://"})
        if (low.starts_with(scheme) && low.size() > scheme.size() && low[scheme.size()] != '/')
            return;
    if (!address.empty())
        throw InputError(Message::data("--from: " + quotedText(address) +
                                       " is not allowed: an address such as "
                                       "https://host/folder/"));
}

void endProgress() {
    if (noteIsTerminal()) clearNote();
}

} // namespace

std::string dataNames() {
    std::string names;
    for (const PublicData& each : publicData())
        names += (names.empty() ? "" : " or ") + each.name;
    return names;
}

int get(const GetOptions& options) {
    if (options.name.empty())
        throw InputError(Message::data("get: a data set is missing: " + dataNames()));
    checkServer(options.from);
    PublicData data = publicDataNamed(options.name);
    const std::string folder = options.folder.empty() ? usualFolder(data) : options.folder;
    if (folder.empty())
        throw InputError(Message::data("get: the folder is missing: without a home folder there is "
                                       "no usual one"));
    if (!options.from.empty())
        data.addresses = {options.from.ends_with('/') ? options.from : options.from + "/"};
    const std::string question = "Download " + data.title + ", " + megabytes(data.bytes()) +
                                 " in four files, from " + pathText(data.addresses.front()) +
                                 " into " + pathText(folder) + "?";
    if (!options.yes && !agrees(question)) {
        printNote("\nNothing was downloaded; --yes does it without asking.\n");
        return 1; // a script must not go on as if the data were there
    }
    try {
        getData(data, folder, [&data](int64_t have) { showProgress(have, data.bytes()); });
    } catch (...) {
        endProgress();
        throw;
    }
    endProgress();
    print(data.title + " is in " + pathText(folder) +
          ". To train on it:\nhalfscope-cli run --preset " + data.preset +
          " --set data.path=" + shellText(folder) + "\n");
    return 0;
}

} // namespace halfscope::cli
