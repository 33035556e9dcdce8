"""The constants that contact is tuned by, each with its unit and reason; compiled code has them as they are here."""

# The law of a contact
REST_SHARE = 0.05  # of the speed that gravity gives in a step: surfaces that approach slower rest on each other
REST_SPEED = 1e-4  # m/s: the same where there is no gravity
TOUCHED = 0.05  # of the slop, from which depth on what is at rest is not let down to half of it
STANDS = 1e-12  # m/s, up to which that is at rest
LIMIT_REACH = 0.02  # rad or m: what forces that are not in the flight may move a coordinate by in a step

# Contacts that last
TURNS = 1e-3  # rad/s and m/s: what turns and moves slower takes its contacts nowhere
WANDERS = 2.0  # times what its bodies move and turn by, or its way in the step before: how far a contact may get
WANDERS_GLIDING = 10.0  # the same of ellipsoids: faster than what it is on as the radius there is larger than the arm
EDGES = 0.1  # share of that beyond which a contact whose normal turned, and did not before, is on another face
SAME_FACE = 1e-6  # by which normals may differ that are one
SMOOTH = 0.35  # of the smaller one, by which impulses of steps that follow each other may differ
SMOOTH_GLIDING = 3.0  # the same of ellipsoids, which press several times as much when they pass over their flat side
STEADY = 0.1  # the same of stops over several coordinates, which turn with what they hold
ALONG = 0.99  # cosine of the angle from where on normals of one pair are different ones
SLIDING = 1e-6  # relative: friction squared so near to its bound is at it
SETTLING = 1.0  # share by which a correction is larger or smaller for the energy that was gained or lost
RESOLVED = 0.25  # of what a contact moves by, m/s, up to which all of a correction is given; none of twice as much
OVERDONE = 1e-4  # share of what moves up to which what corrections bring in within a step is not looked at
REPAID = 0.01  # the same of what its contacts, which do not glide, lost before: more would keep boxes rocking on peaks
LITTLE = 1e-3  # share of what corrections in an island do, at most, that hardly turns
WEIGHTS = 2.5  # times what it falls by that a contact takes of what rocks on it, and is not struck
CREDIT = 1.0  # times the energy that turning takes in a step: what losses may be made good afterwards

# One contact alone (cone)
CONE_ROUNDS = 100  # Newton steps, of which a handful is taken: a bound for bad numbers
CONE_EXACT = 1e-15  # relative: rounding
CONE_CLOSE = 1e-8  # relative: a Newton step so short that the next one, its square, would be rounding
IMMOBILE = 1e-10  # share of a contact's mobility below which a direction cannot move
IMMOBILE_RIDGE = 1e-10  # what such a direction is given instead
ROLLING_SINGULAR = 1e-12  # share of its square below which the mobility of rolling has no inverse

# One island
FIRST_SWEEPS = 3  # before anything else: most islands need no more
SWEEPS_BETWEEN = 3  # after each direct solve, to find out again what binds
DIRECT_SOFTNESS = (
    1e-9,
    1e-4,
    1e-2,
    1e-5,
)  # ridges of direct solves, see ``subspace.refine``: softer where they do not help
ATTEMPTS = 2  # of direct solves before Newton's method, which takes less time than softer ones do
HOPELESS = 100.0  # growth of the residual by a direct solve after which a softer one comes at once
PATIENCE = 3  # direct solves that may pass without a better residual
CANCELLED = 1e-9  # share of the impulses' energies, each alone, that all together have, below which they are forgotten
FAILED = 1e-3  # m/s: a residual that is no solution
GUARDED = 1e-6  # m/s: a solve that misses laws by more wins no energy, however loose a tolerance is set
YIELDING_SWEEPS = 60  # from nothing with contacts that give way, where there is no solution: wedges that jam
YIELDING = (1e-3, 1e-2, 1e-1)  # share of what its impulse does by which a contact then gives way, one after the other
MOST_DIRECT_ROWS = 160  # beyond which sweeps are cheaper than elimination
BOUND_WIDTH = 1e-9  # relative distance from a cone or bound at which a row counts as being on it

# Sleep
RESTING_SPEED = 1e-4  # m/s and rad/s, of bodies: a hundred times what solves may leave, as stacks add it up
RESTING_WAY = 1e-5  # m and rad, of coordinates: how far what rests may get in all, so that nothing that creeps sleeps

# Impacts
LEAST_SINCE = 1e-3  # of a step: what bounced so shortly before its end is passed on to what it touches all the same
IMPACTS = 60  # one after the other within a step: what still approaches then gives nothing back
LEAST_IMPACTS = 10  # of these, where fewer iterations than that are allowed, each of which may be one

MOST_GIVEN_BACK = 0.2  # share by which impulses that bounce may differ for the energy that turning made

