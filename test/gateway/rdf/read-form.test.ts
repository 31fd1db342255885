// Reading RDF/POST (LinkedDataHub 3.1).
import t from 'tap'
import { table, type Row } from './reading.js'

/** A form that has a subject and a predicate already. */
const form = (more: string): string => `rdf=&su=&pu=http://p/&${more}`
const V = 'v=http://v/'
const A = 'n=a&v=http://a/'
const OBJECTS = ['<> <http://p/> <a>', '<> <http://p/> "b"', '<> <http://p/> _:b0']

// prettier-ignore
const ROWS: readonly Row[] = [
  ['IRIs', 'rdf=&su=http://a/&pu=http://p/&ou=http://o/', ['<http://a/> <http://p/> <http://o/>']],
  ['relative IRIs', 'rdf=&su=&pu=%23p&ou=..%2Fe&ou=x', ['<> <#p> <https://x.example/e>', '<> <#p> <x>']],
  ['blank nodes', 'rdf=&sb=a&pu=http://p/&ob=b&ob=a', ['_:b0 <http://p/> _:b1', '_:b0 <http://p/> _:b0']],
  ['a default namespace', 'rdf=&v=http://v/&sv=s&pv=p&ov=o', ['<http://v/s> <http://v/p> <http://v/o>']],
  ['prefixes', `rdf=&${A}&n=b&v=http://b/&sn=a&sv=s&pn=b&pv=p&on=a&ov=o`, ['<http://a/s> <http://b/p> <http://a/o>']],
  ['a prefix is no default namespace', `rdf=&${V}&${A}&sv=s&pv=p&ov=o`, ['<http://v/s> <http://v/p> <http://v/o>']],
  ['a literal', form('ol=a'), ['<> <http://p/> "a"']],
  ['a datatype after the literal', form('ol=a&lt=http://t/'), ['<> <http://p/> "a"^^<http://t/>']],
  ['a datatype before the literal', form('lt=http://t/&ol=a'), ['<> <http://p/> "a"^^<http://t/>']],
  ['a language after the literal', form('ol=a&ll=EN'), ['<> <http://p/> "a"@en']],
  ['a language before the literal', form('ll=en&ol=a'), ['<> <http://p/> "a"@en']],
  ['a qualifier belongs to one literal', form('ol=a&ll=en&ol=b'), ['<> <http://p/> "a"@en', '<> <http://p/> "b"']],
  ['a language for each literal', form('ll=en&ol=a&ll=de&ol=b'), ['<> <http://p/> "a"@en', '<> <http://p/> "b"@de']],
  ['empty qualifiers: ignored', form('ol=a&lt=&ll=en&ol=b&ll=&lt='), ['<> <http://p/> "a"@en', '<> <http://p/> "b"']],
  ['an empty literal with its qualifier: ignored', form('ol=&ll=en&ol=b'), ['<> <http://p/> "b"']],
  ['a qualifier of an IRI: ignored', form('lt=http://t/&ou=o&ol=b'), ['<> <http://p/> <o>', '<> <http://p/> "b"']],
  ['objects repeat with the predicate', form('ou=a&ol=b&ob=c'), OBJECTS],
  ['predicates repeat with the subject', form('ou=a&pu=http://q/&ou=b'), ['<> <http://p/> <a>', '<> <http://q/> <b>']],
  ['an early object: ignored', form('ou=a&su=s&ou=b&pu=http://q/&ou=c'), ['<> <http://p/> <a>', '<s> <http://q/> <c>']],
  ['a subject without predicates: ignored', 'rdf=&su=s&su=&pu=http://p/&ou=a', ['<> <http://p/> <a>']],
  ['early fields: ignored', 'rdf=&ou=x&pu=http://q/&ou=x&su=&pu=http://p/&ou=a', ['<> <http://p/> <a>']],
  ['unknown keys: ignored', 'rdf=&csrf=1&su=&sx=1&pu=http://p/&submit=&ou=a', ['<> <http://p/> <a>']],
  ['plus, percent and UTF-8', 'rdf&su=&pu=http://p/&ol=a+b%2Bc%C3%A9%0D%0A%26=', ['<> <http://p/> "a b+cé\\r\\n&="']],
  ['empty pairs', '&rdf=&&su=&pu=http://p/&ou=a&', ['<> <http://p/> <a>']],
  ['no triples', 'rdf=', []],
  ['an undeclared prefix', 'rdf=&sn=a&sv=s&pu=http://p/&ou=a', 'content.syntax: prefix "a" is not declared'],
  ['a percent sign alone', 'rdf=&su=%&pu=http://p/&ou=a', 'content.syntax: percent-encoding'],
  ['an encoding that is not UTF-8', 'rdf=&su=%E9&pu=http://p/&ou=a', 'content.syntax: percent-encoding'],
  ['an IRI that would end its own brackets', 'rdf=&su=http://a/%3E&pu=http://p/&ou=a', 'content.syntax: malformed IRI'],
  ['a datatype with a quotation mark', form('ol=a&lt=http://a/%22'), 'content.syntax: malformed'],
  ['an ordinary form', 'query=ASK{}&rdf=', 'content.unsupported: RDF/POST'],
  ['rdf as a prefix of the key only', 'rdfs=&su=', 'content.unsupported: RDF/POST'],
]

void t.test('RDF/POST', async (t) => {
  await table(t, 'application/x-www-form-urlencoded', ROWS)
  await table(t, 'application/rdf+x-www-form-urlencoded;charset=UTF-8', ROWS.slice(0, 2))
})
