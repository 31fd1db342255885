// In charge of which graphs a SPARQL update names as those that it writes.
import sparqljs, { type ManagementOperation, type Quads, type SparqlQuery, type Update } from 'sparqljs'

// What two parsers may resolve or unescape in two ways.
const UNSURE = /\\|\bbase\b/i

/**
 * The IRIs of all graphs that the update can change ('' for the default graph), or undefined where its text does not
 * say: then it may be any.
 */
export function graphsWritten(update: string): ReadonlySet<string> | undefined {
  if (UNSURE.test(update)) return undefined
  let tree: SparqlQuery
  try {
    tree = new sparqljs.Parser({ skipUngroupedVariableCheck: true }).parse(update)
  } catch {
    return undefined
  }
  if (tree.type !== 'update') return undefined
  const written = new Set<string>()
  for (const operation of tree.updates) {
    const names = namesIn(operation)
    if (!names) return undefined
    for (const name of names) written.add(name)
  }
  return written
}

type Operation = Update['updates'][number]

function namesIn(operation: Operation): string[] | undefined {
  if ('type' in operation) return managed(operation)
  const templates: Quads[] = [
    ...('insert' in operation ? (operation.insert ?? []) : []),
    ...('delete' in operation ? (operation.delete ?? []) : []),
  ]
  // SPARQL 1.1 Update §3.1.3: WITH is the graph of what names none.
  if (operation.graph && !('value' in operation.graph)) return undefined
  const named = operation.graph?.value ?? ''
  const names: string[] = []
  for (const template of templates) {
    if (template.type === 'bgp') names.push(named)
    else if (template.name.termType === 'NamedNode') names.push(template.name.value)
    else return undefined
  }
  return names
}

function managed(operation: ManagementOperation): string[] | undefined {
  if (operation.type !== 'clear' && operation.type !== 'drop') return undefined
  const { graph } = operation
  if (graph.default) return ['']
  return graph.name && !graph.all && !graph.named ? [graph.name.value] : undefined
}
