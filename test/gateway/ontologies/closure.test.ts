// The closure of an ontology (gateway/ontologies/closure.ts): imports are read concurrently, within one time limit.
import t from 'tap'
import { closureOf, type Imports, type LocalOntology } from '../../../gateway/ontologies/closure.js'
import { problem } from '../../../gateway/problem.js'
import { iri, triple } from '../../../gateway/rdf/graph.js'
import { OWL, RDF } from '../../../gateway/rdf/vocabulary.js'

const ROOT = 'urn:root'
const localOf = (imports: readonly string[], isOfPackage = false): LocalOntology => ({
  document: 'urn:document',
  imports,
  isOfPackage,
})
const FAILED = problem('ontology.failed', 'It is away.')

void t.test('the imports of an ontology', async (t) => {
  const asked: string[] = []
  let [atWork, most] = [0, 0]
  const imports: Imports = {
    isOwn: (name) => name.startsWith('urn:own'),
    async read(name) {
      asked.push(name)
      most = Math.max(most, ++atWork)
      // The other answers arrive before any timer, even on a stalling machine.
      await (name.includes('slow') ? new Promise(() => undefined) : undefined)
      atWork--
      if (name.includes('failed')) return FAILED
      const further = name.includes('deep') ? [triple(name, OWL('imports'), iri('urn:further'))] : []
      return [triple(name, RDF('type'), iri(OWL('Ontology'))), ...further]
    },
  }
  const many = Array.from({ length: 20 }, (_, i) => `urn:${i}`)
  const rows: [name: string, imported: string[], remembered: string[], read: number, failures: string[]][] = [
    ['many', many, [], 20, []],
    ['several', ['urn:a', 'urn:b'], [], 2, []],
    ['one that imports another', ['urn:deep', 'urn:b'], [], 3, []],
    ['one that is slow', ['urn:slow', 'urn:b'], [], 2, ['urn:slow']],
    ['one that fails', ['urn:failed', 'urn:b'], [], 2, ['urn:failed']],
    ['one that failed a short time ago', ['urn:failed', 'urn:b'], ['urn:failed'], 1, ['urn:failed']],
    ['one of this dataspace that was not there', ['urn:own', 'urn:b'], ['urn:own'], 2, []],
  ]
  for (const [name, imported, remembered, read, failures] of rows) {
    asked.length = 0
    const known = { imported: new Map(), failures: new Map(remembered.map((one) => [one, FAILED])) }
    const local = new Map([[ROOT, localOf(imported)]])
    const closure = await closureOf(ROOT, local, known, imports, 200)
    t.equal(asked.length, read, `${name}: read`)
    t.same([...closure.failures.keys()], failures, `${name}: failed`)
  }
  t.equal(most, 8, 'so many at once')
})

void t.test('what may be read for an ontology that is public', async (t) => {
  const away = (name: string, ...imported: readonly string[]) => [
    triple(name, RDF('type'), iri(OWL('Ontology'))),
    ...imported.map((one) => triple(name, OWL('imports'), iri(one))),
  ]
  const imports: Imports = {
    isOwn: (name) => name.startsWith('urn:own'),
    read: (name) => Promise.resolve(name === 'urn:away' ? away(name, 'urn:own:a', 'urn:described', 'urn:package') : away(name)), // prettier-ignore
  }
  const described = ['urn:own:a', 'urn:described'].map((name) => [name, localOf(['urn:own:b'])] as const)
  const rows: readonly [what: string, root: readonly string[], ofPackage: readonly string[], local: string[], failed: string[]][] = [
    ['an ontology document imports all documents', ['urn:own:a', 'urn:described'], [], ['urn:own:a', 'urn:described'], []],
    ['an ontology of another server imports only what a package has brought', ['urn:away'], [], ['urn:package'], ['urn:own:a']],
    ['a package too', ['urn:package'], ['urn:own:a', 'urn:described', 'urn:away'], ['urn:package'], ['urn:own:a']],
    ['what an ontology document imports as well, before or after it', ['urn:away', 'urn:own:a'], [], ['urn:own:a', 'urn:package'], []],
  ] // prettier-ignore
  for (const [what, root, ofPackage, local, failed] of rows) {
    const known = new Map([[ROOT, localOf(root)], ['urn:package', localOf(ofPackage, true)], ...described])
    const closure = await closureOf(ROOT, known, { imported: new Map() }, imports)
    t.same([...closure.local.keys()].sort(), [ROOT, ...local].sort(), what)
    t.same([...closure.failures.keys()].sort(), failed.sort(), `${what}: refused`)
  }
})
