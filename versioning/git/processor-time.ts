// The processor time of git, which starts processes of its own: on a busy machine a clock tells only how long it has
// waited. Linux says it in /proc (proc(5): stat); elsewhere it is not known.
import { readdir, readFile } from 'node:fs/promises'

/** In ticks of the system's clock, of all processes of the group; 0 where it is not known. */
export async function processorTimeOf(group: number): Promise<number> {
  let ticks = 0
  for (const name of await readdir('/proc').catch(() => [])) {
    if (!/^\d+$/.test(name)) continue
    const stat = await readFile(`/proc/${name}/stat`, 'latin1').catch(() => '')
    // The name of the command is in brackets, and may have any characters.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (Number(fields[2]) === group) ticks += Number(fields[11]) + Number(fields[12])
  }
  return ticks
}
