// Makes github-openapi.json: extracts the operations that the double of GitHub's API answers from GitHub's own
// description. `npm pack @octokit/openapi@23.0.2`, unpack, then: node extract-github-openapi.mjs package/generated/api.github.com.json
import { readFileSync, writeFileSync } from 'node:fs'

const OPERATIONS = [
  'repos/get',
  'repos/get-content',
  'repos/create-or-update-file-contents',
  'repos/delete-file',
  'repos/list-commits',
  'repos/get-commit',
  'repos/compare-commits-with-basehead',
  'git/get-ref',
  'git/create-ref',
  'git/update-ref',
  'git/get-blob',
  'git/create-tree',
  'git/get-tree',
  'git/create-commit',
  'git/get-commit',
]
/** Prose and samples, against which nothing is checked. */
const LEFT_OUT = new Set(['description', 'summary', 'example', 'examples', 'externalDocs', 'tags', 'links', 'x-github'])
/** Below these, the keys are names and not keywords. */
const NAMED = new Set(['properties', 'responses', 'headers', 'schemas', 'parameters'])

const source = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const components = {}

function cut(value, names = false) {
  if (Array.isArray(value)) return value.map((item) => cut(item))
  if (typeof value !== 'object' || value === null) return value
  if (typeof value.$ref === 'string' && !names) keep(value.$ref)
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => names || !LEFT_OUT.has(key))
      .map(([key, item]) => [key, cut(item, !names && NAMED.has(key))]),
  )
}

function keep(ref) {
  const [, , kind, name] = ref.split('/')
  components[kind] ??= {}
  if (name in components[kind]) return
  components[kind][name] = {} // held while its own references are followed: they may lead back here
  components[kind][name] = cut(source.components[kind][name])
}

const paths = {}
for (const [path, methods] of Object.entries(source.paths)) {
  for (const [method, operation] of Object.entries(methods)) {
    if (OPERATIONS.includes(operation.operationId)) (paths[path] ??= {})[method] = cut(operation)
  }
}
keep('#/components/schemas/basic-error') // what 401, 403, 429 and 5xx look like, on every operation
writeFileSync(
  new URL('github-openapi.json', import.meta.url),
  JSON.stringify({
    openapi: source.openapi,
    info: { title: source.info.title, version: source.info.version, license: source.info.license },
    paths,
    components,
  }),
)
