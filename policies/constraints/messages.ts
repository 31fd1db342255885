// The messages of a result (SHACL §2.1.5, §5.3.2). Pure.
import type { Literal, Term } from '@rdfjs/types'
import { RDF, type TripleIndex } from './graph.js'
import type { Result } from './validation.js'

/** SHACL §5.3.2: with the values of variables and parameters for their names in braces. */
export function messagesOf({ focus, value, constraint, found }: Result, shapes: TripleIndex): readonly Message[] {
  const own = found.solution?.get('message')
  const given = own?.termType === 'Literal' ? [own] : constraint.messages.find(({ length }) => length > 0)
  const named = new Map([...constraint.parameters, ['this', focus], ...(found.solution ?? [])])
  if (value) named.set('value', value)
  const filled = (text: string): string =>
    text.replace(/\{[?$]([^{}?$]{1,100})\}/g, (braces, name: string) => {
      const term = named.get(name)
      return term ? inWords(term, shapes) : braces
    })
  return given
    ? given.map(({ value: text, language, datatype }) => ({ text: filled(text), language, datatype }))
    : [{ text: filled(constraint.text), language: '', datatype: undefined }]
}

export interface Message {
  readonly text: string
  readonly language: string
  readonly datatype: Literal['datatype'] | undefined
}

const MOST_MEMBERS = 5
/** A value may be as long as a document: its beginning is enough for people, and a message may name it often. */
const MOST_CHARACTERS = 200
const shortened = (text: string): string =>
  text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS).toWellFormed()}…` : text

function inWords(term: Term, shapes: TripleIndex): string {
  const members = shapes.objects(term, `${RDF}first`).length > 0 ? shapes.list(term) : undefined
  if (!members) return term.termType === 'BlankNode' ? 'a blank node' : shortened(term.value)
  const shown = members.slice(0, MOST_MEMBERS).map(({ value }) => shortened(value))
  return [...shown, ...(members.length > MOST_MEMBERS ? ['…'] : [])].join(', ')
}
