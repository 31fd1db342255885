// The Core constraint components that test value nodes directly (SHACL §4.1 to §4.4). Pure.
import { type CoreComponent, type Make, each, iriIn, isTrue, listIn, numberIn, together } from './core-component.js'
import { SH } from './graph.js'
import { compared, isWellFormed } from './order.js'
import type { Found } from './shape.js'
import { regexOf } from './xpath-regex.js'
import type { Term } from '@rdfjs/types'

/** Tests whether a text matches; undefined if the expression is invalid. */
function makeMatcher(pattern: string, flags: string): ((text: string) => boolean) | undefined {
  const expression = regexOf(pattern, flags)
  return expression && ((text) => expression.test(text))
}

const counted = (isMet: (count: number, limit: number) => boolean): CoreComponent['check'] =>
  together((value, shape, parameter) => {
    const limit = numberIn(value, shape, parameter)
    return ({ length }) => isMet(length, limit)
  })

const ordered = (isMet: (order: number) => boolean): CoreComponent['check'] =>
  each((limit, shape, parameter) => {
    if (limit.termType !== 'Literal') shape.fail(`sh:${parameter} is not a literal`)
    return (value) => {
      const order = compared(value, limit)
      return order !== undefined && isMet(order)
    }
  })

/** SHACL §4.4: blank nodes never match. */
const textual = (make: Make<(text: string) => boolean>): CoreComponent['check'] =>
  each((value, shape, parameter) => {
    const test = make(value, shape, parameter)
    return (node) => (node.termType === 'Literal' || node.termType === 'NamedNode') && test(node.value)
  })

const measured = (isMet: (length: number, limit: number) => boolean): CoreComponent['check'] =>
  textual((value, shape, parameter) => {
    const limit = numberIn(value, shape, parameter)
    return (text) => isMet(charactersIn(text), limit)
  })

/** SPARQL 1.1 §17.4.3.2: counts characters, not surrogate halves. */
function charactersIn(text: string): number {
  let size = 0
  for (let at = 0; at < text.length; size++) at += text.codePointAt(at)! > 0xffff ? 2 : 1
  return size
}

const KINDS: Readonly<Record<string, readonly Term['termType'][]>> = {
  BlankNode: ['BlankNode'],
  IRI: ['NamedNode'],
  Literal: ['Literal'],
  BlankNodeOrIRI: ['BlankNode', 'NamedNode'],
  BlankNodeOrLiteral: ['BlankNode', 'Literal'],
  IRIOrLiteral: ['NamedNode', 'Literal'],
}

/** RFC 4647 §3.3.1, as in langMatches. */
const matchesRange = (language: string, range: string): boolean =>
  range === '*' ? language !== '' : language === range || language.startsWith(`${range}-`)

function repeatedLanguages(values: readonly Term[]): readonly Found[] {
  const counts = new Map<string, number>()
  for (const value of values) {
    if (value.termType !== 'Literal' || value.language === '') continue
    const language = value.language.toLowerCase()
    counts.set(language, (counts.get(language) ?? 0) + 1)
  }
  return [...counts.values()].filter((times) => times > 1).map(() => ({}))
}

export const VALUE_TYPES: Readonly<Record<string, CoreComponent>> = {
  class: {
    text: 'The value is not an instance of {$class}',
    check: each((type, shape, parameter) => {
      iriIn(type, shape, parameter)
      return (value, { isInstance }) => isInstance(value, type)
    }),
  },
  datatype: {
    text: 'The value is not a well-formed {$datatype}',
    isSingle: true,
    check: each((value, shape, parameter) => {
      const datatype = iriIn(value, shape, parameter)
      return (node) => node.termType === 'Literal' && node.datatype.value === datatype && isWellFormed(node)
    }),
  },
  nodeKind: {
    text: 'The value is not of kind {$nodeKind}',
    isSingle: true,
    check: each(({ value }, shape) => {
      const kinds = KINDS[value.slice(SH.length)] ?? shape.fail('sh:nodeKind is not a node kind of SHACL')
      return ({ termType }) => kinds.includes(termType)
    }),
  },
}

// prettier-ignore
export const NUMERIC_DATATYPES: Readonly<Record<string, CoreComponent>> = {
  minCount: { text: 'Too few values: at least {$minCount}', needsPath: true, isSingle: true, check: counted((count, least) => count >= least) },
  maxCount: { text: 'Too many values: at most {$maxCount}', needsPath: true, isSingle: true, check: counted((count, most) => count <= most) },
  minExclusive: { text: 'The value is not greater than {$minExclusive}', isSingle: true, check: ordered((order) => order > 0) },
  minInclusive: { text: 'The value is not {$minInclusive} or greater', isSingle: true, check: ordered((order) => order >= 0) },
  maxExclusive: { text: 'The value is not less than {$maxExclusive}', isSingle: true, check: ordered((order) => order < 0) },
  maxInclusive: { text: 'The value is not {$maxInclusive} or less', isSingle: true, check: ordered((order) => order <= 0) },
  minLength: { text: 'The value has fewer than {$minLength} characters', isSingle: true, check: measured((length, least) => length >= least) },
  maxLength: { text: 'The value has more than {$maxLength} characters', isSingle: true, check: measured((length, most) => length <= most) },
}

export const TEXTS: Readonly<Record<string, CoreComponent>> = {
  pattern: {
    text: 'The value does not match {$pattern}',
    isSingle: true,
    check: textual(
      ({ value }, shape) =>
        makeMatcher(value, shape.one('flags')?.value ?? '') ?? shape.fail('sh:pattern or sh:flags is malformed'),
    ),
  },
  // SHACL 1.2 Core
  singleLine: {
    text: 'The value has several lines',
    isSingle: true,
    check: (value, shape, parameter) =>
      isTrue(value, shape, parameter) ? each(() => (node) => !/[\n\r]/.test(node.value))(value, shape, parameter) : undefined, // prettier-ignore
  },
  languageIn: {
    text: 'The language of the value is none of {$languageIn}',
    isSingle: true,
    check: each((head, shape, parameter) => {
      const ranges = listIn(head, shape, parameter).map(({ value }) => value.toLowerCase())
      return (node) =>
        node.termType === 'Literal' && ranges.some((range) => matchesRange(node.language.toLowerCase(), range))
    }),
  },
  uniqueLang: {
    text: 'Several values have the same language',
    needsPath: true,
    isSingle: true,
    // SHACL §4.4.5: only the literal true.
    check: ({ value }) => (value === 'true' ? (_, values) => repeatedLanguages(values) : undefined),
  },
}
