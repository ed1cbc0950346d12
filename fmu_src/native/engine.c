#include "engine.h"

#define DECLARE(name, suffix) int32_t kt_unit_##name##suffix(int64_t *, double *, double *, int64_t, double);
#define DECLARE_ALL(suffix) \
    DECLARE(reset, suffix) DECLARE(start, suffix) DECLARE(prepare, suffix) DECLARE(refresh, suffix) DECLARE(advance, suffix) \
    DECLARE(derivatives, suffix) DECLARE(event, suffix) DECLARE(corner, suffix)
#ifdef KINETREE_OWN /* linked with straight-line code of one mechanism */
#define DECLARE_OWN(suffix) extern const OwnCode kt_own_table##suffix[];
#define OWN(suffix) kt_own_table##suffix
#else
#define DECLARE_OWN(suffix)
#define OWN(suffix) NULL
#endif
#define TABLE(name, suffix) \
    DECLARE_OWN(suffix) \
    static int32_t name##_advance(int64_t *ints, double *floats, double *work, int64_t option, double t); \
    static const Engine name = {kt_unit_reset##suffix, kt_unit_start##suffix, kt_unit_prepare##suffix, kt_unit_refresh##suffix, \
                                name##_advance, kt_unit_derivatives##suffix, kt_unit_event##suffix, kt_unit_corner##suffix, OWN(suffix)}; \
    static int32_t name##_advance(int64_t *ints, double *floats, double *work, int64_t option, double t) { \
        return ints[U_MATRIX_STEPS] ? matrix_advance(&name, ints, floats, work, t) : kt_unit_advance##suffix(ints, floats, work, option, t); \
    }

#ifdef KINETREE_BASE
DECLARE_ALL()
TABLE(baseline, )
#endif

#ifdef KINETREE_V3
DECLARE_ALL(_v3)
TABLE(with_avx2, _v3)
#endif

#ifdef KINETREE_V4
DECLARE_ALL(_v4)
TABLE(with_avx512, _v4)
#endif

#if defined(KINETREE_V3) || defined(KINETREE_V4)
#include <cpuid.h>

/* 0: any processor; 1: AVX2 and FMA units; 2: AVX-512, each with registers that the system keeps. */
static int processor(void) {
    unsigned a, b, c, d, low, high;
    if (!__get_cpuid_count(1, 0, &a, &b, &c, &d)) return 0;
    const unsigned fma = 1u << 12, movbe = 1u << 22, saved = 1u << 27, f16c = 1u << 29;
    if ((c & (fma | movbe | saved | f16c)) != (fma | movbe | saved | f16c)) return 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if ((low & 6) != 6 || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 0;
    const unsigned bmi1 = 1u << 3, avx2 = 1u << 5, bmi2 = 1u << 8;
    if ((b & (bmi1 | avx2 | bmi2)) != (bmi1 | avx2 | bmi2)) return 0;
    const unsigned wide = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31; /* F, DQ, CD, BW, VL */
    return (low & 0xE6) == 0xE6 && (b & wide) == wide ? 2 : 1;
}
#endif

/* NULL where the library holds nothing that this processor could run. */
EXPORTED const Engine *best_engine(void) {
#if defined(KINETREE_V3) || defined(KINETREE_V4)
    int found = processor();
#endif
#ifdef KINETREE_V4
    if (found == 2) return &with_avx512;
#endif
#ifdef KINETREE_V3
    if (found >= 1) return &with_avx2;
#endif
#ifdef KINETREE_BASE
    return &baseline;
#else
    return NULL;
#endif
}
