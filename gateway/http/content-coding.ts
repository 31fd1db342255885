// Content codings (RFC 9110 §8.4.1): which ones a client accepts, the names of coded representations, and compression
// in threads of Node.js.
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Awaitable } from '../maybe-async.js'

export type Coding = 'br' | 'gzip'
export const CODINGS: readonly Coding[] = ['br', 'gzip']

/** In bytes. Compressing anything smaller does not save a packet. */
export const LEAST_CODED = 2048

export type AcceptedCodings = readonly (Coding | 'identity')[]

// RFC 9110 §12.5.3, §12.4.2.
const MEMBER = /^([!#$%&'*+.^_`|~\w-]+)(?:\s*;\s*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/i
/** RFC 9110 §8.4.1.3. */
const SYNONYMS: Readonly<Record<string, string>> = { 'x-gzip': 'gzip' }

/** The codings accepted by an Accept-Encoding field, most preferred first; ties go to the better compression. */
export function acceptedCodings(field: string): AcceptedCodings {
  const weights = new Map<string, number>()
  for (const member of field.split(',', 100)) {
    const [, name, weight = '1'] = MEMBER.exec(member.trim()) ?? []
    if (name === undefined) continue
    const coding = name.toLowerCase()
    weights.set(SYNONYMS[coding] ?? coding, Number(weight))
  }
  const any = weights.get('*')
  // RFC 9110 §12.5.3: identity without a weight is acceptable, unless `*` excludes it.
  const plain = weights.get('identity') ?? (any === 0 ? 0 : Number.MIN_VALUE)
  const weighted = [
    ...CODINGS.map((coding) => [coding, weights.get(coding) ?? any ?? 0] as const),
    ['identity', plain] as const,
  ]
  return weighted
    .filter(([, weight]) => weight > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([coding]) => coding)
}

/** RFC 9110 §8.8.3.3: a coded representation has its own entity-tag. */
export const codedName = (name: string, coding: Coding | 'identity'): string =>
  coding === 'identity' ? name : `${name}-${coding}`

const MODES: Readonly<Record<Coding, (bytes: Buffer) => Promise<Buffer>>> = {
  // Brotli's highest qualities take a hundred times as long as this one and save only a tenth more.
  br: (bytes) =>
    promisify(brotliCompress)(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 5,
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
  gzip: (bytes) => promisify(gzip)(bytes, { level: 6 }),
}

/**
 * How many compressions run at once. The process has four Node.js threads, and the journal needs the others to write.
 */
const AT_ONCE = 2
let underWay = 0

function compressed(bytes: Buffer, coding: Coding): Promise<Buffer> | undefined {
  if (underWay >= AT_ONCE) return undefined
  underWay++
  return MODES[coding](bytes).finally(() => underWay--)
}

interface Compressing<Form> {
  readonly bytes: Buffer
  readonly coding: Coding
  /** True if the compressed form will be reused. */
  isKept(): boolean
  /** Called with the compressed bytes. */
  keep(short: Buffer): Form
}

/**
 * The form with this name. It is compressed at most once, and concurrent callers share the result. Undefined if it
 * should not be compressed now: it would not be reused, or enough other forms are being compressed.
 */
export function codedOnce<Form>(
  forms: Map<string, unknown>,
  name: string,
  { bytes, coding, isKept, keep }: Compressing<Form>,
): Awaitable<Form> | undefined {
  const ready = forms.get(name) as Awaitable<Form> | undefined
  if (ready || !isKept()) return ready
  const making = compressed(bytes, coding)?.then((short) => {
    const form = keep(short)
    forms.set(name, form)
    return form
  })
  if (!making) return undefined
  forms.set(name, making)
  making.catch(() => forms.delete(name))
  return making
}
