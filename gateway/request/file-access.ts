// Who may read a file: those with a right to it, or to all files (LinkedDataHub 2.7), and those who may read a document
// that describes it and was written by somebody with the file, or with the right to it: to know its digest is no right.
import { uploadsOf, descriptionsOf, type Describing } from '../files/sweep-files.js'
import { readFacts } from '../documents/document.js'
import { isFailure, type Problem } from '../problem.js'
import { NFO } from '../rdf/vocabulary.js'
import { judgeDocument } from './access.js'
import { judgeState } from './decide-on-state.js'
import type { Agent, Context } from './context.js'

type Asking = Pick<Context, 'application' | 'dataspace' | 'gateway' | 'trace'>

export interface DescribedFile {
  readonly descriptions: readonly Describing[]
  /** The documents among these that give the right to read the file to their readers. */
  readonly giving: readonly Describing[]
}

export async function describedFile({ application }: Asking, sha1: string): Promise<DescribedFile | Problem> {
  const descriptions = await descriptionsOf(application, sha1)
  if (isFailure(descriptions)) return descriptions
  const documents = await application.files.documentsOf(sha1)
  const giving = descriptions.filter(({ document }) => documents.has(document))
  return { descriptions: [...giving, ...descriptions.filter((one) => !giving.includes(one))], giving }
}

/**
 * The description by which the agent may read the file; undefined where none does. 'any': each description of it, if
 * there is one.
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
  const file = await describedFile(context, sha1)
  if (isFailure(file)) return file
  const reading = await readingOf(context, context.agent, sha1, file)
  return isFailure(reading) ? reading : reading !== undefined
}
