// The tests of commit messages: written and read back, and proof against forged values.
import fc from 'fast-check'
import t from 'tap'
import {
  commitAuthor,
  commitMessage,
  commitTime,
  readTrailers,
  type DescribedChange,
} from '../../../versioning/git/commit-message.js'

const SHA = 'a94a8fe5ccb19ba61c4c0873d391e987982fbbd3'
const PUT: DescribedChange = {
  id: '01JD5V6Q2M3N4P5R6S7T8V9WXY',
  method: 'PUT',
  agent: 'https://people.example/ann#me',
  document: 'https://data.example/a/b%20c/',
  added: 3,
  removed: 1,
}

void t.test('a message', async (t) => {
  t.equal(
    commitMessage({ ...PUT, restores: SHA }),
    [
      'PUT /a/b%20c/',
      '',
      'Agent: https://people.example/ann#me',
      'Document: https://data.example/a/b%20c/',
      'Method: PUT',
      'Journal-Id: 01JD5V6Q2M3N4P5R6S7T8V9WXY',
      `Restores: ${SHA}`,
      'Triples: +3 -1',
    ].join('\n'),
  )
  t.equal(
    commitMessage({ id: 'X', method: 'SWEEP', agent: undefined }),
    'SWEEP several documents\n\nMethod: SWEEP\nJournal-Id: X',
  )
  t.match(commitMessage({ ...PUT, document: 'https://data.example/' }), /^PUT \/\n/)
})

void t.test('the author of a commit', async (t) => {
  // prettier-ignore
  const rows: readonly (readonly [agent: string | undefined, name: string, why: string])[] = [
    ['https://people.example/ann#me', 'https://people.example/ann#me', 'the WebID'],
    [undefined, 'urn:anonymous', 'an anonymous client'],
    ['https://people.example/é#me', 'https://people.example/%C3%A9#me', 'percent-encoded'],
    ['https://people.example/%C3%A9#me', 'https://people.example/%C3%A9#me', 'and only once'],
    ['x> 1 +0000\ncommitter y <z', 'x%3E%201%20+0000%0Acommitter%20y%20%3Cz', 'no other line, no other address'],
    ['\ud800', '%EF%BF%BD', 'half a character'],
  ]
  for (const [agent, name, why] of rows) {
    t.equal(commitAuthor(agent).name, name, why)
    t.match(commitAuthor(agent).email, /^[0-9a-f]{16}@webid\.invalid$/)
  }
  // printf 'https://people.example/ann#me' | sha256sum
  t.equal(commitAuthor('https://people.example/ann#me').email, 'c55c3d1185c0a589@webid.invalid')
  t.not(commitAuthor('https://people.example/é').email, commitAuthor('https://people.example/%C3%A9').email)
})

void t.test('the date of a commit', async (t) => {
  t.equal(commitTime(1_700_000_000_999), 1_700_000_000_000)
  t.equal(commitTime(1_700_000_000_999, 1_700_000_005_000), 1_700_000_005_000, 'never before its parent')
})

void t.test('a written message is read back', async (t) => {
  const { id: journalId, ...rest } = PUT
  t.same(readTrailers(commitMessage(PUT)), { ...rest, journalId })
  t.same(readTrailers(`${commitMessage({ ...PUT, restores: SHA })}\n`), { ...rest, journalId, restores: SHA })
  const iri = 'https://people.example/日本/é?x=[1]&y=%0A#me'
  t.equal(readTrailers(commitMessage({ ...PUT, agent: iri })).agent, iri, 'an IRI beyond ASCII')
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (agent, document) => {
        const forged = '\n\nAgent: https://evil.example/#me\nJournal-Id: forged\r\nRestores: '
        const message = commitMessage({
          ...PUT,
          agent: `a:${agent}${forged}`,
          document: `https://x/${document}${forged}${SHA}`,
        })
        const read = readTrailers(message)
        return (
          message.split('\n').length === 7 &&
          read.journalId === PUT.id &&
          read.restores === undefined &&
          read.agent!.startsWith('a:') &&
          read.document!.startsWith('https://x/')
        )
      }),
    ),
  )
})

void t.test('messages by others', async (t) => {
  // prettier-ignore
  const rows: readonly (readonly [message: string, read: object, why: string])[] = [
    ['', {}, 'no message'],
    ['Agent: https://people.example/ann#me', {}, 'a subject is not a trailer'],
    ['fix\n\nAgent: a b\nMethod: put\nRestores: abc\nTriples: 3 1\nJournal-Id: a b', {}, 'malformed ones'],
    ['fix\n\nMethod: PUT\n\nmore text', {}, 'not in the last paragraph'],
    ['fix\n\nSigned-off-by: A <a@b>\nMethod: PUT\n', { method: 'PUT' }, 'among others'],
    ['fix\r\n\r\nMethod: PUT\r\n\r\n', { method: 'PUT' }, 'with CRLF'],
    ['fix\n\nMethod: PUT\nMethod: POST', { method: 'PUT' }, 'twice: the first'],
    ['fix\n\n method: PUT\nmethod: PUT', {}, 'spelled differently'],
  ]
  for (const [message, read, why] of rows) t.same(readTrailers(message), read, why)
})
