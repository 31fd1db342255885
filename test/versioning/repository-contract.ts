// The tests of the contract of a Git repository, for every kind: a local one, and GitHub.
import type { Test } from 'tap'
import { isFailure, type Setback } from '../../versioning/failure.js'
import { readTrailers } from '../../versioning/git/commit-message.js'
import { documentPath } from '../../versioning/git/document-path.js'
import { blobId } from '../../versioning/git/fast-import.js'
import type { Committed, LoggedCommit, NewCommit, Repository } from '../../versioning/repository.js'
import { checkSound, filesAt, foreignCommit, git, headOf, logged } from '../support/bare-repository.js'

export interface OpenedRepository {
  /** On an empty repository, branch `main`, path prefix `graphs`. */
  readonly repository: Repository
  /** Of the bare repository underneath. */
  readonly folder: string
  /** Closes it, and opens it again on the same repository. */
  reopen(): Promise<Repository>
}

export const BASE = 'https://data.example/'
export const AGENT = 'https://people.example/ann#me'
export const TIME = Date.UTC(2026, 10, 20, 12, 0, 0)

let count = 0

/** A change of a document under `BASE`, later than those before; undefined for `content` removes it. */
export function changeOf(
  document: string,
  content: string | undefined,
  { previous, ...rest }: Partial<NewCommit> & { readonly previous?: string } = {},
): NewCommit {
  const n = ++count
  return {
    id: `01J${String(n).padStart(23, '0')}`,
    document: BASE + document,
    path: documentPath(BASE + document, BASE, 'graphs'),
    method: content === undefined ? 'DELETE' : 'PUT',
    agent: AGENT,
    time: TIME + n * 10,
    content,
    added: 1,
    removed: 0,
    previousBlob: previous === undefined ? undefined : blobId(previous),
    ...rest,
  }
}

export const triple = (value: string, subject = BASE): string => `<${subject}> <${BASE}p> "${value}" .\n`

/** Commits all changes, in as many calls as needed. Throws on a setback other than a conflict. */
export async function commitAll(repository: Repository, changes: readonly NewCommit[]): Promise<Committed[]> {
  const all: Committed[] = []
  for (let conflicts = 0; all.length < changes.length;) {
    const answer = await repository.commit(changes.slice(all.length, all.length + repository.batch))
    all.push(...(isFailure(answer) ? answer.done : answer))
    if (isFailure(answer) && (answer.failure !== 'conflict' || ++conflicts > 20)) throw new Error(answer.detail)
  }
  return all
}

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}

export function succeeded<T>(value: T | Setback): T {
  if (isFailure(value)) throw new Error(`${value.failure}: ${value.detail}`)
  return value
}

export async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items
}

const commitOf = ({ commit, parent, time, message, authorName }: LoggedCommit) =>
  `${commit} ${parent} ${time} ${authorName} ${message}`
const CONTENTS: readonly (readonly [name: string, content: string])[] = [
  ['nothing', ''],
  ['one triple', triple('x')],
  ['beyond ASCII', `${triple('A\u030a é 日本語')}${triple('\uff21')}${triple('\u{1F600}')}`],
  ['the commands of a stream of commits', triple('done\\ncommit refs/heads/main\\nD \\"graphs\\"')],
  ['many triples', Array.from({ length: 20_000 }, (_, n) => triple(String(n).padStart(6, '0'))).join('')],
]

const UNUSUAL = [
  '',
  'a.nt/',
  'a.nt/b/',
  '.git/',
  '.git/config/',
  '..x/y/',
  'git~1/hooks/',
  '.gitmodules/',
  'caf%C3%A9/%E6%97%A5%E6%9C%AC/',
  'caf%C3%A9/',
  'a%22b/',
  'a%25b/',
  "it's/(x)*!,;=:@$&+/",
  `${'long'.repeat(75)}/`,
  `${'%E6%97%A5'.repeat(100)}/${'.'.repeat(300)}x/`,
]

