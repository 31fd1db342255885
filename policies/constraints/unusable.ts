// Constraints that cannot be evaluated: thrown while they are read or run, and caught in constraints.ts.

/** It says nothing about the document, which must not pass. */
export class Unusable extends Error {}
