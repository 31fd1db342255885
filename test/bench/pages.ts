// Measures pages: a cached page compared with the cached Turtle of the same document, the first page of a container
// with 5,000 children compared with one with 50, and the cost of a first visit.
import { ACL, DCT, DH, RDF, SIOC, XSD } from '../../gateway/rdf/vocabulary.js'
import type { BenchTable } from './bench-table.js'
import { agentOf } from './bench-data.js'
import { answerTo } from './contestants.js'
import { contestant, TURTLE, withGateway } from './documents.js'
import type { Load } from './load.js'
import { describeMachine } from './machine.js'
import { COLUMNS, compare, takeTurns, type Timing } from './series.js'
import { makeSetting, type BenchGateway, type Setting } from './setting.js'

const TIMING: Timing = { rounds: 5, seconds: 1, warmUp: 2 }
const SIZES = { few: 50, many: 5_000 } as const

/** The field that a browser sends. */
const HTML = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8' }

/** The media types that every browser accepts. */
const CODED = { 'Accept-Encoding': 'gzip, deflate, br' }

const quad = (graph: string, property: string, object: string): string =>
  `<${graph}> <${property}> ${object} <${graph}> .\n`

function containerQuads(base: string, name: string, size: number): string {
  const container = `${base}${name}/`
  const children = Array.from({ length: size }, (_, n) => {
    const child = `${container}${n}/`
    return (
      quad(child, RDF('type'), `<${DH('Item')}>`) +
      quad(child, SIOC('has_container'), `<${container}>`) +
      quad(child, DCT('title'), `"Document ${n}"`) +
      quad(child, DCT('created'), `"2026-01-02T03:04:05Z"^^<${XSD('dateTime')}>`)
    )
  })
  return quad(container, RDF('type'), `<${DH('Container')}>`) + children.join('')
}

/** Gives the agent the right to read the containers too. */
function rightQuads(base: string, admin: string): string {
  const graph = `${admin}acl/authorizations/pages/`
  const rest = [
    [RDF('type'), ACL('Authorization')],
    [ACL('mode'), ACL('Read')],
    [ACL('agent'), agentOf(admin)],
    ...Object.keys(SIZES).map((name) => [ACL('accessTo'), `${base}${name}/`]),
  ]
  return rest.map(([property, value]) => quad(graph, property!, `<${value}>`)).join('')
}

/** The requests of a browser that has seen no page before, and the bytes of their contents. */
async function firstVisit(gateway: BenchGateway, path: string): Promise<string> {
  const fields = { ...HTML, 'Accept-Encoding': 'br, gzip' }
  const page = await answerTo(gateway.request(path, HTML))
  const files = [...page.body.toString().matchAll(/<(?:link|img|script)[^>]* (?:href|src)="([^"]+)"/g)].map(
    ([, url]) => url!,
  )
  const sizes = await Promise.all(
    [path, ...new Set(files)].map(async (url) => (await answerTo(gateway.request(url, fields))).body.length),
  )
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  return `A first visit of that document: ${sizes.length} requests (goal: 3 at most), ${bytes.toLocaleString('en')} bytes (goal: 20,000 at most).`
}

export async function benchPages(progress: (what: string) => void): Promise<BenchTable> {
  const setting = await makeSetting()
  const title = `Pages; ${describeMachine([])}`
  if ('missing' in setting) return { title, columns: [], rows: [], notes: [setting.missing] }
  try {
    for (const [name, size] of Object.entries(SIZES)) await setting.load(containerQuads(setting.base, name, size))
    await setting.load(rightQuads(setting.base, setting.admin), 'admin')
    return {
      title,
      columns: COLUMNS,
      ...(await withGateway(setting, [], (gateway) => measured(setting, gateway, progress))),
    }
  } finally {
    await setting.close()
  }
}

async function measured(
  setting: Setting,
  gateway: BenchGateway,
  progress: (what: string) => void,
): Promise<Pick<BenchTable, 'rows' | 'notes'>> {
  const beside = async (row: string, target: number, loads: readonly [string, Load][]): Promise<string[]> => {
    progress(row)
    const outcome = await takeTurns(
      loads.map(([name, load]) => contestant(name, load)),
      TIMING,
    )
    return compare(outcome, { row, of: loads[0]![0], to: loads[1]![0], target })
  }
  const page = gateway.request(setting.path, HTML)
  const turtle = gateway.request(setting.path, TURTLE)
  const [many, few] = [gateway.request('/many/', HTML), gateway.request('/few/', HTML)]
  const sizes = await Promise.all([page, turtle, many, few].map(async (load) => (await answerTo(load)).body.length))
  return {
    rows: [
      await beside('cached page', 0.8, [
        ['page', page],
        ['its Turtle', turtle],
      ]),
      await beside('cached page, compressed', 0.8, [
        ['page', gateway.request(setting.path, { ...HTML, ...CODED })],
        ['its Turtle', gateway.request(setting.path, { ...TURTLE, ...CODED })],
      ]),
      await beside('first page of 5,000 children', 0.7, [
        ['5,000 children', many],
        ['50 children', few],
      ]),
    ],
    notes: [
      `Bytes: ${sizes.map((size) => size.toLocaleString('en')).join(', ')}.`,
      await firstVisit(gateway, setting.path),
    ],
  }
}