# Sticking before sliding
STICK_SPEED = 1e-6  # m/s: what a contact that sticks may still move by
JUDGEMENTS = 4  # solves in which contacts may turn from sticking to sliding

# What is held between others
FEW_HELD = 32  # contacts of an island, at most, that is solved again from an even pressure
FEW_AGAIN = 40  # iterations in which it is found, if it holds
STILL_STEPS = 2.0  # times the speed that gravity gives in a step: what slid faster when it began is not to be held
BALANCED = 0.5  # share of what presses on a body that it has left if it is held from several sides
SPREADS = 12  # times that all contacts find their impulses at once

# What friction wedges
WEDGED = 1e-3  # share of the impulses' energies, each alone, that all have together, below which they may be wedged
RUBBING = 0.1  # share of these that is friction's, at least: what is heavy on light presses by normals
WEDGED_ROWS = 96  # rows of an island, at most, whose impulses are lessened
RELIEFS = 6  # times that they go on until one more is at its bound
RELIEF_SOFTNESS = 1e-10  # share of its mobility by which each row gives way to what it carries
RELIEVED = 0.25  # share of the sum of squares that is left, at most: else all stay as they were
ON_THE_CONE = 1e-9  # relative, of squares: rounding

# What ended early
FASTER = 3.0  # times as fast as contacts were, or would be without impulses, that these may make any of an island
LETTINGS = 4  # sweeps that find out what else is too fast
ANEW = 2  # sweeps from none, where impulses brought energy in
LOOSE = 1e-3  # share of the impulses below which there are none

# Mixing
MIXED = 8  # iterates
MIXING_TRUST = 2.0  # growth of the residual at which mixing starts anew
UNMIXED_END = 8  # last sweeps: what has not converged by then ends on impulses that take energy away
DEPENDENT = 1e-8  # relative length below which an iterate adds nothing to those before it

# Positions
PATIENT_SWEEPS = 100  # at most, after which pushes are found all at once
SEPARATION_SWEEPS = 200  # at most, after these, where they are not found so
EVEN = 4.0  # times as mobile as what it touches, at most, is what is pushed all at once
HEAVY = 10.0  # times heavier than it is, from where on what is light opens slowly
OPENED, OPENED_SHARE = 2.5e-4, 0.02  # m, and share of the deepest overlap: how far what is heavy opens off light things
SOFT, STIFF, STIFFER = 10.0, 1e7, 100.0  # times what moves a gap by 1, by which its push grows as it lacks 1: at first,
# at last, and by how much more at each minimum
PUSH_STEPS, PUSH_FACTORS = 100, 40  # at most, to where nothing overlaps, and how many of them with factors of their own
PUSH_LOOKS = 40  # halvings of such a step
LEAST_SEPARATION = 10  # of these before time may end them: with one, six boxes sink into each other by 6 mm
PUSHING = 0.25  # share of the time that is allowed, which goes into positions: half of it, then what is left of it
SWEPT = 1e-4  # m: what gets in and out again within a step so deep met something in it, and is looked for in parts
PUT_DEEP = 5e-4  # m: overlaps beyond this, and what a step moves, of what did not touch before: they were built so
LIMITED = 200  # iterations: with fewer it is known what pulls at trees with joints, and what ended early lifts them by
SETTLED = 0.05  # share of the slop that the last sweep may still change
BEYOND_SLOP = 1.0 + 1e-6  # times the slop: a gap that rounding put there is none
SUBSTEPS = 1024  # parts of a step, unless set: of 4200 things thrown at up to 150 m/s none takes more than 387
PUSH_SPEED = 1.0  # m/s, unless set: millimetres that a fast step leaves go at once, what was built amiss at a walk
PUSH_ARM = 0.2  # m: pushing turns nothing faster than it would a wheel of this radius: 5 rad/s at 1 m/s
LED_BACK = 0.01  # share of its kinetic energy that a tree may win where it is led back to a limit: second order
STILL = 1e-12  # shift times velocity below which the way velocity is carried along makes no difference

# Newton's method on an island
LEAST_STEPS = 30  # sweeps that must be left for it: cut shorter, it is no better than sweeps
WORTH_BEGINNING = 150  # sweeps that time must be left for, too: what is begun is not ended between steps
FEW_UNKNOWNS = 96  # of an island, up to which direct solves come first
INTERIOR_STEPS = 20  # at most, in two thirds of what is left, then
AUGMENTED_STEPS = 38  # so many of the other method; where contacts have moments, which it alone solves for, then
AUGMENTED_AGAIN = 200  # so many, again and again
CLOSE = 3e-5  # m/s by which laws are missed where an interior point goes on slower than what comes after it
STEP_COST = 3  # sweeps that take the time of a step
FAR, FAR_AT_LEAST = 2.0, 1e-5  # times what laws are missed by; m/s: what opens by more than that stays open
REACHED = 3  # times that contacts which were left out as such may turn out to be reached
NEWTON_SHARE = 0.3  # of the tolerance that laws may be missed by when sweeps have the last word
LAST_SWEEPS, LED_AWAY = 2, 0.5  # and the share of what these change up to which it was better without them
LAST_STEPS, LONG_LAST_STEPS = 100, 400  # of augmented Lagrangians, at most, where a path, or a careful one, is left

