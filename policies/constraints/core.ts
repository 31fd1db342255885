// The Core constraint components (SHACL §4), by their parameter. Pure.
import type { CoreComponent } from './core-component.js'
import { OTHERS, PAIRS, SHAPES } from './core-shapes.js'
import { NUMERIC_DATATYPES, TEXTS, VALUE_TYPES } from './core-values.js'
import { SH } from './graph.js'
export const CORE: ReadonlyMap<string, CoreComponent> = new Map(
  [VALUE_TYPES, NUMERIC_DATATYPES, TEXTS, PAIRS, SHAPES, OTHERS].flatMap((components) => Object.entries(components)),
)

export const componentOf = (parameter: string): string =>
  `${SH}${parameter[0]!.toUpperCase()}${parameter.slice(1)}ConstraintComponent`
