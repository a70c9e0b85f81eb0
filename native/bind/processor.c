/* Which of the two builds of the core this processor can run, asked before either is loaded. */
#include <Python.h>

#if defined(__x86_64__)
#include <cpuid.h>

static int has(unsigned word, int bit) { return (word >> bit) & 1u; }

/* Everything that x86-64-v3 may use, and an operating system that keeps the wide registers. Asked of the processor itself:
   not every compiler has what __builtin_cpu_supports needs. */
static int runs_v3(void) {
    unsigned a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return 0;
    const int fma = has(c, 12), movbe = has(c, 22), osxsave = has(c, 27), avx = has(c, 28), f16c = has(c, 29);
    if (!(fma && movbe && osxsave && avx && f16c)) return 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if ((low & 6u) != 6u) return 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(has(b, 3) && has(b, 5) && has(b, 8))) return 0; /* BMI1, AVX2, BMI2 */
    return __get_cpuid(0x80000001u, &a, &b, &c, &d) && has(c, 5);                                    /* LZCNT */
}
#else
static int runs_v3(void) { return 0; }
#endif

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "processor", .m_size = -1};

PyMODINIT_FUNC PyInit_processor(void) {
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL) return NULL;
    if (PyModule_AddIntConstant(module, "v3", runs_v3()) < 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
