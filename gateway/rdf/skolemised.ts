// In charge of the IRIs that blank nodes of documents get when they are stored (design 3). Pure.
import { namedNode, quad, type NamedNode, type Quad } from './graph.js'

/** Blank nodes become `<document>#id<UUID>`, subjects and objects alike. */
export function skolemised(content: readonly Quad[], document: string, uuid: () => string): Quad[] {
  const names = new Map<string, NamedNode>()
  const nameOf = (label: string): NamedNode => {
    const name = names.get(label) ?? namedNode(`${document}#id${uuid()}`)
    names.set(label, name)
    return name
  }
  return content.map((t) =>
    t.subject.termType !== 'BlankNode' && t.object.termType !== 'BlankNode'
      ? t
      : quad(
          t.subject.termType === 'BlankNode' ? nameOf(t.subject.value) : (t.subject as NamedNode),
          t.predicate as NamedNode,
          t.object.termType === 'BlankNode' ? nameOf(t.object.value) : (t.object as NamedNode),
        ),
  )
}
