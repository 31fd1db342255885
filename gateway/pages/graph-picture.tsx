// A picture of a graph: resources as nodes, properties as lines between them. Literals appear only in the table.
import type { Quad, Term } from '../rdf/graph.js'
import { anchorAt, clean, Figure, percent, px, short } from './chart.js'
import { decoded, labelOf, localName, prefixedName } from './labels.js'
import { texts } from './texts.js'

interface Edge {
  readonly from: number
  readonly to: number
  readonly label: string
}

interface Drawn {
  readonly nodes: readonly string[]
  readonly edges: readonly Edge[]
}

const MOST_NODES = 300
/** More labels would cover each other. */
const LABELLED_NODES = 60
const LABELLED_EDGES = 25

/** Undefined if there are no edges or too many nodes. */
function drawnOf(triples: readonly Quad[]): Drawn | undefined {
  const places = new Map<string, number>()
  const names: string[] = []
  const place = (term: Term): number => {
    const key = `${term.termType} ${term.value}`
    const known = places.get(key)
    if (known !== undefined) return known
    places.set(key, names.length)
    names.push(nameOf(term))
    return names.length - 1
  }
  const isNode = ({ termType }: Term): boolean => termType === 'NamedNode' || termType === 'BlankNode'
  const edges = triples
    .filter(({ subject, object }) => isNode(subject) && isNode(object))
    .map(({ subject, predicate, object }) => ({
      from: place(subject),
      to: place(object),
      label: labelOf(predicate.value),
    }))
  return edges.length === 0 || names.length > MOST_NODES ? undefined : { nodes: names, edges }
}

const nameOf = (term: Term): string =>
  term.termType === 'BlankNode' ? `_:${term.value}` : (prefixedName(term.value) ?? decoded(localName(term.value)))

const HEIGHT = 480
/** The total number of node pairs to compare: about 30 ms. */
const MOST_STEPS = 2_000_000

interface Place {
  x: number
  y: number
}

/** Nodes repel each other and edges attract (Fruchterman and Reingold 1991). Equal graphs give equal pictures. */
function placesOf({ nodes, edges }: Drawn): readonly Place[] {
  const places = nodes.map((_, i): Place => {
    const angle = i * 2.399963
    const radius = Math.sqrt((i + 0.5) / nodes.length) * 0.45
    return { x: 0.5 + radius * Math.cos(angle), y: 0.5 + radius * Math.sin(angle) }
  })
  const ideal = 0.8 / Math.sqrt(nodes.length)
  const rounds = Math.min(200, Math.floor(MOST_STEPS / nodes.length ** 2))
  for (let round = 0; round < rounds; round++) {
    const most = 0.1 * (1 - round / rounds)
    move(places, edges, ideal, most)
  }
  return fitted(places)
}

function move(places: readonly Place[], edges: readonly Edge[], ideal: number, most: number): void {
  const force = places.map(() => ({ x: 0, y: 0 }))
  const add = (at: number, x: number, y: number): void => {
    force[at]!.x += x
    force[at]!.y += y
  }
  for (let i = 0; i < places.length; i++) {
    // A pull to the middle: otherwise unconnected parts would drift apart without end.
    add(i, (0.5 - places[i]!.x) * 2, (0.5 - places[i]!.y) * 2)
    for (let j = i + 1; j < places.length; j++) {
      const [x, y] = [places[i]!.x - places[j]!.x, places[i]!.y - places[j]!.y]
      const push = ideal ** 2 / Math.max(x * x + y * y, 1e-6)
      add(i, x * push, y * push)
      add(j, -x * push, -y * push)
    }
  }
  for (const { from, to } of edges) {
    const [x, y] = [places[from]!.x - places[to]!.x, places[from]!.y - places[to]!.y]
    const pull = Math.sqrt(x * x + y * y) / ideal
    add(from, -x * pull, -y * pull)
    add(to, x * pull, y * pull)
  }
  for (const [i, { x, y }] of force.entries()) {
    const length = Math.sqrt(x * x + y * y) || 1
    const step = Math.min(length, most) / length
    places[i]!.x += x * step
    places[i]!.y += y * step
  }
}

/** Horizontal positions are fractions of the width, vertical ones pixels. */
function fitted(places: readonly Place[]): readonly Place[] {
  const [xs, ys] = [places.map(({ x }) => x), places.map(({ y }) => y)]
  const [left, top] = [Math.min(...xs), Math.min(...ys)]
  const [wide, high] = [Math.max(...xs) - left || 1, Math.max(...ys) - top || 1]
  return places.map(({ x, y }) => ({
    x: 0.05 + ((x - left) / wide) * 0.9,
    y: 30 + ((y - top) / high) * (HEIGHT - 60),
  }))
}

/** One line per pair of nodes, labelled with all properties between them. */
function linesOf(edges: readonly Edge[]): readonly { readonly from: number; readonly to: number; label: string }[] {
  const lines = new Map<string, { readonly from: number; readonly to: number; readonly labels: Set<string> }>()
  for (const { from, to, label } of edges) {
    const key = `${Math.min(from, to)} ${Math.max(from, to)}`
    const line = lines.get(key) ?? { from, to, labels: new Set() }
    lines.set(key, line)
    line.labels.add(label)
  }
  return [...lines.values()].map(({ from, to, labels }) => ({ from, to, label: [...labels].join(', ') }))
}

export function GraphPicture({ triples }: { readonly triples: readonly Quad[] }) {
  const drawn = drawnOf(triples)
  if (!drawn) return null
  const { nodes, edges } = drawn
  const lines = linesOf(edges)
  const places = placesOf(drawn)
  return (
    <Figure title={texts().graphOf(nodes.length, edges.length)} height={HEIGHT}>
      {lines.map(({ from, to, label }) => {
        const [a, b] = [places[from]!, places[to]!]
        const isLoop = from === to
        return (
          <g>
            {isLoop ? (
              <circle class="edge line" cx={percent(a.x)} cy={px(a.y - 10)} r="10" />
            ) : (
              <line class="edge" x1={percent(a.x)} y1={px(a.y)} x2={percent(b.x)} y2={px(b.y)} />
            )}
            {lines.length <= LABELLED_EDGES ? (
              <text
                class={`soft ${anchorAt((a.x + b.x) / 2)}`}
                x={percent((a.x + b.x) / 2)}
                y={px((a.y + b.y) / 2 - (isLoop ? 23 : 3))}
              >
                {clean(short(label, 30))}
              </text>
            ) : null}
          </g>
        )
      })}
      {nodes.map((name, i) => (
        <g>
          <circle class="dot" cx={percent(places[i]!.x)} cy={px(places[i]!.y)} r="5" />
          {nodes.length <= LABELLED_NODES ? (
            <text class={anchorAt(places[i]!.x)} x={percent(places[i]!.x)} y={px(places[i]!.y + 18)}>
              {clean(short(name, 22))}
            </text>
          ) : null}
        </g>
      ))}
    </Figure>
  )
}
