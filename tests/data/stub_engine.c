/* Stands in for the engine in tests of the shell: a mass on a spring, m x'' = force - k x - c x', whose stage changes when x passes `limit`. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "unit_layout.h"

enum { K = 1, M, C, LIMIT, PULL, X, V };              /* registers: parameters, input, coordinate, speed */
enum { COL_X, COL_V, COL_POWER };                     /* columns */
#define AT(name) (work + ints[U_AT_##name])
#define REG (work + ints[U_AT_WORKSPACE] + KINETREE_WORK_HEAD)

static double acceleration(const double *reg, double pull, double x, double v) { return (pull - reg[K] * x - reg[C] * v) / reg[M]; }

static int32_t columns(int64_t *ints, double *work) {
    double *reg = REG, *s = AT(STATES), *c = AT(COLUMNS);
    reg[X] = s[0], reg[V] = s[1];
    c[COL_X] = s[0];
    AT(RATES)[0] = c[COL_V] = s[1];
    AT(RATES)[1] = acceleration(reg, reg[PULL], s[0], s[1]);
    c[COL_POWER] = reg[PULL] * s[1];
    AT(GUARDS)[0] = work[V_STAGE] == 0 ? s[0] - reg[LIMIT] : -1;
    for (int i = 0; i < 3; i++)
        if (!isfinite(c[i]) || !isfinite(AT(RATES)[1])) {
            work[V_ITEM] = PULL;
            return STATUS_NOT_A_NUMBER;
        }
    return 0;
}

#define ENTRY(name) int32_t kt_unit_##name(int64_t *ints, double *floats, double *work, int64_t option, double t)

ENTRY(reset) {
    memset(work, 0, ints[U_WORK_SIZE] * sizeof *work);
    memcpy(REG, floats + ints[U_SIZE + S_FLOATS], ints[ints[U_SIZE + S_INTS] + H_REGISTERS] * sizeof *work);
    work[V_RELATIVE] = 1e-8, work[V_ABSOLUTE] = 1e-10, work[V_NEXT] = work[V_NOTED] = INFINITY;
    return 0;
}
ENTRY(start) {
    double *reg = REG;
    AT(STATES)[0] = reg[ints[ints[U_SIZE + S_STATES] + 2]];
    AT(STATES)[1] = reg[ints[ints[U_SIZE + S_STATES] + 3]];
    reg[PULL] = reg[ints[U_START_INPUTS]];
    work[V_TIME] = t;
    work[V_STARTED] = 1;
    int32_t status = columns(ints, work);
    AT(LOCATOR)[LOCATOR_SIZE + GUARD_ARMED] = AT(GUARDS)[0] < 0;
    return status;
}
ENTRY(prepare) { return columns(ints, work); }
ENTRY(refresh) { return columns(ints, work); }
ENTRY(derivatives) {
    work[V_TIME] = t;
    return columns(ints, work);
}
ENTRY(event) { /* 3: a step is completed, 5: the host goes on, 6: event mode ends; what is negative then may happen */
    if (option == 3) work[V_NOTED] = t;
    if (option == 6 || (option == 5 && t > work[V_NOTED])) AT(LOCATOR)[LOCATOR_SIZE + GUARD_ARMED] = AT(LOCATOR)[LOCATOR_SIZE + GUARD_ARMED] || AT(GUARDS)[0] < 0;
    if (option >= 5 && t != work[V_NOTED]) work[V_NOTED] = INFINITY;
    if (option > 1) return 0;
    if (work[V_STAGE] == 0 && option == 1) {
        work[V_STAGE] = 1;
        work[V_EVENTS] += 1;
        work[V_EVENT_TIME] = t;
    }
    return columns(ints, work);
}
ENTRY(corner) { return 0; }
static void rk4(const double *reg, double *s, double h, double slope) {
    double k[4][2], y[2] = {s[0], s[1]}, a = 0;
    for (int i = 0; i < 4; i++) {
        k[i][0] = y[1], k[i][1] = acceleration(reg, reg[PULL] + slope * a, y[0], y[1]);
        a = i == 2 ? h : 0.5 * h;
        y[0] = s[0] + a * k[i][0], y[1] = s[1] + a * k[i][1];
    }
    for (int j = 0; j < 2; j++) s[j] += h / 6 * (k[0][j] + 2 * k[1][j] + 2 * k[2][j] + k[3][j]);
}
ENTRY(advance) {
    double *s = AT(STATES), *reg = REG, slope = AT(SLOPES)[0];
    AT(SLOPES)[0] = 0;
    while (work[V_TIME] < t) {
        double h = fmin(1e-3, t - work[V_TIME]), before[2] = {s[0], s[1]};
        rk4(reg, s, h, slope);
        work[V_STEPS] += 1;
        if (work[V_STAGE] == 0 && s[0] >= reg[LIMIT]) {
            double low = 0, high = h;
            for (int i = 0; i < 60; i++) {
                double mid = 0.5 * (low + high);
                s[0] = before[0], s[1] = before[1];
                rk4(reg, s, mid, slope);
                if (s[0] >= reg[LIMIT]) high = mid; else low = mid;
            }
            s[0] = before[0], s[1] = before[1];
            rk4(reg, s, high, slope);
            work[V_TIME] += high;
            reg[PULL] += slope * high;
            int32_t status = columns(ints, work);
            if (!status) status = kt_unit_event(ints, floats, work, 1, work[V_TIME]);
            if (status || option & 1) return status ? status : STATUS_EVENT;
            continue;
        }
        reg[PULL] += slope * h;
        work[V_TIME] = t - work[V_TIME] <= 1e-3 ? t : work[V_TIME] + h;
    }
    return columns(ints, work);
}
