// Runs the program's only test; of several tests it runs the one that the program is called as (by
// a link) or that its first argument names.
#include "tests/support/test_main.h"

#include <cstdio>
#include <map>
#include <string>
#include <string_view>

namespace {

std::map<std::string, halfscope::test::RunTest, std::less<>>& tests() {
    static std::map<std::string, halfscope::test::RunTest, std::less<>> all;
    return all;
}

} // namespace

namespace halfscope::test {

KnownTest::KnownTest(const char* name, RunTest run) {
    const std::string_view whole(name);
    tests().emplace(whole.substr(0, whole.find(':')), run);
}

} // namespace halfscope::test

int main(int argc, char** argv) {
    const std::string_view path(argc > 0 ? argv[0] : "");
    auto test =
        tests().size() == 1 ? tests().begin() : tests().find(path.substr(path.rfind('/') + 1));
    if (test == tests().end() && argc > 1) {
        test = tests().find(std::string_view(argv[1]));
        ++argv;
        --argc;
    }
    // Qt would end a function after five minutes, which long ones take on a busy machine
    if (!qEnvironmentVariableIsSet("QTEST_FUNCTION_TIMEOUT"))
        qputenv("QTEST_FUNCTION_TIMEOUT", "3600000");
    if (test != tests().end()) return test->second(argc, argv);
    std::fputs("The first argument names one of these tests; others go to it:\n", stderr);
    for (const auto& [name, run] : tests())
        std::fprintf(stderr, "  %s\n", name.c_str());
    return 2;
}
