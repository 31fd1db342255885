// `triplegate doctor`: checks everything that the gateway depends on, with the settings of `serve`, and prints each
// result with its evidence and its fix. It changes nothing.
import { readConfiguration } from '../../configuration/configuration.js'
import type { DescribedDataspace } from '../../configuration/dataspace.js'
import { readArguments } from '../../configuration/flags.js'
import { parseSettings, SETTINGS, type Environment, type Settings } from '../../configuration/settings.js'
import { addressFindings } from './addresses.js'
import type { Finding } from '../../survey/finding.js'
import { fusekiFindings } from './fuseki.js'
import { oxigraphFindings } from './oxigraph.js'
import { machineFindings } from './machine.js'
import { storeFindings } from '../../survey/stores.js'
import { isFailure } from '../../problem.js'
import { helpOf, type Command, type CommandDescription } from '../../commands/arguments.js'
import { EXIT } from '../../commands/exit-codes.js'
import { fail, printable, type Terminal } from '../../commands/terminal.js'

const DESCRIPTION: CommandDescription = {
  name: 'doctor',
  forms: [['doctor [settings]', 'check what the gateway depends on, and say what to fix']],
  notes: ['It takes the settings of triplegate serve, and changes nothing.'],
  options: [],
  settings: SETTINGS,
  exits: ['done', 'findings', 'usage', 'failed'],
}

export const DOCTOR_COMMAND: Command = { description: DESCRIPTION, run: runDoctor }

/** Returns the exit code. */
async function runDoctor(argv: readonly string[], env: Environment, terminal: Terminal): Promise<number> {
  if (readArguments(argv, SETTINGS, { command: 'doctor' }).values.has('help')) {
    terminal.out(helpOf(DESCRIPTION))
    return EXIT.done
  }
  const settings = parseSettings(argv, env)
  if (isFailure(settings)) return fail(terminal, settings)
  const dataspaces = await readConfiguration(settings)
  if (isFailure(dataspaces)) return fail(terminal, dataspaces)
  terminal.waiting('looking …')
  const findings = await diagnose(settings, dataspaces, terminal.now)
  terminal.waiting(undefined)
  terminal.out(printable(findingsText(findings)))
  return findings.some(({ state }) => state === 'finding') ? EXIT.findings : EXIT.done
}

async function diagnose(
  settings: Settings,
  dataspaces: readonly DescribedDataspace[],
  now: () => number,
): Promise<Finding[]> {
  const applications = dataspaces.flatMap(({ endUser, admin }) => [endUser, admin])
  const { makeStores } = await import('../../start/open-stores.js')
  const stores = makeStores(settings)
  try {
    const opened = await Promise.all(
      applications
        .filter(({ service }) => !service.embedded)
        .map(async (application) => ({ application, store: await stores.open(application) })),
    )
    // First: only then it is known which stores are Fusekis.
    const ofStores = storeFindings(opened, dataspaces, now)
    const all = await Promise.all([
      machineFindings({ settings, dataspaces, now: now(), node: process.versions.node }),
      ofStores,
      ofStores.then(() => fusekiFindings(settings, opened)),
      oxigraphFindings(settings, dataspaces),
      addressFindings(settings, dataspaces, opened, now),
    ])
    return all.flat()
  } finally {
    await stores.close()
  }
}

const MARKS = { fine: 'ok     ', finding: 'FINDING', unknown: '?      ' } as const

function findingsText(findings: readonly Finding[]): string {
  const lines = findings.flatMap(({ what, state, evidence, fix }) => [
    `${MARKS[state]}  ${what}: ${evidence}`,
    ...(fix === undefined ? [] : [`         ${fix}`]),
  ])
  const count = findings.filter(({ state }) => state === 'finding').length
  const summary = count === 0 ? 'No findings.' : `${count} ${count === 1 ? 'finding' : 'findings'}.`
  return `${[...lines, '', summary].join('\n')}\n`
}
