#include "engine.h"

#define DECLARE(name, suffix) int32_t kt_unit_##name##suffix(int64_t *, double *, double *, int64_t, double);
#define DECLARE_ALL(suffix) \
    DECLARE(reset, suffix) DECLARE(start, suffix) DECLARE(prepare, suffix) DECLARE(refresh, suffix) DECLARE(advance, suffix) \
    DECLARE(derivatives, suffix) DECLARE(event, suffix) DECLARE(corner, suffix)
#define TABLE(name, suffix) \
    static int32_t name##_advance(int64_t *ints, double *floats, double *work, int64_t option, double t); \
    static const Engine name = {kt_unit_reset##suffix, kt_unit_start##suffix, kt_unit_prepare##suffix, kt_unit_refresh##suffix, \
                                name##_advance, kt_unit_derivatives##suffix, kt_unit_event##suffix, kt_unit_corner##suffix}; \
    static int32_t name##_advance(int64_t *ints, double *floats, double *work, int64_t option, double t) { \
        return ints[U_MATRIX_STEPS] ? matrix_advance(&name, ints, floats, work, t) : kt_unit_advance##suffix(ints, floats, work, option, t); \
    }

DECLARE_ALL()
TABLE(baseline, )

#ifdef KINETREE_V3
DECLARE_ALL(_v3)
TABLE(with_avx2, _v3)
#endif

#ifdef KINETREE_V4
DECLARE_ALL(_v4)
TABLE(with_avx512, _v4)
#endif

#define HAS(feature) __builtin_cpu_supports(feature)

EXPORTED const Engine *best_engine(void) {
#ifdef KINETREE_V3
    __builtin_cpu_init();
    if (!(HAS("avx2") && HAS("fma") && HAS("bmi") && HAS("bmi2"))) return &baseline;
#ifdef KINETREE_V4
    if (HAS("avx512f") && HAS("avx512bw") && HAS("avx512cd") && HAS("avx512dq") && HAS("avx512vl")) return &with_avx512;
#endif
    return &with_avx2;
#endif
    return &baseline;
}
