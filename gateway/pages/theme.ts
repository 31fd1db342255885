// The files of the pages: stylesheet, icon, the operator's own look, and languages. Read once, at the start. Files that
// browsers fetch have a hash in their name, and their compressed forms are kept.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { Failure } from '../problem.js'
import { textsIn, type Languages, type Translated } from './languages.js'
import { ENGLISH_TEXTS } from './texts.js'

export interface StaticFile {
  readonly contentType: string
  readonly bytes: Buffer
  /** Undefined if compression does not help. */
  readonly coded: { readonly br: Buffer; readonly gzip: Buffer } | undefined
}

export interface Look {
  /** Changes with the pages and their files. Part of the entity-tags of pages. */
  readonly id: string
  /** By name, including the hash. */
  readonly files: ReadonlyMap<string, StaticFile>
  /** The names of the stylesheets, in order. */
  readonly styles: readonly string[]
  readonly icon: string
  readonly logo: string
  /** The script of the query page. */
  readonly script: string
  /** By language tag. */
  readonly languages: Languages
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css;charset=UTF-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.js': 'text/javascript;charset=UTF-8',
}

/** In the source folder, since compiling does not copy them. */
const OWN = fileURLToPath(new URL('../../../gateway/pages/static/', import.meta.url))
const LANGUAGES = fileURLToPath(new URL('../../../gateway/pages/languages/', import.meta.url))
/** The compiled code of pages, including those of features. */
const CODE = ['.', '../features'].map((folder) => fileURLToPath(new URL(folder, import.meta.url)))

const hashOf = (...parts: readonly (Buffer | string)[]): string => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash
    .digest('base64url')
    .replace(/[^A-Za-z0-9]/g, '')
    .slice(0, 12)
}

const namedByContent = (path: string): readonly [name: string, file: StaticFile] => {
  const bytes = readFileSync(path)
  const end = extname(path)
  const isText = end !== '.png'
  const coded = isText ? codedWhenAsked(bytes) : undefined
  return [`${basename(path, end)}.${hashOf(bytes)}${end}`, { contentType: TYPES[end]!, bytes, coded }]
}

/** Compresses on first use, since it takes longer than the rest of starting the pages. */
function codedWhenAsked(bytes: Buffer): NonNullable<StaticFile['coded']> {
  let [br, gzip]: [Buffer?, Buffer?] = []
  return {
    get br() {
      return (br ??= brotliCompressSync(bytes))
    },
    get gzip() {
      return (gzip ??= gzipSync(bytes))
    },
  }
}

/** @param folder the operator's own look: `style.css`, and `logo.svg` or `logo.png` */
export function readLook(folder?: string): Look | Failure<'look.unusable'> {
  const own = (...names: readonly string[]): string | undefined =>
    folder === undefined ? undefined : names.map((name) => join(folder, name)).find((path) => existsSync(path))
  const [ownStyle, ownLogo] = [own('style.css'), own('logo.svg', 'logo.png')]
  if (folder !== undefined && ownStyle === undefined && ownLogo === undefined) {
    const detail = `--look: ${folder} contains neither style.css nor logo.svg nor logo.png. Give a folder with one of them.`
    return { failure: 'look.unusable', detail }
  }
  try {
    const [style, icon, script] = ['style.css', 'icon.svg', 'query.js'].map((name) => namedByContent(join(OWN, name)))
    const more = ownStyle === undefined ? undefined : namedByContent(ownStyle)
    const logo = ownLogo === undefined ? undefined : namedByContent(ownLogo)
    const files = new Map([style!, icon!, script!, ...(more ? [more] : []), ...(logo ? [logo] : [])])
    const code = CODE.flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
    ).sort()
    const languages = readdirSync(LANGUAGES).sort().map((name) => [basename(name, '.json'), readFileSync(join(LANGUAGES, name), 'utf8')] as const) // prettier-ignore
    return {
      id: hashOf(
        ...code.filter((path) => path.endsWith('.js')).map((path) => readFileSync(path)),
        ...files.keys(),
        ...languages.flat(),
      ),
      files,
      styles: more ? [style![0], more[0]] : [style![0]],
      icon: icon![0],
      logo: (logo ?? icon)![0],
      script: script![0],
      languages: new Map([
        ['en', ENGLISH_TEXTS],
        ...languages.map(([tag, text]) => [tag, textsIn(tag, JSON.parse(text) as Translated)] as const),
      ]),
    }
  } catch (error) {
    return { failure: 'look.unusable', detail: `the files of the pages cannot be read: ${(error as Error).message}.` }
  }
}
