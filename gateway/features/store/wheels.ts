// The wheels on PyPI with the executable of Oxigraph, and their digests. Pure.
import { createHash } from 'node:crypto'
import { inflateRawSync } from 'node:zlib'

export const OXIGRAPH_VERSION = '0.5.13'

export interface Wheel {
  readonly url: string
  readonly sha256: string
}

const wheel = (folder: string, tag: string, sha256: string): Wheel => ({
  url: `https://files.pythonhosted.org/packages/${folder}/oxigraph-${OXIGRAPH_VERSION}-py3-none-${tag}.whl`,
  sha256,
})

/** By platform and architecture of Node.js. */
// prettier-ignore
export const WHEELS: Readonly<Record<string, Wheel>> = {
  'linux x64': wheel('e4/b5/63b4eafb2a52032a1118dc9e687809261fe2b77dca9e19b6833da6e8e8ce', 'manylinux_2_28_x86_64', 'dbb295a905adda409f18ce154b1353d07d20954ca3ea65dc546fc153c95c2c05'),
  'linux arm64': wheel('53/09/1c7afef724a6fa44436c468ba6cf6883574675d099c3aff395dd1db7c6b9', 'manylinux_2_28_aarch64', 'a125c6c476b368172f209921e6c638d3d55a0517361378abd87347a1bda2881a'),
  'darwin x64': wheel('b3/33/2f3db92fadb6bf80f3604e5e0622676dc1fbd68762ec8726b33e52b1d76d', 'macosx_10_14_x86_64', '2d1b28cd3f07f6abd28fc355a465b4ad5a4918c043328b82baf938a5dd34d0e6'),
  'darwin arm64': wheel('ec/c9/b8ee558fe9ea184ed62864e95af3f9ccc8a24c9bc1f9994096c08efb7230', 'macosx_11_0_arm64', '2740d583dfbf161ad1a802dc6f343bd3174f8a38d03a01cc7ce4b20d647e0d12'),
}

const NAME = /^oxigraph-[\d.]+\.data\/scripts\/oxigraph$/
const [END_RECORD, ENTRY, LOCAL] = [22, 46, 30]

/** Undefined, without reading further, if the digest does not match. A wheel is a ZIP archive (APPNOTE.TXT 4.3). */
export function executableIn(bytes: Buffer, { sha256 }: Wheel): Buffer | undefined {
  if (createHash('sha256').update(bytes).digest('hex') !== sha256) return undefined
  const end = bytes.length - END_RECORD
  let at = bytes.readUInt32LE(end + 16)
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left--) {
    const [packed, length] = [bytes.readUInt32LE(at + 20), bytes.readUInt16LE(at + 28)]
    const local = bytes.readUInt32LE(at + 42)
    if (NAME.test(bytes.toString('latin1', at + ENTRY, at + ENTRY + length))) {
      const from = local + LOCAL + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28)
      return inflateRawSync(bytes.subarray(from, from + packed))
    }
    at += ENTRY + length + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32)
  }
  return undefined
}
