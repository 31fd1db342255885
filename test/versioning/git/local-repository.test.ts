// The tests of the local bare repository: the contract of a repository, and the rules that only this kind has.
import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { ownData } from '../../../gateway/start/own-data.js'
import { isFailure } from '../../../versioning/failure.js'
import { openLocalRepository } from '../../../versioning/git/local-repository.js'
import type { Repository } from '../../../versioning/repository.js'
import {
  checkSound,
  filesAt,
  foreignCommit,
  git,
  headOf,
  logged,
  temporaryFolder,
} from '../../support/bare-repository.js'
import {
  all,
  changeOf,
  commitAll,
  repositoryContract,
  succeeded,
  triple,
  type OpenedRepository,
} from '../repository-contract.js'
import { until } from '../../support/wait.js'

const OPTIONS = { branch: 'main', pathPrefix: 'graphs', now: () => Date.now() }

async function open(t: Test, options: Partial<typeof OPTIONS> = {}): Promise<OpenedRepository> {
  const folder = join(temporaryFolder(t), 'repository.git')
  let repository: Repository
  const opened = async () => (repository = succeeded(await openLocalRepository({ ...OPTIONS, ...options, folder })))
  const first = await opened()
  t.teardown(() => repository.close())
  return {
    repository: first,
    folder,
    async reopen() {
      await repository.close()
      return opened()
    },
  }
}

void t.test('the contract of a repository', async (t) => repositoryContract(t, open))

