// In charge of the IRIs that blank nodes of documents get when they are stored (design 3). Pure.
import { namedNode, withNodes, type NamedNode, type Quad } from './graph.js'

/** Blank nodes become `<document>#id<UUID>`, wherever they stand. */
export function skolemised(content: readonly Quad[], document: string, uuid: () => string): Quad[] {
  const names = new Map<string, NamedNode>()
  const nameOf = (label: string): NamedNode => {
    const name = names.get(label) ?? namedNode(`${document}#id${uuid()}`)
    names.set(label, name)
    return name
  }
  return content.map((triple) => withNodes(triple, nameOf))
}
