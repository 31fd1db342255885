// Uploads a file in tests: the request, and the resulting path of the file (LinkedDataHub 2.7).
import { createHash } from 'node:crypto'
import type { Send } from './client.js'

export function upload(content: string): Send {
  const part = (key: string, value: string, more = ''): string =>
    `--b\r\nContent-Disposition: form-data; name="${key}"${more}\r\n\r\n${value}\r\n`
  const parts = [
    part('rdf', ''),
    part('sb', 'f'),
    part('pu', 'http://www.semanticdesktop.org/ontologies/2007/03/22/nfo#fileName'),
    part('ol', content, '; filename="a.txt"\r\nContent-Type: text/plain'),
  ]
  return { fields: { 'Content-Type': 'multipart/form-data; boundary=b' }, body: `${parts.join('')}--b--\r\n` }
}

export const fileOf = (content: string): string => `/uploads/${createHash('sha1').update(content).digest('hex')}`