/** A growing branch: the gateway commits, others commit on top of it, and others commit on branches of their own. */
class Growing {
  private count = 0
  constructor(
    private readonly repository: Repository,
    private readonly folder: string,
  ) {}

  async ours(): Promise<string> {
    const [committed] = await commitAll(this.repository, [changeOf(`ours${++this.count}/`, triple('ours'))])
    return committed!.commit
  }

  theirs(on = 'main'): string {
    return foreignCommit(this.folder, { [`graphs/theirs${++this.count}.nt`]: triple('theirs') }, { branch: on })
  }

  start(branch: string, at: string): void {
    git(this.folder, ['update-ref', `refs/heads/${branch}`, at])
  }

  /** Others merge the branch into their work and push the result, so their work is the first parent. */
  pulled(side: string, message: string): string {
    const ofMain = [...filesAt(this.folder, headOf(this.folder)!)]
    const merge = foreignCommit(this.folder, Object.fromEntries(ofMain), {
      branch: side,
      merge: 'refs/heads/main',
      message,
    })
    this.start('main', merge)
    return merge
  }

  /** The work of others is merged into the branch. */
  merged(side: string): string {
    const ofSide = [...filesAt(this.folder, headOf(this.folder, side)!)]
    return foreignCommit(this.folder, Object.fromEntries(ofSide), {
      merge: `refs/heads/${side}`,
      message: `Merge '${side}'`,
    })
  }
}

/** The commits that the log then has, and the files that each merge changed. */
interface Grown {
  readonly expected: readonly string[]
  readonly merges: Readonly<Record<string, readonly string[]>>
}

type Grow = (branch: Growing) => Promise<Grown>

const mergedIntoIt: Grow = async (branch) => {
  const first = await branch.ours()
  branch.start('side', first)
  const second = await branch.ours()
  branch.theirs('side')
  const merge = branch.merged('side')
  return { expected: [first, second, merge, await branch.ours()], merges: { [merge]: ['graphs/theirs3.nt'] } }
}

const pulledAgain: Grow = async (branch) => {
  const expected = [await branch.ours()]
  const merges: Record<string, readonly string[]> = {}
  for (let n = 1; n <= 3; n++) {
    branch.start('side', expected.at(-1)!)
    expected.push(await branch.ours(), await branch.ours())
    branch.theirs('side')
    const merge = branch.pulled('side', 'a merge')
    merges[merge] = [`graphs/theirs${3 * n + 1}.nt`]
    expected.push(merge)
  }
  return { expected, merges }
}

const pulledWithoutOurs: Grow = async (branch) => {
  const first = await branch.ours()
  branch.start('side', first)
  const theirs = branch.theirs()
  branch.theirs('side')
  const merge = branch.pulled('side', "Merge branch 'main' of https://github.example/owner/repo\n")
  return { expected: [first, theirs, merge], merges: { [merge]: ['graphs/theirs3.nt'] } }
}

const pulledIntoUnrelated: Grow = async (branch) => {
  const first = await branch.ours()
  branch.theirs('side')
  const merge = branch.pulled('side', 'a merge')
  return { expected: [first, merge, await branch.ours()], merges: { [merge]: ['graphs/theirs2.nt'] } }
}

// prettier-ignore
const MERGES: readonly (readonly [name: string, grow: Grow])[] = [
  ['the work of others merged into the branch', mergedIntoIt],
  ['the branch merged into the work of others, several times', pulledAgain],
  ['the branch merged into the work of others, while the gateway committed nothing', pulledWithoutOurs],
  ['work of others with another first commit', pulledIntoUnrelated],
]

