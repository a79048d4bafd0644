// Which files MNIST has, where they come from and where they go.
#include "engine/data/get_mnist.h"

#include "engine/core/error.h"
#include "engine/io/open_folder.h"
#include "engine/io/user_folders.h"

#include <array>
#include <filesystem>

namespace halfscope {

std::span<const RemoteFile> mnistFiles() {
    static const std::array<RemoteFile, 4> files{
        {{"train-images-idx3-ubyte.gz", 9912422,
          "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"},
         {"train-labels-idx1-ubyte.gz", 28881,
          "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"},
         {"t10k-images-idx3-ubyte.gz", 1648877,
          "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"},
         {"t10k-labels-idx1-ubyte.gz", 4542,
          "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"}}};
    return files;
}

std::span<const std::string> mnistAddresses() {
    static const std::array<std::string, 2> addresses{
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        "https://storage.googleapis.com/cvdf-datasets/mnist/"};
    return addresses;
}

int64_t mnistBytes() {
    int64_t bytes = 0;
    for (const RemoteFile& file : mnistFiles())
        bytes += file.bytes;
    return bytes;
}

std::string usualMnistFolder() {
    const std::string data = userDataFolder();
    return data.empty() ? data : data + "/halfscope/mnist";
}

void getMnist(const std::string& folder, std::span<const RemoteFile> files,
              std::span<const std::string> addresses,
              const std::function<void(int64_t have)>& progress) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) failFile(folder, phrase("Files", "%1: cannot make the folder: %2"), error.value());
    int64_t before = 0;
    for (const RemoteFile& file : files) {
        fetchFile(file, addresses, folder, [&](const RemoteFile&, int64_t have) {
            if (progress) progress(before + have);
        });
        before += file.bytes;
        if (progress) progress(before);
    }
}

} // namespace halfscope
