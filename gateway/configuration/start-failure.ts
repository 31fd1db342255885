// In charge of the one way to stop a start: its message says what is wrong and how to fix it.

export class StartFailure extends Error {}