/** The rows of the contract, each on its own repository. */
export function repositoryContract(t: Test, open: (t: Test) => Promise<OpenedRepository>): void {
  const row = (name: string, test: (t: Test, opened: OpenedRepository) => Promise<void>): void =>
    void t.test(name, async (t) => {
      const opened = await open(t)
      await test(t, opened)
      checkSound(t, opened.folder)
    })

  row('an empty repository has no commits and no files, and accepts commits', async (t, { repository }) => {
    t.same(await all(repository.log(undefined)), [])
    t.same(await all(repository.files()), [])
    t.same(await all(repository.contents()), [])
    t.equal(await repository.read({ commit: '0'.repeat(40), path: 'graphs/a.nt', blob: undefined }), undefined)
    t.equal(await repository.ready(), undefined)
    t.same(await repository.commit([]), [])
  })

  row('one commit for each change, in the order of the changes', async (t, { repository, folder }) => {
    const changes = Array.from({ length: 12 }, (_, n) =>
      changeOf(`d${n % 4}/`, triple(`${n}`), n < 4 ? {} : { previous: triple(`${n - 4}`) }),
    )
    const committed = await commitAll(repository, changes)
    t.same(
      committed.map(({ id }) => id),
      changes.map(({ id }) => id),
    )
    t.same(
      logged(folder, '%H'),
      committed.map(({ commit }) => commit),
    )
    t.same(
      committed.map(({ parent }) => parent),
      [undefined, ...committed.slice(0, -1).map(({ commit }) => commit)],
    )
    t.same(
      committed.map(({ blob }) => blob),
      changes.map(({ content }) => blobId(content!)),
    )
    t.same(
      logged(folder, '%s'),
      changes.map(({ document }) => `PUT ${new URL(document).pathname}`),
    )
    const log = await all(repository.log(undefined))
    t.same(
      log.map(({ files }) => files),
      changes.map(({ path, content }) => [{ path, blob: blobId(content!) }]),
    )
    t.same(
      log.map(({ commit, parent, time }) => ({ commit, parent, time })),
      committed.map(({ commit, parent, time }) => ({ commit, parent, time })),
    )
  })

  row('author, committer, dates and trailers', async (t, { repository, folder }) => {
    const restores = (await commitAll(repository, [changeOf('a/', triple('1'))]))[0]!.commit
    const change = {
      ...changeOf('a/', triple('2'), { previous: triple('1') }),
      added: 3,
      removed: 1,
      restores,
      time: TIME + 60_999,
    }
    const anonymous = { ...changeOf('b/', triple('3')), agent: undefined, method: 'POST', time: TIME }
    const committed = await commitAll(repository, [change, anonymous])
    t.same(
      committed.map(({ time }) => time),
      [TIME + 60_000, TIME],
      'whole seconds: when the change was made',
    )
    const [, one, two] = logged(folder, '%an|%ae|%at|%ct')
    t.match(one, new RegExp(`^${AGENT}\\|[0-9a-f]{16}@webid\\.invalid\\|${TIME / 1000 + 60}\\|${TIME / 1000 + 60}$`))
    const dates = `${TIME / 1000}\\|${TIME / 1000 + 60}`
    t.match(
      two,
      new RegExp(`^urn:anonymous\\|[0-9a-f]{16}@webid\\.invalid\\|${dates}$`),
      'no committer before the parent',
    )
    const [, messageOfOne, messageOfTwo] = (await all(repository.log(undefined))).map(({ message }) => message)
    const { document, id: journalId } = change
    t.same(readTrailers(messageOfOne!), {
      agent: AGENT,
      document,
      method: 'PUT',
      journalId,
      added: 3,
      removed: 1,
      restores,
    })
    t.same(readTrailers(messageOfTwo!), {
      document: anonymous.document,
      method: 'POST',
      journalId: anonymous.id,
      added: 1,
      removed: 0,
    })
  })

  row('a deletion removes its own file only', async (t, { repository, folder }) => {
    const made = await commitAll(repository, [changeOf('a/', triple('1')), changeOf('a/b/', triple('2'))])
    const deletion = changeOf('a/', undefined, { previous: triple('1') })
    const [deleted] = await commitAll(repository, [deletion])
    t.equal(deleted!.blob, undefined)
    t.same([...filesAt(folder, deleted!.commit).keys()], ['graphs/a/b.nt'])
    t.same(
      (await all(repository.log(made[1]!.commit))).map(({ files }) => files),
      [[{ path: 'graphs/a.nt', blob: undefined }]],
    )
    t.equal(await repository.read({ commit: deleted!.commit, path: deletion.path, blob: undefined }), undefined)
    t.equal(await repository.read({ commit: made[1]!.commit, path: deletion.path, blob: undefined }), triple('1'))
    await commitAll(repository, [changeOf('a/b/', undefined, { previous: triple('2') })])
    t.same(await all(repository.files()), [])
  })

  row('contents are read back byte for byte, at every commit', async (t, { repository, folder }) => {
    const changes = CONTENTS.map(([, content], n) =>
      changeOf('a/', content, n === 0 ? {} : { previous: CONTENTS[n - 1]![1] }),
    )
    const committed = await commitAll(repository, changes)
    for (const [n, [name, content]] of CONTENTS.entries()) {
      const { commit, blob } = committed[n]!
      t.equal(await repository.read({ commit, path: 'graphs/a.nt', blob }), content, `${name}, by its blob`)
      t.equal(await repository.read({ commit, path: 'graphs/a.nt', blob: undefined }), content, `${name}, by its path`)
      t.equal(git(folder, ['cat-file', 'blob', blob!]), content, `${name}, for git`)
    }
    const { commit } = committed[0]!
    t.equal(await repository.read({ commit, path: 'graphs/other.nt', blob: undefined }), undefined)
    t.equal(await repository.read({ commit, path: 'graphs', blob: undefined }), undefined, 'a folder')
    t.equal(await repository.read({ commit: 'f'.repeat(40), path: 'graphs/a.nt', blob: undefined }), undefined)
    t.equal(await repository.read({ commit: 'main', path: 'graphs/a.nt', blob: undefined }), undefined, 'a branch')
  })

  row('unusual names', async (t, { repository, folder }) => {
    const changes = UNUSUAL.map((document) => changeOf(document, triple(document)))
    await commitAll(repository, changes)
    const expected = changes.map(({ path, content }) => ({ path, content })).sort((a, b) => (a.path < b.path ? -1 : 1))
    const contents = (await all(repository.contents())).sort((a, b) => (a.path < b.path ? -1 : 1))
    t.same(contents, expected)
    t.same(
      new Map((await all(repository.files())).map(({ path, blob }) => [path, blob])),
      new Map(changes.map(({ path, content }) => [path, blobId(content!)])),
    )
    t.equal(logged(folder, '%H').length, UNUSUAL.length)
  })

  row(
    'a path that Git cannot store is refused, and the changes before it are committed',
    async (t, { repository, folder }) => {
      const good = changeOf('a/', triple('1'))
      const answers: string[] = []
      for (const path of [`graphs/${'a/'.repeat(3000)}b.nt`, 'graphs/../a.nt', 'graphs/.git/a.nt', 'graphs//a.nt']) {
        const answer = await repository.commit([{ ...changeOf('b/', triple('2')), path }])
        answers.push(isFailure(answer) ? `${answer.failure} ${answer.done.length}` : 'committed')
      }
      t.same(new Set(answers), new Set(['unfit 0']))
      await commitAll(repository, [good])
      t.equal(logged(folder, '%H').length, 1)
    },
  )

  row('commits by others stay, to other files and to the same', async (t, { repository, folder }) => {
    const [first] = await commitAll(repository, [changeOf('a/', triple('1'))])
    const theirs = foreignCommit(folder, {
      'README.md': 'hello',
      'graphs/a.nt': triple('theirs'),
      'graphs/c.nt': triple('c'),
    })
    const [ours] = await commitAll(repository, [changeOf('a/', triple('2'), { previous: triple('1') })])
    t.same(logged(folder, '%H'), [first!.commit, theirs, ours!.commit])
    t.equal(ours!.parent, theirs)
    t.same(
      [...filesAt(folder, ours!.commit)],
      [
        ['README.md', 'hello'],
        ['graphs/a.nt', triple('2')],
        ['graphs/c.nt', triple('c')],
      ],
    )
    t.equal(await repository.read({ commit: theirs, path: 'graphs/a.nt', blob: undefined }), triple('theirs'))
    foreignCommit(folder, { 'graphs/a.nt': undefined })
    const [deletion] = await commitAll(repository, [changeOf('a/', undefined, { previous: triple('2') })])
    t.notOk(filesAt(folder, deletion!.commit).has('graphs/a.nt'), 'deleted by others before')
    t.same(
      (await all(repository.files())).map(({ path }) => path),
      ['graphs/c.nt'],
      'files under the prefix',
    )
    t.ok(
      (await all(repository.log(undefined)))[1]!.files.some(({ path }) => path === 'README.md'),
      'the log has all files',
    )
  })

  row('others push at the same time', async (t, { repository, folder }) => {
    const changes = Array.from({ length: 20 }, (_, n) => changeOf(`d${n}/`, triple(`${n}`)))
    let over = false
    const ours = commitAll(repository, changes).finally(() => (over = true))
    const theirs: string[] = []
    while (!over && theirs.length < 10) {
      theirs.push(foreignCommit(folder, { [`other${theirs.length}`]: 'x' }))
      // Long enough for the gateway's own commit to continue.
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    const commits = (await ours).map(({ commit }) => commit)
    const branch = logged(folder, '%H')
    t.same(
      branch.filter((commit) => commits.includes(commit)),
      commits,
    )
    t.same(
      branch.filter((commit) => theirs.includes(commit)),
      theirs,
    )
    t.equal(branch.length, commits.length + theirs.length)
  })

  row('a change whose answer was lost does not become two commits', async (t, { repository, folder, reopen }) => {
    const changes = [changeOf('a/', triple('1')), changeOf('b/', triple('2'))]
    const committed = await commitAll(repository, changes)
    t.same(await commitAll(repository, changes.slice(1)), committed.slice(1), 'the same process')
    foreignCommit(folder, { 'README.md': 'hello' })
    const branch = new Growing(repository, folder)
    branch.start('side', committed[0]!.commit)
    branch.theirs('side')
    branch.pulled('side', 'its second parent leads to the second change')
    const again = await reopen()
    t.same(await commitAll(again, [changes[1]!, changeOf('c/', triple('3'))]).then(([one]) => one), committed[1])
    t.equal(git(folder, ['rev-list', '--count', 'main']).trim(), '6')
  })

  row('the log since a commit', async (t, { repository, folder, reopen }) => {
    const committed = await commitAll(
      repository,
      ['1', '2', '3'].map((name) => changeOf(`${name}/`, triple(name))),
    )
    const ids = committed.map(({ commit }) => commit)
    const since = async (from: string | undefined, on = repository): Promise<string[]> =>
      (await all(on.log(from))).map(({ commit }) => commit)
    t.same(await since(ids[0]), ids.slice(1))
    t.same(await since(ids[2]), [])
    t.same(await since('f'.repeat(40)), ids, 'since an unknown commit')
    git(folder, ['update-ref', 'refs/heads/main', ids[0]!])
    const again = await reopen()
    t.same(await since(ids[2], again), ids.slice(0, 1), 'a branch that was set back')
    const theirs = foreignCommit(folder, { x: 'y' })
    t.same(await since(ids[2], again), [ids[0], theirs], 'a branch that continues elsewhere')
  })

  row('odd commits by others do not confuse the log', async (t, { repository, folder }) => {
    const [ours] = await commitAll(repository, [changeOf('a/', triple('1'))])
    const [, ...theirs] = [
      ours!.commit,
      foreignCommit(folder, { x: '1' }, { message: '' }),
      foreignCommit(
        folder,
        { x: '2' },
        { message: `:100644 100644 ${'0'.repeat(40)} ${'1'.repeat(40)} M\n\n${'2'.repeat(40)}\n` },
      ),
      foreignCommit(folder, {}, { message: 'changes nothing' }),
      foreignCommit(folder, { 'ü "\\\t.nt': '3' }, { author: 'Jürgen "J" O\'Neill', message: 'ü\r\n\r\n\r\n' }),
      foreignCommit(folder, { side: '1' }, { branch: 'side' }) &&
        foreignCommit(folder, { y: '1' }, { merge: 'refs/heads/side' }),
    ]
    const log = await all(repository.log(ours!.commit))
    t.same(
      log.map(({ commit }) => commit),
      theirs,
    )
    t.same(
      log.map(({ files }) => files.map(({ path }) => path)),
      [['x'], ['x'], [], ['ü "\\\t.nt'], ['y']],
    )
    t.equal(log[3]!.authorName, 'Jürgen "J" O\'Neill')
  })

  for (const [name, grow] of MERGES) {
    row(`the log of a branch with ${name}`, async (t, { repository, folder }) => {
      const { expected, merges } = await grow(new Growing(repository, folder))
      const log = await all(repository.log(undefined))
      t.same(
        log.map(({ commit }) => commit),
        expected,
      )
      t.same(
        log.map(({ parent }) => parent),
        [undefined, ...expected.slice(0, -1)],
        'each on top of the one before',
      )
      for (const [n, from] of expected.entries()) {
        t.same(await all(repository.log(from)), log.slice(n + 1), `since the ${n}th`)
      }
      for (const [merge, paths] of Object.entries(merges)) {
        const { files } = log.find(({ commit }) => commit === merge)!
        t.same(files.map(({ path }) => path).sort(), paths, 'the files of the branch that a merge changed')
      }
    })
  }

  row('many files in one commit', async (t, { repository, folder }) => {
    await commitAll(repository, [changeOf('a/', triple('1')), changeOf('b/', triple('2'))])
    foreignCommit(folder, { 'README.md': 'hello' })
    const files = Array.from({ length: 60 }, (_, n) => ({
      path: `graphs/c/${n}.nt`,
      content: triple(`${n}`) as string | undefined,
    }))
    const { id, method, agent, time } = changeOf('', '', { method: 'SWEEP' })
    const change = { id, method, agent, time }
    const given = [{ path: 'graphs/a.nt', content: undefined }, { path: 'graphs/b.nt', content: triple('2') }, ...files]
    const commit = succeeded(await repository.commitFiles(each(given), change))!
    t.equal(headOf(folder), commit.commit)
    t.same(commitOf(commit), commitOf((await all(repository.log(undefined))).at(-1)!))
    t.same(readTrailers(commit.message), { agent: AGENT, method: 'SWEEP', journalId: id })
    t.equal(commit.files.length, 61, 'the files that it changed')
    const contents = filesAt(folder, commit.commit)
    t.equal(contents.size, 62)
    t.equal(contents.get('graphs/c/59.nt'), triple('59'))
    t.notOk(contents.has('graphs/a.nt'))
    const next = { ...change, id: changeOf('', '').id }
    t.equal(await repository.commitFiles(each(files), next), undefined, 'no file differs')
    t.equal(await repository.commitFiles(each([]), next), undefined, 'no files')
    t.equal(headOf(folder), commit.commit)
  })

  row('reading while committing', async (t, { repository }) => {
    const [first] = await commitAll(repository, [changeOf('a/', triple('first'))])
    const writing = commitAll(
      repository,
      Array.from({ length: 20 }, (_, n) => changeOf(`d${n}/`, triple(`${n}`))),
    )
    for (let n = 0; n < 20; n++) {
      const { commit, blob } = first!
      t.equal(await repository.read({ commit, path: 'graphs/a.nt', blob: n % 2 ? blob : undefined }), triple('first'))
      t.ok((await all(repository.contents())).some(({ path }) => path === 'graphs/a.nt'))
    }
    const committed = await writing
    const { commit, blob } = committed.at(-1)!
    t.equal(await repository.read({ commit, path: 'graphs/d19.nt', blob }), triple('19'))
  })
}
