/* Plays a Modelica tool on the library of external objects: integrates by Runge-Kutta steps, finds the rise of relations by halving, carries out events.
   usage: modelica_tool FILE TOKEN exchange|steps STATES GUARDS END STEP HOSTILE VR,... INPUT_VR,... INPUT_VALUES,... PARAMETER_VR,... VALUES,...
   TUNED_VR,... VALUES,... TIME: parameters that change then.
   HOSTILE: calls that a tool may make or leave out besides: elsewhere, twice, with the epoch before and again with the present one. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 256 };
void *kinetree_block_new(const char *, const char *, const char *, int, double, double, const int *, size_t, const double *, size_t);
void kinetree_block_free(void *);
void kinetree_block_start(void *, double *, size_t, double *);
void kinetree_block_values(void *, const int *, size_t, double *);
void kinetree_block_counts(void *, int, const int *, size_t, int *);
#define POSITION double, const double *, size_t, const int *, size_t, const double *, size_t, int
void kinetree_block_rates(void *, POSITION, double *);
void kinetree_block_outputs(void *, POSITION, const int *, size_t, double *);
void kinetree_block_guards(void *, POSITION, double *, size_t);
int kinetree_block_event(void *, POSITION, const int *, size_t, const double *, size_t, double *, double *);
void kinetree_block_slopes(void *, POSITION, double, const double *, size_t, const double *, size_t, double *);
int kinetree_block_step(void *, double, double, const int *, size_t, const double *, size_t, const double *, size_t, int, const int *, size_t, double *);

#ifdef _WIN32
__declspec(dllexport)
#endif
void ModelicaFormatError(const char *format, ...) { /* never comes back */
    va_list arguments;
    va_start(arguments, format);
    printf("error ");
    vprintf(format, arguments);
    va_end(arguments);
    exit(1);
}

static void *o;
static size_t nx, nz, nu, ny, np;
static int uvr[MOST], yvr[MOST], pvr[MOST], epoch, hostile;
static double u[MOST], p[MOST], x[MOST], t, next;
static int tvr[MOST];
static double tuned[MOST], tuned_at = INFINITY;
static size_t ntuned;
#define TUNED tvr, t >= tuned_at ? ntuned : 0, tuned, t >= tuned_at ? ntuned : 0
#define HERE(time, at) time, at, nx, uvr, nu, u, nu, epoch

static size_t integers(char *text, int *into) {
    size_t n = 0;
    for (char *at = strtok(text, ","); at; at = strtok(NULL, ",")) into[n++] = atoi(at);
    return n;
}
static void reals(char *text, double *into) {
    for (char *at = strtok(text, ","); at; at = strtok(NULL, ",")) *into++ = atof(at);
}

/* Calls of no consequence. */
static void disturb(void) {
    static double elsewhere[MOST], other[MOST], a[MOST], b[MOST];
    if (!hostile || rand() % 4) return;
    for (size_t k = 0; k < nx; k++) elsewhere[k] = x[k] + 1e-3 * (rand() % 100 - 50) / 50.0;
    for (size_t k = 0; k < nu; k++) other[k] = u[k] + 1;
    kinetree_block_rates(o, t + 0.01, elsewhere, nx, uvr, nu, other, nu, epoch, a);
    if (nz) kinetree_block_guards(o, t - 0.01, elsewhere, nx, uvr, nu, other, nu, epoch, a, nz);
    kinetree_block_rates(o, HERE(t, x), a);
    kinetree_block_rates(o, HERE(t, x), b);
    if (memcmp(a, b, nx * sizeof *a)) printf("differs rates\n");
}

static void rates(double time, const double *at, double *dx) {
    disturb();
    kinetree_block_rates(o, HERE(time, at), dx);
}

static void moved(double h, double *to) {
    static double k[4][MOST], y[MOST];
    static const double parts[] = {0, 0.5, 0.5, 1};
    for (int i = 0; i < 4; i++) {
        for (size_t j = 0; j < nx; j++) y[j] = x[j] + (i ? parts[i] * h * k[i - 1][j] : 0);
        rates(t + parts[i] * h, y, k[i]);
    }
    for (size_t j = 0; j < nx; j++) to[j] = x[j] + h / 6 * (k[0][j] + 2 * k[1][j] + 2 * k[2][j] + k[3][j]);
}

static int rises(const double *now, const double *before) {
    for (size_t k = 0; k < nz; k++)
        if (now[k] >= 0 && before[k] < 0) return 1;
    return 0;
}

