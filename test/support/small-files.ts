// Runs a script whose files cannot grow beyond a few KiB: a longer write stores a part first, as on a disk that is nearly
// full.
import { execFileSync } from 'node:child_process'

/** In blocks of `ulimit`, which have 512 or 1,024 bytes. */
const BLOCKS = 8

/** The output of an ECMAScript module. */
export const withSmallFiles = (script: string): string =>
  execFileSync('sh', ['-c', `ulimit -f ${BLOCKS}; exec "$0" --input-type=module -e "$1"`, process.execPath, script], {
    encoding: 'utf8',
  }).trim()
