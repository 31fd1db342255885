// `triplegate adopt --undo FILE`: takes back what a run has done, by the file that it has kept.
import { takeBack } from './take-back.js'
import { readUndoFile } from './undo-file.js'
import { isFailure } from '../../problem.js'
import { storeThrough, writingThrough } from './adopt-gateway.js'
import { isWanted, type AskedAdoption } from './adopt-graphs.js'
import { takenBackText, undoText } from './adoption-text.js'
import { argumentText, wrongArguments } from '../../commands/arguments.js'
import { EXIT } from '../../commands/exit-codes.js'
import { barText, fail, makeProgress, printable, type Terminal } from '../../commands/terminal.js'

/** Returns the exit code. */
export async function undo(asked: AskedAdoption, terminal: Terminal): Promise<number> {
  const { base, admin, client, adminClient, given } = asked
  const others = ['names', 'rename', 'references', 'containers', 'types'].filter((name) => given.values.has(name))
  if (others.length > 0) return fail(terminal, wrongArguments(`--undo: goes without --${others.join(', --')}.`))
  const file = argumentText(given, 'undo')!
  const read = readUndoFile(file)
  if (isFailure(read)) return fail(terminal, read)
  const { about, changes, isUndone, markUndone } = read
  if (about.base !== base || about.admin !== admin) {
    const fix = `Write triplegate adopt ${about.base} --admin ${about.admin} --undo ${file}.`
    return fail(terminal, wrongArguments(`${file} is about another gateway. ${fix}`))
  }
  terminal.out(printable(undoText(changes, isUndone)))
  if (isUndone || changes.length === 0 || given.values.has('dry-run')) return EXIT.done
  if (!(await isWanted(asked, terminal))) return EXIT.done
  const show = makeProgress(terminal)
  const taken = await takeBack(changes, {
    member: { base, store: storeThrough(client) },
    writing: writingThrough({ [base]: client, [admin]: adminClient }, client),
    report: (what, documents, of) => show(() => barText(`adopt --undo: ${what}`, { documents, of })),
  })
  terminal.waiting(undefined)
  if (isFailure(taken)) return fail(terminal, { failure: 'gateway.failed', detail: taken.detail })
  if (taken.refused.length === 0) markUndone()
  terminal.out(printable(takenBackText(taken)))
  return taken.refused.length > 0 ? EXIT.findings : EXIT.done
}
