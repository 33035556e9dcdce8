/* Ten interlocked rings, let go from a slant, for five seconds: a model that was written as C, stepped without Python.
 *
 * chain.h is made by export_model.py; it says what every function takes and gives. Nothing is allocated anywhere.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "chain.h"

#define FRAMES 60   /* a second */
#define SUBSTEPS 16 /* a frame */
#define LAST (16 * (CHAIN_NB - 1)) /* where the last ring's matrix begins among the poses */

static double energy(const double *state) {
    double still = 0.0, moving = 0.0;
    chain_kinetic_energy(state, &moving); /* it takes q, v, as a state begins; the other one q alone */
    chain_potential_energy(state, &still);
    return still + moving;
}

/* Rings hang in each other: the lowest point inside one meets the highest inside the next. */
static void hang(double *q) {
    const double pi = acos(-1.0), ring[4] = {pi / 2, pi, -pi / 2, pi};
    memcpy(q, CHAIN_NEUTRAL, sizeof CHAIN_NEUTRAL);
    for (int i = 2; i < CHAIN_NQ; i++) {
        q[i] = ring[(i - 2) % 4];
    }
}

int main(void) {
    double state[CHAIN_STEP_IN] = {0}; /* q, v, tau, dt: what a step takes */
    double next[CHAIN_STEP_OUT];       /* q, v: what it gives */
    double poses[CHAIN_POSES_OUT];     /* a 4 x 4 matrix a ring, row after row: what a renderer takes */

    hang(state + CHAIN_STEP_IN_Q);
    state[CHAIN_STEP_IN_Q] = 0.8;     /* of the first ring, rad */
    state[CHAIN_STEP_IN_V + 1] = 0.3; /* a small push out of the plane */
    state[CHAIN_STEP_IN_DT] = 1.0 / (FRAMES * SUBSTEPS);

    printf("  time      last ring: x, y, z      energy\n");
    for (int frame = 0; frame <= 5 * FRAMES; frame++) {
        chain_poses(state, poses); /* q begins a state */
        if (frame % 30 == 0) {
            const double *place = poses + LAST;
            printf("%6.2f  %9.4f %9.4f %9.4f  %10.2f\n", (double)frame / FRAMES, place[3], place[7], place[11],
                   energy(state));
        }
        for (int k = 0; k < SUBSTEPS; k++) {
            chain_step(state, next);
            memcpy(state, next, sizeof next); /* q, v come first in both */
        }
    }
    for (int i = 0; i < CHAIN_NQ; i++) {
        printf("%.17g\n", state[i]);
    }
    return 0;
}
