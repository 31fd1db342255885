// Constraints that cannot be evaluated: thrown while they are read or run, and caught in constraints.ts.

/** Says nothing about the document. It must not let it pass. */
export class Unusable extends Error {}
