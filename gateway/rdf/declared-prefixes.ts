// The prefixes declared by a Turtle text, limited to a bounded number of http namespaces that are useful for writing.
// Pure.
export type Prefixes = Readonly<Record<string, string>>

const DECLARATION = /^[ \t]*@?prefix[ \t]+((?:[a-z][\w-]{0,40})?):[ \t]*<(https?:\/\/[^<>"{}|^`\\\s]{1,200}[/#])>/gim
const MOST_PREFIXES = 100
/** In characters. */
const LARGEST = 256 * 1024

const declarations = (turtle: string) => [...turtle.slice(0, LARGEST).matchAll(DECLARATION)].slice(0, MOST_PREFIXES)

export const prefixesIn = (turtle: string): Prefixes =>
  Object.fromEntries(declarations(turtle).map(([, prefix, namespace]) => [prefix!, namespace!] as const))

/** Only the declarations, as text. */
export const declarationsIn = (turtle: string): string =>
  declarations(turtle)
    .map(([text]) => text)
    .join('\n')