void t.test('opening', async (t) => {
  const refused = async (folder: string, options: Partial<typeof OPTIONS> = {}): Promise<string> => {
    const opened = await openLocalRepository({ ...OPTIONS, ...options, folder })
    if (!isFailure(opened)) await opened.close()
    return isFailure(opened) ? `${opened.failure}: ${opened.detail}` : 'opened'
  }

  await t.test(
    'a folder with other files, another kind of repository, and an invalid branch are refused',
    async (t) => {
      const folder = temporaryFolder(t)
      writeFileSync(join(folder, 'letter.txt'), 'x')
      t.match(await refused(folder), /^failed: .*holds other files/)
      t.same(readdirSync(folder), ['letter.txt'], 'the folder is unchanged')
      const data = temporaryFolder(t)
      const { release } = await ownData(data)
      await release()
      t.match(await refused(data), /^failed: .*holds other files/)
      const other = temporaryFolder(t)
      git(other, ['init', '--quiet', '--bare', '--object-format=sha256'])
      t.match(await refused(other), /^failed: .*SHA-1/)
      t.match(await refused(join(folder, 'letter.txt')), /^failed: .*EEXIST/)
      for (const branch of ['a..b', 'a\nb', '../main', 'x.lock', '']) {
        t.match(
          await refused(temporaryFolder(t), { branch }),
          /^failed: .*not a valid name of a branch/s,
          JSON.stringify(branch),
        )
      }
    },
  )

  await t.test('a repository whose creation was interrupted is created', async (t) => {
    const folders = ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags']
    const bare = '[core]\n\trepositoryformatversion = 0\n'
    type Row = readonly [name: string, folders: readonly string[], files: Readonly<Record<string, string>>]
    // prettier-ignore
    const rows: readonly Row[] = [
      ['before anything', [], { 'config.lock': '' }],
      ['after the settings', [], { config: '[gc]\n\tauto = 0\n' }],
      ['before the folders', [], { config: bare, HEAD: 'ref: refs/heads/main\n' }],
      ['before its configuration', folders, { HEAD: 'ref: refs/heads/main\n' }],
      ['in its configuration', folders, { HEAD: 'ref: refs/heads/main\n', config: bare, 'config.lock': '' }],
      ['in its head', folders, { 'HEAD.lock': '', config: bare }],
    ]
    for (const [name, folders, files] of rows) {
      const folder = temporaryFolder(t)
      mkdirSync(join(folder, 'triplegate-owner'))
      for (const one of folders) mkdirSync(join(folder, one), { recursive: true })
      for (const [file, content] of Object.entries(files)) writeFileSync(join(folder, file), content)
      const repository = succeeded(await openLocalRepository({ ...OPTIONS, folder }))
      t.equal((await commitAll(repository, [changeOf('a/', triple('1'))])).length, 1, name)
      await repository.close()
      t.equal(git(folder, ['config', 'receive.denyNonFastForwards']), 'true\n', name)
      t.equal(git(folder, ['rev-parse', '--is-bare-repository']), 'true\n', name)
      t.equal(git(folder, ['symbolic-ref', 'HEAD']), 'refs/heads/main\n', name)
      checkSound(t, folder)
    }
  })

  await t.test('a partial clone is refused, and the command that its settings name is not run', async (t) => {
    const { repository, folder } = await open(t)
    const { blob } = (await commitAll(repository, [changeOf('a/', triple('1'))]))[0]!
    const mark = join(temporaryFolder(t), 'run')
    const rows: readonly (readonly [key: string, value: string])[] = [
      ['extensions.partialClone', 'x'],
      ['remote.x.promisor', 'true'],
    ]
    git(folder, ['config', 'core.repositoryFormatVersion', '1'])
    git(folder, ['config', 'remote.x.url', folder])
    git(folder, ['config', 'remote.x.uploadpack', `touch ${mark}; git-upload-pack`])
    for (const [key, value] of rows) git(folder, ['config', key, value])
    const missing = { commit: 'f'.repeat(40), path: 'graphs/a.nt', blob: 'e'.repeat(40) }
    t.equal(await repository.read(missing), undefined, 'while it is open')
    t.notOk(existsSync(mark))
    t.equal(await repository.read({ ...missing, blob: blob! }), triple('1'))
    await repository.close()
    for (const [key, value] of rows) {
      for (const [other] of rows) git(folder, ['config', '--unset-all', other])
      t.equal(await refused(folder), 'opened')
      git(folder, ['config', key, value])
      t.match(await refused(folder), /^failed: .* is a partial clone/, key)
      for (const [key, value] of rows) git(folder, ['config', key, value])
    }
  })

  await t.test('without git, or with an old one, the message says what to install', async (t) => {
    const path = process.env['PATH']
    t.teardown(() => (process.env['PATH'] = path))
    const folder = temporaryFolder(t)
    const programs = temporaryFolder(t)
    process.env['PATH'] = programs
    t.match(await refused(folder), /^failed: .*ENOENT.* Install git 2\.36 or newer/)
    writeFileSync(join(programs, 'git'), '#!/bin/sh\necho git version 2.25.1\n', { mode: 0o755 })
    t.match(await refused(folder), /^failed: git version 2\.25\.1 is too old\. Install git 2\.36 or newer/)
  })

  await t.test('without file descriptors git does not start, and the setback says so', async (t) => {
    const script = `
      import { openSync } from 'node:fs'
      const { runGit } = await import(${JSON.stringify(new URL('../../../versioning/git/git.js', import.meta.url).href)})
      try { for (;;) openSync('/dev/null') } catch {}
      process.stdout.write(JSON.stringify(await runGit('.', ['version'])))`
    const { stdout } = spawnSync('sh', [
      '-c',
      'ulimit -n 128; exec "$0" --input-type=module -e "$1"',
      process.execPath,
      script,
    ])
    t.match(stdout.toString(), /"failure":"failed".*EMFILE/)
  })

  await t.test('without memory for a process git does not start, and the setback says so', async (t) => {
    const script = `
      import processes from 'node:child_process'
      import { syncBuiltinESMExports } from 'node:module'
      const { spawn } = processes
      let last
      let fails = false
      processes.spawn = (...args) => {
        if (fails) throw Object.assign(new Error('spawn ENOMEM'), { code: 'ENOMEM' })
        return (last = spawn(...args))
      }
      syncBuiltinESMExports()
      const importing = (name) => import(new URL(name, ${JSON.stringify(new URL('../../../versioning/git/', import.meta.url).href)}))
      const { makeObjectReader } = await importing('cat-file.js')
      const { runGit, nulSeparated } = await importing('git.js')
      const { fastImport } = await importing('fast-import.js')
      const reader = makeObjectReader(process.argv[1])
      await reader.object('HEAD')
      last.kill('SIGSTOP')
      const object = reader.object('HEAD')
      fails = true
      last.kill('SIGKILL')
      const answers = [await object, await runGit('.', ['version'])]
      const commits = [{ author: { name: '', email: '' }, message: '', time: 0, files: [] }]
      answers.push(await fastImport('.', { branch: 'main', committer: { name: '', email: '' }, commits }))
      answers.push(await nulSeparated('.', ['log']).next().catch(({ setback }) => setback))
      process.stdout.write(answers.map((answer) => JSON.stringify(answer)).join('\\n'))`
    const folder = temporaryFolder(t)
    git(folder, ['init', '--quiet', '--bare'])
    const args = ['--input-type=module', '-e', script, folder]
    const { stdout, stderr } = spawnSync(process.execPath, args, { timeout: 300_000 })
    t.equal(stderr.toString(), '')
    const answers = stdout.toString().split('\n')
    t.equal(answers.length, 4)
    for (const answer of answers) t.match(answer, /spawn ENOMEM/)
  })

  await t.test('another branch in the repository does not matter, and stays', async (t) => {
    const folder = temporaryFolder(t)
    git(folder, ['init', '--quiet', '--bare'])
    const theirs = foreignCommit(folder, { 'graphs/a.nt': triple('theirs') }, { branch: 'other' })
    const repository = succeeded(await openLocalRepository({ ...OPTIONS, folder }))
    t.same(await all(repository.files()), [])
    const [ours] = await commitAll(repository, [changeOf('a/', triple('1'))])
    t.equal(ours!.parent, undefined)
    t.equal(headOf(folder, 'other'), theirs)
    await repository.close()
    t.equal(
      (
        await openLocalRepository({ ...OPTIONS, folder })
          .then(succeeded)
          .then(async (again) => {
            const files = await all(again.files())
            await again.close()
            return files
          })
      ).length,
      1,
    )
  })

  await t.test('environment and settings of others have no effect', async (t) => {
    const hook = temporaryFolder(t)
    const { repository, folder } = await open(t)
    writeFileSync(join(hook, 'reference-transaction'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
    git(folder, ['config', 'core.hooksPath', hook])
    const settings = {
      GIT_DIR: '/nowhere',
      GIT_OBJECT_DIRECTORY: '/nowhere',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.bare',
    }
    Object.assign(process.env, settings)
    t.teardown(() => Object.keys(settings).forEach((name) => delete process.env[name]))
    t.equal((await commitAll(repository, [changeOf('a/', triple('1'))])).length, 1)
  })

  await t.test('one gateway at a time, until it closes or is killed', async (t) => {
    const { repository, folder } = await open(t)
    t.match(await refused(folder), /^denied: .*in use by another gateway/)
    const other = committing(folder, 0, 1)
    t.match((await once(other.stderr, 'data'))[0].toString(), /in use by another gateway/)
    await once(other, 'close')
    t.equal((await commitAll(repository, [changeOf('a/', triple('1'))])).length, 1)
    await repository.close()
    const owner = committing(folder, 0, 100_000)
    await once(owner.stdout, 'data')
    t.match(await refused(folder), /^denied: .*in use by another gateway/)
    owner.kill('SIGKILL')
    await once(owner, 'close')
    t.equal(await refused(folder), 'opened')
  })
})

const committing = (folder: string, first: number, last: number) =>
  spawn(process.execPath, [
    fileURLToPath(new URL('committing-process.js', import.meta.url)),
    folder,
    `${first}`,
    `${last}`,
  ])

void t.test('killed again and again, it loses no commit, repeats none, and leaves the repository sound', async (t) => {
  const folder = join(temporaryFolder(t), 'repository.git')
  let acknowledged = 0
  let killed = 0
  const run = async (last: number, life?: number): Promise<void> => {
    const child = committing(folder, acknowledged, last)
    let stderr = ''
    child.stderr.on('data', (text) => (stderr += text))
    child.stdout.on('data', (text: Buffer) => {
      acknowledged = Math.max(acknowledged, ...text.toString().split('\n').map(Number).filter(Number.isFinite))
    })
    const closed = once(child, 'close')
    await once(child.stdout, 'data')
    const timer = life === undefined ? undefined : setTimeout(() => child.kill('SIGKILL') && killed++, life)
    await closed
    clearTimeout(timer)
    t.equal(stderr, '')
  }
  for (let n = 0; n < 10; n++) await run(1_000_000, 10 + ((n * 37) % 120))
  t.equal(killed, 10)
  const total = acknowledged + 20
  await run(total)
  t.equal(acknowledged, total)
  const ids = logged(folder, '%(trailers:key=Journal-Id,valueonly)').map((id) => id.trim())
  t.same(
    ids,
    Array.from({ length: ids.length }, (_, n) => `change-${n}`),
    'each once, in order',
  )
  t.ok(ids.length >= total)
  checkSound(t, folder)
})

void t.test('obstacles', async (t) => {
  const aged = (file: string, seconds: number): void =>
    utimesSync(file, Date.now() / 1000 - seconds, Date.now() / 1000 - seconds)

  await t.test('the remains of a killed git are removed, and nothing else', async (t) => {
    const { repository, folder, reopen } = await open(t)
    await commitAll(repository, [changeOf('a/', triple('1'))])
    const packs = join(folder, 'objects/pack')
    for (const [lock, seconds] of [
      ['HEAD.lock', 5],
      ['refs/heads/main.lock', 5],
      ['packed-refs.lock', -3600],
    ] as const) {
      writeFileSync(join(folder, lock), '')
      aged(join(folder, lock), seconds)
    }
    for (const old of ['tmp_pack_old', '.tmp-4711-pack-old.pack', '.tmp-4711-pack-old.idx', 'multi-pack-index.lock']) {
      writeFileSync(join(packs, old), 'x')
      aged(join(packs, old), 120)
    }
    writeFileSync(join(packs, '.tmp-4711-pack-new.pack'), 'x')
    writeFileSync(join(packs, 'tmp_pack_new'), 'x')
    writeFileSync(join(packs, 'pack-1.keep'), 'fast-import')
    writeFileSync(join(packs, 'pack-2.keep'), 'receive-pack 1 on here')
    const again = await reopen()
    t.equal((await commitAll(again, [changeOf('b/', triple('2'))])).length, 1)
    const left = readdirSync(packs).filter((name) => /tmp|keep|lock/.test(name))
    t.same(left.sort(), ['.tmp-4711-pack-new.pack', 'pack-2.keep', 'tmp_pack_new'])
    t.notOk(existsSync(join(folder, 'packed-refs.lock')), 'a lock of a clock that was set back')
  })

  await t.test('it waits for a lock of others', async (t) => {
    const { repository, folder } = await open(t)
    writeFileSync(join(folder, 'HEAD.lock'), '')
    t.equal((await commitAll(repository, [changeOf('a/', triple('1'))])).length, 1)
  })

  await t.test('a killed reader is started again', async (t) => {
    const { repository, folder } = await open(t)
    const { commit, blob } = (await commitAll(repository, [changeOf('a/', triple('1'))]))[0]!
    const read = () => repository.read({ commit, path: 'graphs/a.nt', blob })
    t.equal(await read(), triple('1'))
    for (const pid of readersOf(folder)) process.kill(pid, 'SIGKILL')
    t.same(await Promise.all([read(), read()]), [triple('1'), triple('1')])
  })

  await t.test('a damaged repository is reported, and not taken for an empty one', async (t) => {
    const { repository, folder } = await open(t)
    await commitAll(repository, [changeOf('a/', triple('1'))])
    for (const name of readdirSync(join(folder, 'objects/pack'))) {
      const file = join(folder, 'objects/pack', name)
      chmodSync(file, 0o600)
      if (name.endsWith('.pack')) writeFileSync(file, Buffer.alloc(statSync(file).size, 1))
    }
    const outcome = await repository.commit([changeOf('a/', triple('2'))])
    t.ok(isFailure(outcome) && outcome.done.length === 0)
    const contents = await all(repository.contents()).catch((error: unknown) => error)
    t.match(contents, { setback: { failure: 'failed' } })
  })

  await t.test('a full disk is reported, and no commit is half done', async (t) => {
    const folder = temporaryFolder(t)
    if (process.getuid?.() !== 0 || !mounted(folder)) return t.comment('no file system can be mounted here')
    t.teardown(() => spawnSync('umount', ['-l', folder]))
    const repository = succeeded(await openLocalRepository({ ...OPTIONS, folder: join(folder, 'r.git') }))
    const { commit } = (await commitAll(repository, [changeOf('a/', triple('1'))]))[0]!
    t.match(await repository.ready(), { failure: 'full' })
    const large = changeOf('a/', randomBytes(3_000_000).toString('hex'))
    const outcome = await repository.commit([changeOf('b/', triple('2')), large])
    t.match(outcome, { failure: 'full', done: [] }, JSON.stringify(outcome))
    t.equal(headOf(join(folder, 'r.git')), commit)
    spawnSync('mount', ['-o', 'remount,size=64m', folder])
    t.equal((await commitAll(repository, [large])).length, 1, 'it continues when there is room')
    const objects = join(folder, 'r.git/objects')
    spawnSync('mount', ['--bind', objects, objects])
    spawnSync('mount', ['-o', 'remount,bind,ro', objects])
    t.match(await repository.ready(), { failure: 'denied' })
    t.match(await repository.commit([changeOf('c/', triple('3'))]), { failure: 'denied', done: [] })
    spawnSync('umount', ['-l', objects])
    checkSound(t, join(folder, 'r.git'))
    await repository.close()
  })
})

void t.test('files whose source fails are not committed', async (t) => {
  const { repository, folder } = await open(t)
  async function* failing() {
    yield { path: 'graphs/a.nt', content: triple('1') }
    throw new Error('the source has failed')
  }
  const { id, method, agent, time } = changeOf('', '')
  await t.rejects(repository.commitFiles(failing(), { id, method, agent, time }), /the source has failed/)
  t.equal(headOf(folder), undefined)
  t.equal((await commitAll(repository, [changeOf('a/', triple('1'))])).length, 1)
})

void t.test('after a push by others meanwhile, the commit is repeated on top of it', async (t) => {
  const { repository, folder } = await open(t)
  await commitAll(repository, [changeOf('a/', triple('1'))])
  let theirs = ''
  async function* racing() {
    yield { path: 'graphs/b.nt', content: triple('2') }
    theirs = foreignCommit(folder, { 'graphs/c.nt': triple('3') })
    yield { path: 'graphs/a.nt', content: undefined }
  }
  const { id, method, agent, time } = changeOf('', '')
  const commit = succeeded(await repository.commitFiles(racing(), { id, method, agent, time }))!
  t.equal(commit.parent, theirs)
  t.same([...filesAt(folder, commit.commit).keys()], ['graphs/b.nt', 'graphs/c.nt'])
  checkSound(t, folder)
})

void t.test('a name with a newline, by others, is in the log and does no harm', async (t) => {
  const { repository, folder } = await open(t)
  foreignCommit(folder, { 'graphs/a\n:b.nt': 'x', 'graphs/c.nt': triple('c') })
  t.same(
    (await all(repository.log(undefined)))[0]!.files.map(({ path }) => path),
    ['graphs/a\n:b.nt', 'graphs/c.nt'],
  )
  t.same(
    (await all(repository.contents())).map(({ content }) => content),
    ['x', triple('c')],
  )
})

void t.test('odd commits by others do no harm', async (t) => {
  const idents = 'author A <a@a.example> 1700000000 +0000\ncommitter '
  // prettier-ignore
  const rows: readonly (readonly [name: string, committer: string, message: string])[] = [
    ['a message of 17 MB', 'A <a@a.example> 1700000000 +0000', 'x'.repeat(17_000_000)],
    ['a commit that is too large for the reader', 'A <a@a.example> 1700000000 +0000', 'x'.repeat(68_000_000)],
    ['a committer without a date', 'A <a@a.example>', 'x'],
    ['an empty committer', '', 'x'],
    ['a date that is too late', 'A <a@a.example> 18446744073709551614 +0000', 'x'],
    ['a date that is a word', 'A <a@a.example> yesterday', 'x'],
  ]
  const { repository, folder, reopen } = await open(t)
  let last = (await commitAll(repository, [changeOf('a/', triple('1'))]))[0]!.commit
  let current = repository
  for (const [name, committer, message] of rows) {
    const tree = git(folder, ['rev-parse', 'main^{tree}']).trim()
    const commit = `tree ${tree}\nparent ${last}\n${idents}${committer}\n\n${message}\n`
    const theirs = git(folder, ['hash-object', '-t', 'commit', '-w', '--literally', '--stdin'], commit).trim()
    git(folder, ['update-ref', 'refs/heads/main', theirs])
    const [ours] = await commitAll(current, [changeOf('a/', triple(name))])
    t.equal(ours!.parent, theirs, name)
    t.ok(new Date(ours!.time).toISOString(), name)
    const log = await all(current.log(last))
    t.same(
      log.map(({ commit, time }) => [commit, time <= Date.UTC(2100, 0)]),
      [
        [theirs, true],
        [ours!.commit, true],
      ],
      name,
    )
    last = ours!.commit
    current = await reopen()
  }
  t.equal((await all(current.log(undefined))).length, 1 + 2 * rows.length)
})

void t.test('packs are merged before they are many', async (t) => {
  const { repository, folder, reopen } = await open(t)
  await repository.close()
  const ident = 'A <a@a.example> 1700000000 +0000'
  const commits = Array.from({ length: 199 }, (_, n) => {
    const content = triple(`${n}`)
    const file = `M 100644 inline graphs/d${n}.nt\ndata ${content.length}\n${content}\n`
    return `commit refs/heads/main\nauthor ${ident}\ncommitter ${ident}\ndata 1\nx\n${file}\ncheckpoint\n`
  })
  git(folder, ['-c', 'fastimport.unpackLimit=0', 'fast-import', '--done', '--quiet'], `${commits.join('')}done\n`)
  const packs = (): number => readdirSync(join(folder, 'objects/pack')).filter((name) => name.endsWith('.pack')).length
  t.equal(packs(), 199)
  const again = await reopen()
  const made = await commitAll(again, [changeOf('a/', triple('a'))])
  t.ok(await until(() => packs() < 50))
  made.push(...(await commitAll(again, [changeOf('b/', triple('b'))])))
  for (const [n, { commit, blob }] of made.entries()) {
    t.equal(await again.read({ commit, path: 'graphs/', blob }), triple('ab'[n]!))
  }
  t.equal((await all(again.contents())).length, 201)
  t.doesNotThrow(() => git(folder, ['fsck', '--strict']))
})

const mounted = (folder: string): boolean =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'none', folder]).status === 0

/** Processes that read from the repository (Linux, /proc). */
const readersOf = (folder: string): number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => {
      if (!pid) return false
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`--git-dir=${folder}\0`)
      } catch {
        return false
      }
    })
