// Writes a file of the data folder that only its owner may read. After a crash it has either its old or its new
// content.
import { mkdir, open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

export async function writePrivate(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const temporary = `${file}.new`
  const handle = await open(temporary, 'w', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(temporary, file)
  const folder = await open(dirname(file))
  await folder.sync().finally(() => folder.close())
}
