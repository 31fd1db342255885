// triplegate access audit --tree: each document has its own outcome.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { runCommand } from '../../../../gateway/run-command.js'
import { ACL, LDT, RDF, TGA } from '../../../../gateway/rdf/vocabulary.js'

void t.test('triplegate access audit --tree', async (t) => {
  /** The answer about each document: a status, or undefined if the connection breaks. */
  const audit = async (answers: Readonly<Record<string, number | undefined>>) => {
    const gateway = createServer((request, response) => {
      const base = `http://${request.headers.host}/`
      const query = new URL(request.url!, base).searchParams
      const names = Object.keys(answers).map((name) => base + name)
      response.setHeader('Link', `<${base}>; rel="${LDT('base')}"`)
      if (!query.has('this')) return response.end()
      if (query.has('tree'))
        return response.end(names.map((name) => `<${name}> <${TGA('under')}> <${base}> .\n`).join(''))
      const status = answers[query.get('this')!.slice(base.length)]
      if (status === undefined) return request.socket.destroy()
      response.statusCode = status
      return response.end(`<${base}rule> <${RDF('type')}> <${ACL('Authorization')}> .\n`)
    })
    await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve))
    t.teardown(() => gateway.close())
    const base = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}/`
    let [out, error] = ['', '']
    const terminal = { out: (text: string | Buffer) => void (out += String(text)), error: (text: string) => void (error += text), waiting: () => undefined, interactive: false, now: Date.now } // prettier-ignore
    const code = await runCommand(['access', 'audit', base, '--tree'], {}, terminal)
    return { code, audited: [...out.matchAll(/^http:.*\/(\w+)\/$/gm)].map(([, name]) => name), error }
  }
  // prettier-ignore
  const rows: readonly (readonly [name: string, answers: Readonly<Record<string, number | undefined>>, code: number, audited: readonly string[], error: RegExp])[] = [
    ['all of them', { 'a/': 200, 'b/': 200 }, 0, ['a', 'b'], /^$/],
    ['one document fails, the others are audited', { 'a/': 200, 'b/': 500, 'c/': 200 }, 3, ['a', 'c'], /^triplegate: \S+\/b\/: .*500\.\ntriplegate: 1 of 3 documents could not be audited\.\n$/],
    ['one document is refused, another is absent', { 'a/': 403, 'b/': 404, 'c/': 200 }, 3, ['c'], /\/a\/: .*\n.*\/b\/: .*\n.*2 of 3 documents/],
    ['a refusal of the only document has its own exit code', { 'a/': 403 }, 5, [], /^triplegate: \S+\/a\/: /],
    ['if the gateway is gone, no further document is requested', { 'a/': 200, 'b/': undefined, 'c/': 200 }, 3, ['a'], /socket hang up/],
  ]
  for (const [name, answers, code, audited, error] of rows) {
    await t.test(name, async (t) => t.match(await audit(answers), { code, audited, error }))
  }
})