static int happens(double *z) {
    double xn[MOST], again[MOST], back[MOST], now[MOST], following;
    int then = kinetree_block_event(o, HERE(t, x), TUNED, xn, &next);
    if (hostile) {
        kinetree_block_rates(o, HERE(t, x), back); /* the epoch before */
        if (kinetree_block_event(o, HERE(t, x), TUNED, again, &following) != then || memcmp(again, xn, nx * sizeof *xn) || following != next)
            printf("differs event\n");
        kinetree_block_rates(o, HERE(t, x), back);
        epoch = then;
        kinetree_block_rates(o, HERE(t, xn), now);
    }
    epoch = then;
    memcpy(x, xn, nx * sizeof *x);
    if (nz) kinetree_block_guards(o, HERE(t, x), z, nz);
    return 1;
}

static int exchange(double end, double step) {
    double z[MOST], now[MOST], to[MOST];
    int events = 0;
    kinetree_block_start(o, x, nx, &next);
    if (nz) kinetree_block_guards(o, HERE(t, x), z, nz);
    while (t < end) {
        double stop = fmin(fmin(end, next), t < tuned_at ? tuned_at : end), h = fmin(step, stop - t);
        int last = h >= stop - t, event = 0;
        moved(h, to);
        if (nz) kinetree_block_guards(o, HERE(t + h, to), now, nz);
        if (nz && (event = rises(now, z))) {
            double low = 0;
            while (h - low > 1e-14 * fmax(1, t)) {
                double middle = low + 0.5 * (h - low);
                moved(middle, to);
                kinetree_block_guards(o, HERE(t + middle, to), now, nz);
                if (rises(now, z)) h = middle;
                else low = middle;
            }
            moved(h, to);
            kinetree_block_guards(o, HERE(t + h, to), now, nz);
            last = 0;
        }
        t = last ? stop : t + h;
        memcpy(x, to, nx * sizeof *x);
        if (nz) memcpy(z, now, nz * sizeof *z);
        int tunes = t == tuned_at;
        for (int k = 0; (event || tunes || t >= next) && k < 20; k++, tunes = 0) { /* iteration of events: what rises in one is another */
            double before[MOST];
            memcpy(before, z, nz * sizeof *z);
            events += happens(z);
            event = nz && rises(z, before);
        }
    }
    return events;
}

int main(int n, char **a) {
    double end = atof(a[6]), step = atof(a[7]), y[MOST], zero[MOST] = {0};
    nx = (size_t)atoi(a[4]), nz = (size_t)atoi(a[5]), hostile = atoi(a[8]);
    ny = integers(a[9], yvr);
    if (n > 11) nu = integers(a[10], uvr), reals(a[11], u);
    if (n > 13) np = integers(a[12], pvr), reals(a[13], p);
    o = kinetree_block_new("tool", a[1], a[2], !strcmp(a[3], "exchange"), 0, 0, pvr, np, p, np);
    if (n > 16) ntuned = integers(a[14], tvr), reals(a[15], tuned), tuned_at = atof(a[16]);
    if (!strcmp(a[3], "exchange")) {
        double ones[MOST], slopes[MOST];
        kinetree_block_start(o, x, nx, &next);
        for (size_t k = 0; k < MOST; k++) ones[k] = 1;
        kinetree_block_slopes(o, HERE(t, x), 1, ones, nx, ones, nu, slopes);
        for (size_t k = 0; k < nx; k++) printf("slope %.9g\n", slopes[k]);
        printf("events %d\n", exchange(end, step));
        kinetree_block_outputs(o, HERE(t, x), yvr, ny, y);
    } else {
        double twice[MOST];
        kinetree_block_values(o, yvr, ny, y);
        for (long k = 0; k < lround(end / step); k++) {
            if (k == lround(tuned_at / step))
                for (size_t j = 0; j < ntuned; j++) uvr[nu] = tvr[j], u[nu++] = tuned[j];
            int then = kinetree_block_step(o, k * step, step, uvr, nu, u, nu, zero, nu, epoch, yvr, ny, y);
            if (hostile) then = kinetree_block_step(o, k * step, step, uvr, nu, u, nu, zero, nu, epoch, yvr, ny, twice);
            if (hostile && memcmp(y, twice, ny * sizeof *y)) printf("differs step\n");
            epoch = then;
        }
    }
    for (size_t k = 0; k < ny; k++) printf("value %.17g\n", y[k]);
    kinetree_block_free(o);
    return 0;
}
