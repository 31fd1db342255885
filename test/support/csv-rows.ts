// The output of an import for the rows of a CSV, without a gateway.
import { statSync } from 'node:fs'
import { USUAL } from '../../gateway/features/imports/csvw-dialect.js'
import type { Metadata } from '../../gateway/features/imports/csvw-metadata.js'
import { openSource } from '../../gateway/features/imports/open-source.js'
import type { ImportFinding, ImportPlan } from '../../gateway/features/imports/plan.js'
import { SourceBreak } from '../../gateway/features/imports/decode-source.js'

export interface RowsRead {
  /** N-Triples without their final dots, and without the items' own titles and topics. */
  readonly lines: readonly string[]
  readonly reports: readonly string[]
  readonly failed: boolean
}

export async function readRows(
  path: string,
  base: string,
  metadata: Metadata | undefined,
  { mediaType = 'text/csv', ...more }: Partial<ImportPlan> = {},
): Promise<RowsRead> {
  const plan = {
    ...{ path, size: statSync(path).size, digest: 'd'.repeat(64), kind: 'csv', mediaType, base, spool: '' },
    ...{ dialect: metadata?.dialect ?? USUAL, encoding: metadata?.dialect.encoding ?? 'utf-8', mapping: { plain: true } }, // prettier-ignore
    ...{ name: undefined, into: 'https://x.test/in/', namespace: `${base}#`, maxBytes: 10_000_000 },
    ...(metadata && { metadata }),
    ...more,
  } as const satisfies ImportPlan
  const [lines, reports] = [[] as string[], [] as string[]]
  const report = ({ line, column, detail }: ImportFinding): unknown =>
    reports.push(`${line ?? '-'},${column ?? '-'} ${detail}`)
  try {
    const source = await openSource(() => undefined as never, plan, { rows: 0, done: false })
    const take = (_: string, line: string): unknown =>
      /^<[^#>]*> <[^>]*(?:terms\/title|primaryTopic)>/.test(line) && line.startsWith('<https://x.test/in/')
        ? undefined
        : lines.push(line)
    while (!source.done()) await source.step(take, report, 100)
  } catch (error) {
    if (!(error instanceof SourceBreak)) throw error
    return { lines, reports: [...reports, error.problem.detail], failed: true }
  }
  return { lines, reports, failed: false }
}
