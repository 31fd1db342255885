// A process that writes to a history until it is killed. It prints each change that is done.
import { openHistory } from '../../../versioning/open-history.js'
import { openLocalRepository } from '../../../versioning/git/local-repository.js'
import { NO_LOG } from '../history-world.js'
import { BASE, succeeded, triple } from '../repository-contract.js'

const [, , folder, run] = process.argv
if (folder === undefined || run === undefined) throw new Error('usage: journal-load.js FOLDER RUN')
const now = (): number => Date.now()
const repository = succeeded(
  await openLocalRepository({ folder: `${folder}/repository.git`, branch: 'main', pathPrefix: 'graphs', now }),
)
const history = succeeded(
  await openHistory({ folder: `${folder}/journal`, repository, base: BASE, prefix: 'graphs', now, log: NO_LOG }),
)
// Changes that were in doubt when the previous process was killed count as done: there is no store to compare with.
history.done(history.open())

async function write(document: string): Promise<never> {
  for (let n = 0; ; n++) {
    const content = triple(`${run} ${n}`)
    const change = { document, method: 'PUT', agent: undefined, time: now(), before: undefined, content }
    const entries = succeeded(await history.begin([change]))
    history.done(entries)
    process.stdout.write(`${entries[0]!.id} ${document}\n`)
  }
}
await Promise.all(['a', 'b', 'c', 'd'].map((name) => write(`${BASE}${name}/`)))
