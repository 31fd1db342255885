// Counts the starts of work that may end the process, on the disk, until the work ends.
import { nextStart, type Resumed, type Starts } from '../starts.js'
import { del, put, type Database } from './database.js'

/** The first letter of these keys: the database has keys of other kinds. */
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
      // Without sync: written data survives the end of the process, which is all that is counted.
      await database.write([put(STARTS + task, JSON.stringify(start))], false, 'drop')
      return true
    },
    end(task) {
      if (tasks.delete(task)) void database.write([del(STARTS + task)], false, 'keep')
    },
  }
}
