// In charge of IRIs as small integers, with counted references: an IRI without references is forgotten, its number reused.

export interface IriTable {
  /** The number of an IRI; undefined when there is no reference to it. */
  idOf(iri: string): number | undefined
  iriOf(id: number): string
  /** Counts one more reference; each needs one `release`. */
  retain(iri: string): number
  release(id: number): void
  readonly size: number
}

export function makeIriTable(): IriTable {
  const ids = new Map<string, number>()
  const iris: string[] = []
  const references: number[] = []
  const free: number[] = []
  return {
    idOf: (iri) => ids.get(iri),
    iriOf: (id) => iris[id]!,
    retain(iri) {
      const known = ids.get(iri)
      if (known !== undefined) {
        references[known]!++
        return known
      }
      const id = free.pop() ?? iris.length
      iris[id] = iri
      references[id] = 1
      ids.set(iri, id)
      return id
    },
    release(id) {
      if (--references[id]! > 0) return
      ids.delete(iris[id]!)
      iris[id] = ''
      free.push(id)
    },
    get size() {
      return ids.size
    },
  }
}
