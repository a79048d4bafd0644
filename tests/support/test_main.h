// The main function of the tests, many of which share a program: in place of Qt's own, whose names
// it takes, so that a test reads as everywhere. Precompiled for all of them.
#pragma once

#include <QtTest>

namespace halfscope::test {

using RunTest = int (*)(int argc, char** argv);

/// Registers a test: `name` is its class, in the namespace of its file ("tst_run::TestRun").
struct KnownTest {
    KnownTest(const char* name, RunTest run);
};

/// Specialised for each test by the macros below.
template <class Test>
int runTest(int argc, char** argv);
template <class Test>
extern const KnownTest knownTest;

} // namespace halfscope::test

/// How long QTRY_VERIFY and its like try, in ms: Qt's five seconds are too short for a machine that
/// does ten other things, and only a test that fails waits to the end.
#undef QTRY_VERIFY
#undef QTRY_VERIFY2
#undef QTRY_COMPARE
#define QTRY_VERIFY(expr) QTRY_VERIFY_WITH_TIMEOUT((expr), 60000)
#define QTRY_VERIFY2(expr, messageExpression)                                                      \
    QTRY_VERIFY2_WITH_TIMEOUT((expr), messageExpression, 60000)
#define QTRY_COMPARE(expr, expected) QTRY_COMPARE_WITH_TIMEOUT((expr), expected, 60000)

#undef QTEST_MAIN
#undef QTEST_GUILESS_MAIN
#undef QTEST_APPLESS_MAIN

/// `Test` includes its namespace; `before` makes the application, if any, from argc and argv.
#define HALFSCOPE_TEST_MAIN(Test, before)                                                          \
    template <>                                                                                    \
    int halfscope::test::runTest<Test>(int argc, char** argv) {                                    \
        before;                                                                                    \
        Test test;                                                                                 \
        return QTest::qExec(&test, argc, argv);                                                    \
    }                                                                                              \
    template <>                                                                                    \
    const halfscope::test::KnownTest halfscope::test::knownTest<Test>(                             \
        #Test, &halfscope::test::runTest<Test>);
#define QTEST_MAIN(Test)                                                                           \
    HALFSCOPE_TEST_MAIN(Test, QApplication app(argc, argv); app.setAttribute(Qt::AA_Use96Dpi))
#define QTEST_GUILESS_MAIN(Test) HALFSCOPE_TEST_MAIN(Test, QCoreApplication app(argc, argv))
#define QTEST_APPLESS_MAIN(Test) HALFSCOPE_TEST_MAIN(Test, )
