// The table of data sets, the folders that may have them, and the download.
#include "engine/data/public_data.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/io/open_folder.h"
#include "engine/io/user_folders.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <future>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>

namespace halfscope {

namespace {

PublicData mnist() {
    return {.name = "mnist",
            .title = "MNIST",
            .contents = phrase("Data", "70,000 handwritten digits"),
            .preset = "mnist-mlp",
            .files = {{"train-images-idx3-ubyte.gz", 9912422,
                       "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"},
                      {"train-labels-idx1-ubyte.gz", 28881,
                       "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"},
                      {"t10k-images-idx3-ubyte.gz", 1648877,
                       "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"},
                      {"t10k-labels-idx1-ubyte.gz", 4542,
                       "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"}},
            .addresses = {"https://ossci-datasets.s3.amazonaws.com/mnist/",
                          "https://storage.googleapis.com/cvdf-datasets/mnist/"}};
}

/// The checksums are of the files whose MD5 its authors published in their README. Debian's package
/// has the same pictures, but no time and name of a file in the headers of gzip.
PublicData fashionMnist() {
    return {.name = "fashion-mnist",
            .title = "Fashion-MNIST",
            .contents = phrase("Data", "70,000 pictures of clothes, shoes and bags"),
            .preset = "fashion-cnn",
            .files = {{"train-images-idx3-ubyte.gz", 26421880,
                       "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84"},
                      {"train-labels-idx1-ubyte.gz", 29515,
                       "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845"},
                      {"t10k-images-idx3-ubyte.gz", 4422102,
                       "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073"},
                      {"t10k-labels-idx1-ubyte.gz", 5148,
                       "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"}},
            // both are of the authors; the second has no encrypted connection
            .addresses = {"https://github.com/zalandoresearch/fashion-mnist/raw/master/data/"
                          "fashion/",
                          "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"}};
}

bool hasFiles(const std::filesystem::path& folder, const PublicData& data) {
    return std::ranges::all_of(data.files, [&folder](const RemoteFile& file) {
        const std::filesystem::path packed = folder / file.name;
        std::filesystem::path plain = packed;
        plain.replace_extension();
        std::error_code ignored;
        return std::filesystem::exists(packed, ignored) || std::filesystem::exists(plain, ignored);
    });
}

/// Whether a folder has all files, and says so soon. A thread of its own asks: a dead network would
/// hold the window.
bool hasFilesSoon(const std::string& folder, const PublicData& data) {
    constexpr std::chrono::milliseconds kPatience{2000};
    std::packaged_task<bool()> look([folder, data] { return hasFiles(folder, data); });
    std::future<bool> found = look.get_future();
    try {
        std::thread(std::move(look)).detach();
    } catch (const std::system_error&) { // the system has no thread to give
        return false;
    }
    return found.wait_for(kPatience) == std::future_status::ready && found.get();
}

std::string lookFor(const PublicData& data) {
    std::string folder = usualFolder(data);
    if (!folder.empty() && hasFilesSoon(folder, data)) return folder;
    for (const std::string& shared : sharedDataFolders()) { // Debian's packages have them there
        folder = (std::filesystem::path(shared) / "datasets" / data.name).string();
        if (hasFilesSoon(folder, data)) return folder;
    }
    return {};
}

/// The folders of the data sets that were looked for; empty for one that is not here.
class LocalFolders {
public:
    std::string of(const PublicData& data) {
        const std::lock_guard lock(m_mutex);
        auto found = m_folders.find(data.name);
        if (found == m_folders.end()) found = m_folders.emplace(data.name, lookFor(data)).first;
        return found->second;
    }
    void set(const PublicData& data, const std::string& folder) {
        const std::lock_guard lock(m_mutex);
        m_folders[data.name] = folder;
    }

private:
    std::mutex m_mutex;
    std::map<std::string, std::string> m_folders;
};

LocalFolders& localFolders() {
    static LocalFolders folders;
    return folders;
}

/// Data sets of one kind have files of the same names: one would replace the other, or be read in
/// its place. The size of a packed file tells whose it is; unpacked, they are equally large.
void checkNoOtherData(const PublicData& data, const std::string& folder) {
    for (const RemoteFile& file : data.files) {
        const std::string plain = file.name.substr(0, file.name.rfind('.'));
        std::error_code error;
        if (std::filesystem::exists(std::filesystem::path(folder) / plain, error))
            throw InputError(phrase("Data", "%1: %2 in this folder would be read in place of what "
                                            "is downloaded; choose another folder"),
                             pathText(folder), plain);
    }
    for (const PublicData& other : publicData()) {
        if (other.name == data.name) continue;
        for (const RemoteFile& file : other.files) {
            std::error_code error;
            const auto bytes =
                std::filesystem::file_size(std::filesystem::path(folder) / file.name, error);
            if (error || static_cast<int64_t>(bytes) != file.bytes) continue;
            throw InputError(phrase("Data", "%1: %2 in this folder is of %3, and %4 has files of "
                                            "the same names; choose another folder"),
                             pathText(folder), file.name, other.title, data.title);
        }
    }
}

} // namespace

int64_t PublicData::bytes() const {
    int64_t all = 0;
    for (const RemoteFile& file : files)
        all += file.bytes;
    return all;
}

std::span<const PublicData> publicData() {
    static const std::array<PublicData, 2> all{mnist(), fashionMnist()};
    return all;
}

const PublicData& publicDataNamed(std::string_view name) {
    std::vector<std::string> names;
    for (const PublicData& each : publicData()) {
        if (each.name == name) return each;
        names.push_back(each.name);
    }
    throw InputError(phrase("Data", "%1 is not a data set that can be downloaded%2"),
                     quotedText(name), nearestHint(name, names));
}

std::string usualFolder(const PublicData& data) {
    const std::string folder = userDataFolder();
    return folder.empty() ? folder : folder + "/halfscope/" + data.name;
}

std::string localFolder(const PublicData& data) { return localFolders().of(data); }

void getData(const PublicData& data, const std::string& folder,
             const std::function<void(int64_t have)>& progress) {
    checkNoOtherData(data, folder);
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) failFile(folder, phrase("Files", "%1: cannot make the folder: %2"), error.value());
    int64_t before = 0;
    for (const RemoteFile& file : data.files) {
        fetchFile(file, data.addresses, folder, [&](const RemoteFile&, int64_t have) {
            if (progress) progress(before + have);
        });
        before += file.bytes;
        if (progress) progress(before);
    }
    if (folder == usualFolder(data)) localFolders().set(data, folder);
}

} // namespace halfscope
