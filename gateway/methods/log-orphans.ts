// The log line about a container that has ceased to be one while documents are below it: they are orphans, below
// which nothing can be created, until it is made again (spec 3, design 3).
import { isContainer, parentOf } from '../documents/hierarchy.js'
import type { DocumentState } from '../documents/facts.js'
import { documentsBelow } from '../documents/subtree.js'
import { isFailure } from '../problem.js'
import type { Gateway, Member } from '../gateway.js'

/** The most documents that are counted. */
const MOST = 1000

/** The answer to the write does not wait for it. @param next undefined where the document is deleted */
export function logOrphans(
  { application, gateway: { log } }: Pick<Member, 'application'> & { readonly gateway: Pick<Gateway, 'log'> },
  current: DocumentState | undefined,
  next: DocumentState | undefined,
): void {
  if (!current || !isContainer(current.types)) return
  const { iri } = current
  if (next && isContainer(next.types)) return
  void documentsBelow(application, iri, MOST).then((below) => {
    if (isFailure(below)) return log.warn({ document: iri, problem: below }, 'orphans cannot be counted')
    const orphans = below === 'more' ? undefined : below.filter((document) => parentOf(document) === iri).length
    if (orphans === 0) return
    const message = 'a container with documents below it is gone: they are orphans until it is created again'
    log.warn({ document: iri, orphans: orphans ?? `of ${MOST} documents or more below it` }, message)
  })
}