# Rescues, where what Newton's method ends at is no solution
MANY_UNKNOWNS, RESCUED = 600, 1e-4  # up to so many unknowns what misses more than this, m/s, is solved along the path;
# more unknowns wait for FAILED, few for the tolerance
WITH_MOMENTS = 2000  # unknowns that are few where contacts have moments: without an interior point a third misses it
UNEVEN = 1e3  # times as mobile: where one contact touches what is so much lighter than what another does, Newton's
# method finds little, and all that misses the tolerance is solved along the path
MOMENTS_STEPS = 4  # where contacts have moments, for which no interior point begins: times the iterations allowed

# Interior point
GIVE = 1e-15  # share of its mobility by which a row gives way to a change, less than heavy bodies leave light ones
MARGIN, LEAST_MARGIN, MOST_MARGIN = 0.3, 1e-6, 1.0  # into the cones: share of what laws are missed by; m/s
INSIDE = 0.1  # of the width between bounds, at most, into which impulses begin
BOUNDARY = 0.9  # of the way to the boundary of the cones
JAMMED = 0.2  # of a step that is all that can be gone: it begins anew
CENTRE = 1e-6  # share of the products that is aimed at, at least
STALLS = 100  # steps that may pass without better impulses

# Augmented Lagrangian
START_SHARE = 1e-2  # of its mobility by which a contact gives way to a change of what it carries
LEAST_SHARE, MOST_SHARE = 1e-8, 1.0
AT_ONCE, SOON, LATE = 2, 5, 9  # Newton steps of a solution after which the share becomes the next one's,
SHARE_FACTORS = (0.1, 0.3, 1.0, 4.0)  # times this
NEVER, GIVEN_UP = 12, 10.0  # steps after which there is none, and the share grows by this
WORSE = 1.5  # growth of what laws are missed by up to which such an end is still something to go on from
INNER_SHARE = 0.1  # of what laws are missed by, to which each solution is found
LOOKS, PART_LEFT = 8, 0.3  # times that a length of a step is looked for; share of its part of F that may be left there

# The central path
PATH_FROM = 400  # iterations allowed, from where all that misses the tolerance is solved along the path
PATH_STEPS = 5  # factorizations, times the iterations allowed, at most
FIRST_LOOK, LATER_LOOK, EACH_LOOK = 100, 3, 2000  # factorizations along it after which it is looked whether it can be
# left; times those, or so many more at most
LONG, LONGEST = 3000, 20000  # factorizations, at most, where laws are missed by FAILED without: of 64 bricks whose
LONG_UNKNOWNS = 2000  # friction is 2, the path takes up to 13000; of so many unknowns, fewer where there are more
FROM_OUTSIDE = 100.0  # times what is missed without impulses: the root of nu, m/s, from where it is followed
LEFT_BY = 14.0  # log of how many times nu may be what it was there: where contacts are jammed it grows for ever
PATH_END = 3e-6  # m/s, the same where it ends: augmented Lagrangians end it from there
ONTO_PATH, LEAST_PART = 150, 1e-4  # Newton steps at most onto it there, and the least part of one that is gone
LESS = 0.1  # share of squares by which such a step lessens them
ON_PATH, NEAR_PATH = 0.03, 0.5  # relative changes: so small that it is met; so small that it is the one to be met
SOFTENS = 0.75  # power of nu with which contacts that give way get harder: they carry less and less where jammed
HARD = 1e-13  # share of its mobility by which any gives way to a change, or in all: beyond it rounding would decide
# Of each path by which it is tried, one after the other: the share of its mobility by which a contact gives way to the
# end; whether it gives way by more at first; and from which one on they are followed carefully
GIVES, AT_FIRST, CAREFULLY = (0.0, HARD, HARD, 0.0, 1e-8, 5e-8, HARD), (0, 0, 1, 0, 0, 0, 1), 3
CHORDS, CONTRACTION = 12, 0.7  # changes by the same factors, each so many times the last at most
REFACTORED = 2  # times, where they are not
WANTED_MISS, CAREFUL, TINY = 0.1, 0.03, 1e-12  # relative, of a step along the tangent: by less another path is met
FIRST_LENGTH, LEAST_LENGTH, MOST_LENGTH = 0.3, 1e-5, 3.0  # relative, of steps
SHORTENED, LENGTHENED = 0.3, 2.5  # times the length of one that does not find back, and at most of one that does
