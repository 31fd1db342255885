// The files that `triplegate import` sends, and their content, together with the metadata next to them.
import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { wrongArguments } from '../../commands/arguments.js'
import type { CommandFailure } from '../../commands/exit-codes.js'
import { readMetadata } from './csvw-metadata.js'
import { CSV, TSV } from '../../rdf/syntaxes.js'
import { isFailure } from '../../problem.js'
import { MULTIPART } from '../../rdf/read-multipart.js'

const FILES = /\.(?:csv|tsv|ttl|nt|nq|trig|rdf|owl|jsonld)(?:\.gz)?$/i

/** The given files, and those in the given folders, sorted by name. */
export function importFilesOf(paths: readonly string[]): string[] | CommandFailure {
  const files: string[] = []
  for (const path of paths) {
    try {
      if (statSync(path).isDirectory()) {
        const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((name) => FILES.test(name))
        files.push(...names.sort().map((name) => join(path, name)))
      } else files.push(path)
    } catch (error) {
      return wrongArguments(`${path}: cannot be read (${(error as NodeJS.ErrnoException).code}).`)
    }
  }
  return files
}

export function textIn(file: string): string | CommandFailure {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    return wrongArguments(`${file}: cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

export function contentOfFile(
  file: string,
  mediaType: string,
  isPlain: boolean,
): CommandFailure | { readonly type: string; readonly body: Buffer } {
  // prettier-ignore
  try {
    const metadata = isPlain && [CSV, TSV].includes(mediaType) ? metadataBeside(file) : undefined
    return metadata ? formOf(file, mediaType, metadata) : { type: mediaType, body: readFileSync(file) }
  } catch (error) {
    return { failure: 'gateway.failed', detail: `${file}: cannot be read (${(error as NodeJS.ErrnoException).code}).` }
  }
}

/** W3C tabular-data-model §5.3: the metadata of the file, or of its folder if that describes the file. */
function metadataBeside(file: string): Buffer | undefined {
  const own = [file, file.replace(/\.gz$/i, '')].map((one) => `${one}-metadata.json`).find((one) => existsSync(one))
  if (own !== undefined) return readFileSync(own)
  const ofFolder = join(dirname(file), 'csv-metadata.json')
  const text = existsSync(ofFolder) ? readFileSync(ofFolder) : undefined
  return text && !isFailure(readMetadata(text.toString(), [basename(file)])) ? text : undefined
}

function formOf(file: string, mediaType: string, metadata: Buffer): { readonly type: string; readonly body: Buffer } {
  const boundary = randomUUID()
  const name = file
    .split('/')
    .at(-1)!
    .replace(/["\r\n]/g, '_')
  const head = (disposition: string): string =>
    `\r\n--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n`
  const parts = [`${head('name="metadata"')}\r\n`, metadata, `${head(`name="file"; filename="${name}"`)}Content-Type: ${mediaType}\r\n\r\n`, readFileSync(file), `\r\n--${boundary}--\r\n`] // prettier-ignore
  return { type: `${MULTIPART}; boundary=${boundary}`, body: Buffer.concat(parts.map((part) => Buffer.from(part))) }
}
