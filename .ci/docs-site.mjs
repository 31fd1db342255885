// The documents as a site in dist-docs/, which opens from the folder and has a search. A link that leads nowhere fails
// the build.
import { readFileSync, readdirSync } from 'node:fs'
import { Application, Converter } from 'typedoc'

const GROUPS = {
  Reference: ['reference', 'sparql', 'access', 'features', 'settings', 'specification', 'linkeddatahub'],
  Contributors: ['ARCHITECTURE', 'CONTRIBUTING', 'design', 'testing'],
  Project: ['SECURITY', 'CHANGELOG'],
}
const groupOf = (name) => Object.keys(GROUPS).find((group) => GROUPS[group].includes(name)) ?? 'Tasks'
const titleOf = (file) => /^# (.+)$/m.exec(readFileSync(file, 'utf8'))[1]

const index = readFileSync('docs/README.md', 'utf8')
const place = (file) => index.indexOf(`(${file.replace(/^docs\//, '')})`)
const files = [
  ...readdirSync('docs').filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`),
  'SECURITY.md', 'CHANGELOG.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md',
].sort((a, b) => place(a) - place(b)) // prettier-ignore

const app = await Application.bootstrap({
  name: 'Triplegate',
  entryPoints: [],
  readme: 'README.md',
  projectDocuments: files,
  out: 'dist-docs',
  customCss: '.ci/docs-site.css',
  searchInDocuments: true,
  sortEntryPoints: false,
  disableGit: true,
  sourceLinkTemplate: '{path}',
  githubPages: false,
  hideGenerator: true,
  includeVersion: true,
  groupOrder: ['Tasks', ...Object.keys(GROUPS)],
  navigation: { includeGroups: true },
  highlightLanguages: ['sh', 'turtle', 'sparql', 'ruby'],
  treatWarningsAsErrors: true,
})
app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_, document) => {
  const { name } = document
  document.name = titleOf(`${name}.md`)
  document.frontmatter.group = groupOf(name.replace('docs/', ''))
})
const project = await app.convert()
if (!project || app.logger.hasErrors() || app.logger.hasWarnings()) process.exit(1)
await app.generateOutputs(project)
if (app.logger.hasErrors() || app.logger.hasWarnings()) process.exit(1)
