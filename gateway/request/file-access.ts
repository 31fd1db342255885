// Who may read a file: agents with a right to it or to all files (LinkedDataHub 2.7), and readers of a document that
// describes it, if its author uploaded the file or had the right to it. Knowing the digest gives no right.
import { describedFile, uploadsOf, type DescribedFile, type Describing } from '../files/sweep-files.js'
import { readFacts } from '../documents/document.js'
import { isFailure, type Problem } from '../problem.js'
import { NFO } from '../rdf/vocabulary.js'
import { judgeDocument } from './access.js'
import { judgeState } from './decide-on-state.js'
import type { Agent, Context } from './context.js'

type Asking = Pick<Context, 'application' | 'dataspace' | 'gateway' | 'trace'>

/**
 * The description that lets the agent read the file; undefined if none does. 'any': the agent has a right to the file
 * itself, so every description will do.
 */
export async function readingOf(
  context: Asking,
  agent: Agent,
  sha1: string,
  { giving }: DescribedFile,
): Promise<Describing | 'any' | undefined | Problem> {
  const { application, trace } = context
  const file = { iri: uploadsOf(application) + sha1, types: [NFO('FileDataObject')], owners: [] }
  const onFile = judgeState(context, agent, file)
  if (isFailure(onFile)) return onFile
  if (onFile.allowed || application.allowRead) return 'any'
  for (const description of giving) {
    const facts = await readFacts(application, description.document, trace)
    if (isFailure(facts)) return facts
    const decision = facts.value && judgeDocument(context, agent, facts.value)
    if (isFailure(decision)) return decision
    if (decision?.allowed) return description
  }
  return undefined
}

export async function mayReadFile(context: Context, sha1: string): Promise<boolean | Problem> {
  // Under the locks of a write: the gateway's own call, which waits in no queue of clients.
  const file = await describedFile(context.application, sha1, {})
  if (isFailure(file)) return file
  const reading = await readingOf(context, context.agent, sha1, file)
  return isFailure(reading) ? reading : reading !== undefined
}
