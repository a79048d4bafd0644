// The data sets that can be downloaded from their public mirrors: which files they have, where
// these come from and where they go.
#pragma once

#include "engine/core/message.h"
#include "engine/io/download.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

/// A data set as it was published.
struct PublicData {
    std::string name;   ///< "fashion-mnist": on the command line, and of its folder
    std::string title;  ///< "Fashion-MNIST": the same in every language
    Phrase contents;    ///< "70,000 handwritten digits"
    std::string preset; ///< the name of the preset to train on it with
    std::vector<RemoteFile> files;
    std::vector<std::string> addresses; ///< of the folders that serve the files; the first is asked
                                        ///< first

    /// Returns the size of all files together.
    int64_t bytes() const;
};

std::span<const PublicData> publicData();
/// Throws InputError that names the nearest data set, or all, when there is none of this name.
const PublicData& publicDataNamed(std::string_view name);

/// Returns $XDG_DATA_HOME/halfscope/NAME, or ~/.local/share/halfscope/NAME when that is not set.
/// Empty when the user has no home folder.
std::string usualFolder(const PublicData&);
/// Returns the folder of this machine that has all files of a data set, as they were published or
/// unpacked: the usual one, or that of Debian's package, see sharedDataFolders(). Empty when
/// neither has them. Looks for them once; what getData() brings into the usual folder later is
/// known from then on. A home folder that does not answer soon counts as one without them. Any
/// thread may call.
std::string localFolder(const PublicData&);

/// Downloads what is missing into a folder, which is made when it does not exist; data.path can
/// then name it. `have` counts the bytes of all files. Can be cancelled. Throws InputError when the
/// folder has files of another data set, which these would replace, and RunError, see fetchFile().
void getData(const PublicData&, const std::string& folder,
             const std::function<void(int64_t have)>& progress);

} // namespace halfscope
