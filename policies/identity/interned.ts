// In charge of texts that are compared at every request, such as WebIDs: one object for one text, so that equal ones are
// found equal without being read.

/** The same text; as the name of a property, of which the engine keeps one. */
export const interned = (text: string): string => Object.keys({ [text]: undefined })[0]!
