/* The engine compiled ahead of time, for every x86-64 processor, for those with AVX2 and FMA units, for those with AVX-512. */
#ifndef KINETREE_ENGINE_H
#define KINETREE_ENGINE_H

#include "core.h"
#include "unit_layout.h"

#ifdef _WIN32
#define EXPORTED __declspec(dllexport)
#else
#define EXPORTED __attribute__((visibility("default")))
#endif

/* matrix_steps.c: advance for units that are linear chains */
int32_t matrix_advance(const Engine *engine, int64_t *ints, double *floats, double *work, double target);

EXPORTED const Engine *best_engine(void); /* also called by the Python slave */

#endif
