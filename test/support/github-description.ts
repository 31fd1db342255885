// GitHub's own description of its API: the operation of a request, checks of requests and answers against it, and
// answers with everything that it requires.
import { readFileSync } from 'node:fs'
import { Ajv, type ValidateFunction } from 'ajv'

interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly nullable?: boolean
  readonly enum?: readonly unknown[]
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly allOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly minLength?: number
}
interface Parameter {
  readonly $ref?: string
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema: Schema
}
interface Operation {
  readonly operationId: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } }
  readonly responses: Readonly<Record<string, { readonly $ref?: string; readonly content?: Record<string, unknown> }>>
}

// The file is next to the sources, even for compiled code.
const file = new URL(import.meta.url.includes('/dist/') ? '../../../test/support/' : './', import.meta.url)
const text = readFileSync(new URL('github-openapi.json', file), 'utf8')
const description = JSON.parse(text, (_key, value: unknown) => asJsonSchema(value)) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

/**
 * Converts the constructs in which OpenAPI 3.0 differs from JSON Schema. It also relaxes alternatives that claim to be
 * exclusive but are not: a plain error also matches a rule violation.
 */
function asJsonSchema(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('oneOf' in value || 'anyOf' in value)) return value
  const { oneOf, anyOf = oneOf, nullable, ...rest } = value as Record<string, unknown>
  return { ...rest, anyOf: [...(anyOf as unknown[]), ...(nullable ? [{ enum: [null] }] : [])] }
}

const ajv = new Ajv({ strict: false, validateFormats: false })
ajv.addSchema(description, 'github')
const compiled = new Map<string, ValidateFunction>()
const validatorOf = (pointer: string): ValidateFunction => {
  const found = compiled.get(pointer) ?? ajv.compile({ $ref: `github#${pointer}` })
  compiled.set(pointer, found)
  return found
}
const pointerTo = (...steps: readonly string[]): string =>
  steps.map((step) => `/${encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('')
const resolve = <T>(pointer: string): T =>
  pointer
    .replace(/^#?\//, '')
    .split('/')
    .map((step) => decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((value, step) => (value as Record<string, unknown>)[step], description) as T
const follow = <T extends { readonly $ref?: string }>(value: T): T =>
  value.$ref === undefined ? value : follow(resolve<T>(value.$ref))

export interface Described {
  readonly id: string
  readonly path: Readonly<Record<string, string>>
  readonly pointer: string
  readonly operation: Operation
}

/** The last parameter may have several segments, as refs and files do. */
const routes = Object.entries(description.paths).flatMap(([path, methods]) => {
  const pattern = path.replace(/\{(path|ref|basehead)\}$/, '(?<$1>.+)').replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')
  return Object.entries(methods).map(([method, operation]) => ({
    method: method.toUpperCase(),
    pattern: new RegExp(`^${pattern}$`),
    pointer: pointerTo('paths', path, method),
    operation,
  }))
})

/** Undefined if GitHub has no such operation in this description. */
export function operationFor(method: string, path: string): Described | undefined {
  for (const route of routes) {
    const match = route.method === method ? route.pattern.exec(path) : null
    if (!match) continue
    const entries = Object.entries(match.groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value)])
    return { id: route.operation.operationId, path: Object.fromEntries(entries), ...route }
  }
  return undefined
}

const faultsOf = (validate: ValidateFunction, value: unknown): string[] =>
  validate(value) ? [] : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)

/** The errors in a request, as sentences. */
export function requestFaults({ operation, pointer }: Described, query: URLSearchParams, body: unknown): string[] {
  const parameters = (operation.parameters ?? []).map(follow).filter((parameter) => parameter.in === 'query')
  const names = parameters.map(({ name }) => name)
  const unknown = [...query.keys()].filter((name) => !names.includes(name)).map((name) => `no parameter ${name}`)
  const wrong = parameters.flatMap(({ name, schema, required }) => {
    const value = query.get(name)
    if (value === null) return required ? [`parameter ${name} is missing`] : []
    const typed = follow(schema).type === 'integer' ? Number(value) : value
    return faultsOf(ajv.compile({ ...schema, components: undefined }), typed).map((fault) => `${name}: ${fault}`)
  })
  const media =
    operation.requestBody && `${pointer}${pointerTo('requestBody', 'content', 'application/json', 'schema')}`
  const bodyFaults = media ? faultsOf(validatorOf(media), body) : body === undefined ? [] : ['a body']
  return [...unknown, ...wrong, ...bodyFaults]
}

/** Refusals that GitHub documents for the API as a whole, and not for each operation. */
const GENERAL = ['401', '403', '429', '500', '502', '503', '504']

/** The errors in a JSON answer, as sentences. */
export function answerFaults({ operation, pointer }: Described, status: number, body: unknown): string[] {
  const response = operation.responses[status]
  if (!response) {
    return GENERAL.includes(String(status))
      ? faultsOf(validatorOf('/components/schemas/basic-error'), body)
      : [`status ${status} is not documented`]
  }
  const at = response.$ref?.slice(1) ?? pointer + pointerTo('responses', String(status))
  if (!resolve<{ content?: Record<string, unknown> }>(at).content?.['application/json']) return []
  return faultsOf(validatorOf(at + pointerTo('content', 'application/json', 'schema')), body)
}

/** The known properties, and meaningless values for the other required ones. */
export function sampleOf(name: string, known: object): object {
  return filled({ $ref: `#/components/schemas/${name}` }, known) as object
}

function filled(schema: Schema, known: unknown): unknown {
  const followed = follow(schema)
  const { required = [], properties = {}, allOf = [], anyOf } = followed
  if (Array.isArray(known) || (known !== undefined && (typeof known !== 'object' || known === null))) return known
  if (known === undefined && followed.nullable) return null
  const choice = anyOf?.[0]
  if (choice && !followed.properties) return filled(choice, known)
  if (followed.type === 'object' || followed.properties || allOf.length > 0) {
    const values = (known ?? {}) as Record<string, unknown>
    const parts = allOf.map((part) => filled(part, {}) as object)
    const names = [...new Set([...required, ...Object.keys(values)])]
    const own = names.map((key) => [key, filled(properties[key] ?? {}, values[key])])
    return Object.assign({}, ...parts, Object.fromEntries(own)) as object
  }
  if (known !== undefined) return known
  if (followed.enum) return followed.enum[0]
  const byType: Record<string, unknown> = { integer: 0, number: 0, boolean: false, array: [] }
  return byType[followed.type ?? ''] ?? 'x'.repeat(Math.max(1, followed.minLength ?? 1))
}
