// The name of a data folder (design 2): who has it is the successor of the gateway that had it, in the same place only.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ownData } from '../../../gateway/start/own-data.js'
import { smallDisk, temporaryFolder } from '../../support/bare-repository.js'

async function folderOf(data: string): Promise<string> {
  const { me, release } = await ownData(data)
  await release()
  return me.folder
}

const fileOf = (data: string): string => join(data, 'gateway.json')
const without = (text: string, field: string): string =>
  JSON.stringify({ ...(JSON.parse(text) as object), [field]: undefined })
const withOther = (text: string, field: string): string =>
  JSON.stringify({ ...(JSON.parse(text) as object), [field]: 'another' })

void t.test('a folder keeps its name in its place, and has another one elsewhere', async (t) => {
  type Row = readonly [name: string, change: (text: string) => string, isSame: boolean]
  const rows: readonly Row[] = [
    ['the next gateway on it', (text) => text, true],
    ['an earlier process', (text) => withOther(text, 'process'), true],
    ['a cloned disk on another host', (text) => withOther(text, 'host'), false],
    ['the host was started again, or is another one of the same name', (text) => withOther(text, 'boot'), false],
    ['a copy on another volume', (text) => withOther(text, 'device'), false],
    ['a copy on the same volume', (text) => withOther(text, 'inode'), false],
    ['an earlier version wrote no device', (text) => without(text, 'device'), false],
    ['a system that does not name its boots', (text) => without(text, 'boot'), false],
    ['a file that broke off', (text) => text.slice(0, -9), false],
  ]
  for (const [name, change, isSame] of rows) {
    const data = temporaryFolder(t)
    const before = await folderOf(data)
    writeFileSync(fileOf(data), change(readFileSync(fileOf(data), 'utf8')))
    t.equal((await folderOf(data)) === before, isSame, name)
  }
})

void t.test('a copy of a folder that is the root of its volume, on the root of another volume', async (t) => {
  // The root of a file system has the same inode in each.
  const [first, second] = [smallDisk(t), smallDisk(t)]
  if (first === undefined || second === undefined)
    return void t.pass('not tried: no tmpfs can be mounted here', { skip: true })
  const name = await folderOf(first)
  copyFileSync(fileOf(first), fileOf(second))
  t.not(await folderOf(second), name, 'the copy has another name')
  t.equal(await folderOf(first), name, 'the first keeps its own')
})
