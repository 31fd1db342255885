// The files of a release: the package, its software bill of materials (CycloneDX), and the checksums of both.
// `node .ci/release.mjs FOLDER` writes them; packed.mjs tests them.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const npm = (...args) => execFileSync('npm', args, { encoding: 'utf8', maxBuffer: 2 ** 26 })
const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'))

/** Every package of an installation without development dependencies, according to package-lock.json. */
function billOfMaterials() {
  // `--omit dev` would also omit packages that both kinds of dependencies need.
  const all = JSON.parse(npm('sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only'))
  const isForDevelopment = ({ properties }) =>
    properties.some(({ name, value }) => name === 'cdx:npm:package:development' && value === 'true')
  const components = all.components.filter((each) => !isForDevelopment(each))
  const { component } = all.metadata
  const refs = new Set([component['bom-ref'], ...components.map((each) => each['bom-ref'])])
  const dependencies = all.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => refs.has(each)) }))
  // npm uses the name of the folder.
  return { ...all, metadata: { ...all.metadata, component: { ...component, name } }, components, dependencies }
}

/** Writes the files; @returns npm's report on the package, and the bill of materials */
export function release(folder) {
  mkdirSync(folder, { recursive: true })
  const [packed] = JSON.parse(npm('pack', '--json', '--ignore-scripts', '--pack-destination', folder))
  const bill = billOfMaterials()
  const sbom = `${name}-${version}.cdx.json`
  writeFileSync(join(folder, sbom), JSON.stringify(bill, undefined, 1))
  const sumOf = (file) => createHash('sha256').update(readFileSync(join(folder, file))).digest('hex') // prettier-ignore
  const sums = [packed.filename, sbom].map((file) => `${sumOf(file)}  ${file}\n`)
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''))
  return { packed, bill }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [, , folder] = process.argv
  if (!folder) {
    console.error('Usage: node .ci/release.mjs FOLDER')
    process.exit(2)
  }
  const { packed, bill } = release(resolve(folder))
  console.log(`${packed.filename}, ${bill.components.length} packages in its bill of materials: ${folder}`)
}
