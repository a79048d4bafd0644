// halfscope-cli runs FOLDER: a table of the saved runs in a folder.
#pragma once

#include <string>

namespace halfscope::cli {

/// The words for the orders of the table.
inline constexpr const char* kRunOrders = "validation, loss or name";

/// Prints a line for each saved run directly inside the folder: by default the best validation
/// first, as in the window's list of runs; runs that are equal by their names, 2 before 10. Names
/// those that cannot be read, with the reason, on standard error. `order` is one of kRunOrders, or
/// empty. Throws InputError for another order, and when no run can be listed.
void listSavedRuns(const std::string& folder, const std::string& order);

} // namespace halfscope::cli
