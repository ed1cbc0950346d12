/* The calls of FMI 3.0 that this FMU has no use for: each is refused. */
#include "calls.h"
#include "fmi3Functions.h"

#define MAYBE(pointer) (missing(h) ? NULL : (pointer))
#define KINDS(X) X(Float32) X(Int8) X(UInt8) X(Int16) X(UInt16) X(UInt32) X(Int64) X(UInt64) X(Boolean)

enum { BY_KIND = 9 };

static int typed(Host *h, Instance *in, int number, const uint32_t *vr, uint32_t n) {
    double room[2 * MOST] = {0};
    int k = 0;
#define GET(Kind) if (number == k++) return fmi3Get##Kind(in, vr, n, (fmi3##Kind *)MAYBE(room), n);
#define SET(Kind) if (number == k++) return fmi3Set##Kind(in, vr, n, (const fmi3##Kind *)MAYBE(room), n);
    KINDS(GET)
    KINDS(SET)
    return -1;
}

static int others(Host *h, Instance *in, int number, const uint32_t *vr, uint32_t n) {
    size_t sizes[MOST] = {0}, count;
    uint64_t room[MOST] = {0};
    double real[MOST] = {0};
    fmi3Int32 whole[MOST] = {0};
    fmi3String texts[MOST] = {NULL};
    fmi3Binary blobs[MOST] = {NULL};
    fmi3Clock clocks[MOST] = {0};
    fmi3IntervalQualifier qualifiers[MOST];
    fmi3DependencyKind kinds[MOST];
    switch (number) {
        case 0: return fmi3SetInt32(in, vr, n, MAYBE(whole), n);
        case 1: return fmi3SetString(in, vr, n, MAYBE(texts), n);
        case 2: return fmi3GetBinary(in, vr, n, MAYBE(sizes), MAYBE(blobs), n);
        case 3: return fmi3SetBinary(in, vr, n, MAYBE(sizes), MAYBE(blobs), n);
        case 4: return fmi3GetClock(in, vr, n, MAYBE(clocks));
        case 5: return fmi3SetClock(in, vr, n, MAYBE(clocks));
        case 6: return fmi3EnterConfigurationMode(in);
        case 7: return fmi3ExitConfigurationMode(in);
        case 8: return fmi3GetNumberOfVariableDependencies(in, 0, MAYBE(&count));
        case 9: return fmi3GetVariableDependencies(in, 0, MAYBE(sizes), MAYBE((uint32_t *)room), MAYBE(sizes), MAYBE(kinds), n);
        case 10: return fmi3GetIntervalDecimal(in, vr, n, MAYBE(real), MAYBE(qualifiers));
        case 11: return fmi3GetIntervalFraction(in, vr, n, MAYBE(room), MAYBE(room), MAYBE(qualifiers));
        case 12: return fmi3GetShiftDecimal(in, vr, n, MAYBE(real));
        case 13: return fmi3GetShiftFraction(in, vr, n, MAYBE(room), MAYBE(room));
        case 14: return fmi3SetIntervalDecimal(in, vr, n, MAYBE(real));
        case 15: return fmi3SetIntervalFraction(in, vr, n, MAYBE(room), MAYBE(room));
        case 16: return fmi3SetShiftDecimal(in, vr, n, MAYBE(real));
        case 17: return fmi3SetShiftFraction(in, vr, n, MAYBE(room), MAYBE(room));
        case 18: return fmi3ActivateModelPartition(in, 0, 0);
        default: return -1;
    }
}

int call_absent(Host *h, Slot *s, int number) {
    uint32_t vr[MOST], n = references(h, s->in, vr);
    const uint32_t *given = MAYBE(vr);
    int status = number < 2 * BY_KIND ? typed(h, s->in, number, given, n) : others(h, s->in, number - 2 * BY_KIND, given, n);
    expect(h, status != 0 || n == 0, "what is absent is refused");
    return status;
}
