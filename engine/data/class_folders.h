// Folders that hold pictures of one class each, by their names alone.
#pragma once

#include <string>
#include <vector>

namespace halfscope {

/// Returns the sorted paths of the folders in a folder, without hidden ones and that of another
/// program. Empty when it cannot be listed. Can be cancelled.
std::vector<std::string> classFoldersIn(const std::string& folder);
/// Returns the names that folders have in each of these when there are at least two: the names of
/// classes, as it seems, where these are the parts of a data set, such as seg_train and seg_test.
std::vector<std::string> namesInAll(const std::vector<std::string>& folders);
/// Returns the classes of which the names of pictures tell, such as cat.0.jpg and dog.0.jpg; none
/// when there are not at least two, or a name tells of none.
std::vector<std::string> classesInNames(const std::vector<std::string>& pictures);

} // namespace halfscope
