// Work of a history that a process may not survive: what has been begun and not ended is on the disk, with its starts.
import { nextStart, type Resumed, type Starts } from '../starts.js'
import { del, put, type Database } from './database.js'

/** Other keys of the database begin with other letters. */
const STARTS = 's'

export async function openResumed(database: Database): Promise<Resumed> {
  const tasks = new Map<string, Starts>()
  for await (const [key, value] of database.range(STARTS)) {
    tasks.set(key.slice(STARTS.length), JSON.parse(value) as Starts)
  }
  return {
    async begin(task) {
      const start = nextStart('', tasks.get(task))
      if (!start) return false
      tasks.set(task, start)
      // The operating system has it then: the end of the process, which is counted, takes nothing of it.
      await database.write([put(STARTS + task, JSON.stringify(start))], false, 'drop')
      return true
    },
    end(task) {
      if (tasks.delete(task)) void database.write([del(STARTS + task)], false, 'keep')
    },
  }
}
