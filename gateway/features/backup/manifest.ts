// The manifest, the last part of a backup: the content of the archive, and the digest of each part. Pure.

/** The path at the management port, and the media type of the answer. */
export const BACKUP_PATH = '/backup'
export const ARCHIVE_TYPE = 'application/x-tar'

export const FORMAT = 1
export const MANIFEST = 'manifest.json'

export interface ArchivedPart {
  readonly name: string
  /** Bytes. */
  readonly size: number
  /** Lower-case hexadecimal. */
  readonly sha256: string
}

export interface ArchivedApplication {
  readonly base: string
  readonly kind: 'end-user' | 'admin'
  /** The number of its store; undefined if the store is only in memory. */
  readonly store?: number
  /** The number of its history on this disk, and the branch with its head; undefined without such a history. */
  readonly history?: { readonly number: number; readonly branch: string; readonly head: string }
  /** The place of a history that is not in the archive, such as a repository on GitHub. */
  readonly historyElsewhere?: string
}

export interface Manifest {
  readonly format: typeof FORMAT
  /** Of Triplegate. */
  readonly release: string
  /** An xsd:dateTime. */
  readonly time: string
  readonly applications: readonly ArchivedApplication[]
  /** By their numbers. */
  readonly stores: readonly { readonly quads: number }[]
  readonly parts: readonly ArchivedPart[]
}

/** The folders of an archive. Each store and each history has its own folder in one of these, named by its number. */
export const DATA = 'data/'
export const CONFIGURATION = 'configuration/'
export const storeParts = (number: number): string => `stores/${number}/`
export const historyParts = (number: number): string => `histories/${number}/`

const LONGEST_NAME = 1024
const LONGEST_SEGMENT = 255
const FOLDERS = /^(?:data|configuration|stores\/\d{1,4}|histories\/\d{1,4})\//

/** True for the name of a part that cannot lead out of its folder. */
export function isPartName(name: string): boolean {
  if (name.length > LONGEST_NAME || !FOLDERS.test(name) || !name.isWellFormed()) return false
  return name
    .split('/')
    .every((segment) => !['', '.', '..'].includes(segment) && isPlain(segment) && segment.length <= LONGEST_SEGMENT)
}

const isPlain = (segment: string): boolean => !/[\\\p{Cc}]/u.test(segment)

/** Undefined if the text is not a manifest of this format. */
export function readManifest(text: string): Manifest | undefined {
  try {
    const read = JSON.parse(text) as Manifest
    return isManifest(read) ? read : undefined
  } catch {
    return undefined
  }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

function isManifest({ format, release, time, applications, stores, parts }: Manifest): boolean {
  const isText = (value: unknown): boolean => typeof value === 'string' && value.length <= LONGEST_NAME
  return (
    format === FORMAT &&
    isText(release) &&
    isText(time) &&
    stores.every(({ quads }) => isCount(quads)) &&
    parts.every(({ name, size, sha256 }) => isPartName(name) && isCount(size) && /^[0-9a-f]{64}$/.test(sha256)) &&
    new Set(parts.map(({ name }) => name)).size === parts.length &&
    applications.every(
      ({ base, store, history }) =>
        URL.canParse(base) &&
        (store === undefined || stores[store] !== undefined) &&
        (history === undefined || (isCount(history.number) && isHistory(history))),
    )
  )
}

const isHistory = ({ branch, head }: NonNullable<ArchivedApplication['history']>): boolean =>
  /^[^-\s][^\s]{0,200}$/.test(branch) && /^[0-9a-f]{40}$/.test(head)
