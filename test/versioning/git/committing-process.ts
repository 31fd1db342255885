// A process that commits one change after another to a local repository until it is killed. Its arguments:
// the folder, and the numbers of the first and the last change.
import { openLocalRepository } from '../../../versioning/git/local-repository.js'
import { BASE, commitAll, succeeded, triple } from '../repository-contract.js'
import { documentPath } from '../../../versioning/git/document-path.js'

const [folder, first, last] = [process.argv[2]!, Number(process.argv[3]), Number(process.argv[4])]
const repository = succeeded(
  await openLocalRepository({ folder, branch: 'main', pathPrefix: 'graphs', now: () => Date.now() }),
)
process.stdout.write('open\n')
for (let n = first; n < last;) {
  const changes = Array.from({ length: Math.min(1 + (n % 7), last - n) }, (_, offset) => {
    const document = `${BASE}d${(n + offset) % 5}/`
    return {
      id: `change-${n + offset}`,
      document,
      path: documentPath(document, BASE, 'graphs'),
      method: 'PUT',
      agent: undefined,
      time: 1_700_000_000_000 + n,
      content: triple(`${n + offset}`),
      added: 1,
      removed: 0,
      previousBlob: undefined,
    }
  })
  n += (await commitAll(repository, changes)).length
  process.stdout.write(`${n}\n`)
}
await repository.close()
